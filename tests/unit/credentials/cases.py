"""Credentials, queries and reports that the unit tests share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from services.credentials.model import (
    BindingRef,
    Credential,
    CredentialSpec,
    Cursor,
    CursorKey,
    Decision,
    InFlight,
    Mark,
    Origin,
    Phase,
    Pool,
    Query,
    Report,
    Strategy,
    Subject,
)
from services.credentials.policy.evidence import Rules
from services.credentials.policy.selection import NO_SETBACKS, Terms, decide
from services.credentials.policy.view import View
from services.domain.vocab import CredentialKind, WireFamily

NOW = 1_750_000_000.0
TENANT = "t1"
NOBODY = InFlight({}, {})
MODEL = Subject("m", "m")
RULES = Rules(families={"p": WireFamily.ANTHROPIC, "g": WireFamily.GEMINI})


def credential(name: str = "c1", *, marks: tuple[Mark, ...] = (), **spec: object) -> Credential:
    """Return a credential with any setting."""
    base = CredentialSpec(provider="p", kind=CredentialKind.API_KEY)
    settings = replace(base, **spec)  # type: ignore[arg-type]  # tests name any field
    return Credential(name, settings, Origin.STORED, fingerprint=f"f-{name}", marks=marks)


def query(*bindings: BindingRef, **more: object) -> Query:
    """Return a question with any field."""
    base = Query("a1", TENANT, "a1/1", bindings or (BindingRef("m", "p"),))
    return replace(base, **more)  # type: ignore[arg-type]  # tests name any field


class Turns:
    """Selects again and again, keeping cursors as the service does."""

    def __init__(
        self,
        *credentials: Credential,
        strategy: Strategy = Strategy.ROUND_ROBIN,
        survives_warning: bool = False,
    ) -> None:
        self.pool = Pool.of(1, credentials)
        self.survives_warning = survives_warning
        self.strategy = strategy
        self.cursors: dict[CursorKey, Cursor] = {}

    def decide(
        self,
        asked: Query | None = None,
        *,
        bound: str = "",
        in_flight: InFlight = NOBODY,
        now: float = NOW,
        setbacks: Mapping[str, float] = NO_SETBACKS,
        closed: Mapping[str, float] = NO_SETBACKS,
    ) -> Decision:
        """Return one decision and move the cursor."""
        asked = asked or query()
        binding = asked.bindings[0]
        lane = self.pool.visible_to(asked.installation_id, binding.provider)
        found = decide(
            asked,
            binding,
            View.of(lane, RULES.subject(binding.model_id), now),
            self.pool.revision,
            in_flight,
            lambda key: self.cursors.get(key, Cursor()),
            bound,
            Terms(self.strategy, self.survives_warning),
            now,
            is_gateway_exclusive=asked.installation_id in self.pool.gateway_tenants,
            setbacks=setbacks,
            closed=closed,
        )
        if found.pick is not None:
            self.cursors[found.pick.cursor_key] = found.pick.cursor
        return found

    def picked(
        self,
        asked: Query | None = None,
        *,
        bound: str = "",
        now: float = NOW,
        setbacks: Mapping[str, float] = NO_SETBACKS,
        closed: Mapping[str, float] = NO_SETBACKS,
    ) -> str:
        """Return the id picked; empty: none."""
        found = self.decide(asked, bound=bound, now=now, setbacks=setbacks, closed=closed)
        return found.pick.credential.id if found.pick else ""


def report(status: int | None = 200, **more: object) -> Report:
    """Return a report of headers with any field."""
    base = Report(
        "g1",
        "a1",
        1,
        1,
        Phase.HEADERS,
        credential_id="c1",
        model_id="m",
        http_status=status,
        send_unix_s=NOW,
        observe_unix_s=NOW,
        credential_version=1,
    )
    return replace(base, **more)  # type: ignore[arg-type]  # tests name any field
