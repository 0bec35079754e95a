"""Small values that several tests of the gateway start from."""

from __future__ import annotations

from gateway.eligibility import Policy, Question
from gateway.model import InstallationId, ProviderState, Snapshot
from services.domain.catalog import Catalog, build_catalog
from services.domain.vocab import WireFamily
from services.domain.wire.features import Features, Requirement, features_of
from services.domain.wire.model import Request

INSTALLATION = InstallationId("inst-1")


def row(model_id: str, *providers: str, window: int = 1000, **facts: object) -> dict[str, object]:
    bindings = [
        {"provider": name, "input_usd_per_mtok": 1.0, "output_usd_per_mtok": 1.0}
        for name in providers
    ]
    return {"id": model_id, "context_window": window, "bindings": bindings, **facts}


def catalog(*rows: dict[str, object]) -> Catalog:
    return build_catalog([{"models": list(rows)}])


def features(overflow_tokens: int = 10, requirements: tuple[Requirement, ...] = ()) -> Features:
    plain = features_of(Request(WireFamily.ANTHROPIC, "m", is_stream=False), overflow_tokens * 4)
    return Features(
        **{
            **{name: getattr(plain, name) for name in Features.__slots__},
            "requirements": requirements,
        }
    )


def policy(**changes: object) -> Policy:
    facts: dict[str, object] = {"config_version": "cfg", "configured_providers": ("p1",)}
    return Policy(**{**facts, **changes})  # type: ignore[arg-type]  # facts by name


def question(*providers: str, **changes: object) -> Question:
    snapshot = Snapshot("v1", tuple(ProviderState(name) for name in providers))
    facts: dict[str, object] = {
        "installation_id": INSTALLATION,
        "features": features(),
        "now_unix_s": 1_000.0,
        "snapshot": snapshot,
    }
    return Question(**{**facts, **changes})  # type: ignore[arg-type]  # facts by name
