"""Models, records and scores to decide on."""

from __future__ import annotations

from gateway.deciding.pinned import Moment
from gateway.deciding.planning import Scored
from gateway.eligibility import freeze
from gateway.model import EligibilityRecord, InstallationId
from gateway.model.action import Action, ActionId, Caller
from gateway.model.decision import Candidate, Score
from gateway.sessions.model import Session
from services.domain.catalog import Catalog, build_catalog
from services.domain.vocab import TurnType, WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.features import features_of
from tests.fakes.deciding import binding_of
from tests.unit.gateway.facts import policy, question
from tests.unit.gateway.sessions.made import NOW


def row(
    name: str, tier: str, dollars: float, *providers: str, **facts: object
) -> dict[str, object]:
    price = {"input_usd_per_mtok": dollars, "output_usd_per_mtok": 5 * dollars}
    bindings = [{"provider": provider, **price} for provider in providers or ("p1",)]
    return {"id": name, "tier": tier, "context_window": 200_000, "bindings": bindings, **facts}


CATALOG = build_catalog(
    [
        {
            "models": [
                row("large", "top", 5.0, "acme", "p1"),
                row("middle", "mid", 1.0),
                row("small", "low", 0.1, tool_use="none"),
            ]
        }
    ]
)


def record(*providers: str, catalog: Catalog = CATALOG, **limits: object) -> EligibilityRecord:
    return freeze(question(*(providers or ("acme", "p1"))), policy(**limits), catalog)


def moment(found: EligibilityRecord | None = None, now_unix_s: float = NOW) -> Moment:
    return Moment(CATALOG, found or record(), "cluster", now_unix_s)


def score(*names: str, **risks: float) -> Score:
    candidates = tuple(
        Candidate(binding_of(CATALOG, name), CATALOG.models[name].tier, 1.0, risks.get(name))
        for name in names
    )
    return Score(candidates, "cluster")


def scored(session: Session, found: Score, input_tokens: int = 50_000) -> Scored:
    return Scored(session, found, found.candidates[0], input_tokens)


def action(body: bytes, turn_type: TurnType = TurnType.MAIN_LOOP) -> Action:
    request = codec_for(WireFamily.ANTHROPIC).decode_request(body)
    features = features_of(request, len(body))
    return Action(
        id=ActionId("act_1"),
        surface=WireFamily.ANTHROPIC,
        caller=Caller("key", InstallationId("inst")),
        body=body,
        request=request,
        features=features,
        input_tokens=len(body) // 4,
        turn_type=turn_type,
        started_monotonic_s=0.0,
    )
