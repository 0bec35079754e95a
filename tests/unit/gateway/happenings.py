"""One action and what becomes of it, for tests of those who are told."""

from __future__ import annotations

from dataclasses import replace

from gateway.eligibility import freeze
from gateway.ground import Ground
from gateway.ledger.settlement import rows_of
from gateway.model import Action, ActionId, BindingRef, Caller, EligibilityAnswer, InstallationId
from gateway.model.decision import Decision, DecisionPath
from gateway.model.explained import Completed
from gateway.model.record import (
    AttemptKind,
    AttemptOutcome,
    AttemptRecord,
    LedgerRow,
    Opening,
)
from services.domain.catalog import build_catalog
from services.domain.vocab import TurnType, WireFamily
from services.domain.wire.features import features_of
from services.domain.wire.model import Request, Usage
from tests.unit.gateway.facts import policy, question

PRICES = {"dear": 10.0, "cheap": 1.0}
CATALOG = build_catalog(
    [
        {
            "models": [
                {
                    "id": name,
                    "bindings": [
                        {
                            "provider": "p1",
                            "input_usd_per_mtok": dollars,
                            "output_usd_per_mtok": dollars,
                        }
                    ],
                }
                for name, dollars in PRICES.items()
            ]
        }
    ]
)
RECORD = freeze(question("p1"), policy(), CATALOG)
CHEAP = BindingRef("cheap", "p1", "cheap", 0)


def an_action(number: int = 1, installation: str = "inst-1", session: bytes = b"s" * 16) -> Action:
    request = Request(WireFamily.ANTHROPIC, "dear", is_stream=False)
    return Action(
        id=ActionId(f"act_{number}"),
        surface=WireFamily.ANTHROPIC,
        caller=Caller("key", InstallationId(installation), session_key=session),
        body=b"{}",
        request=request,
        features=features_of(request, 2),
        input_tokens=1_000,
        turn_type=TurnType.MAIN_LOOP,
        started_monotonic_s=0.0,
    )


def a_decision(action: Action) -> Decision:
    ground = Ground(action, EligibilityAnswer(None), RECORD)
    return ground.decision(CATALOG.models["cheap"], DecisionPath.SCORED, "cluster")


def ledger_rows(action: Action, charged_tokens: int = 1_000) -> tuple[LedgerRow, ...]:
    opening = Opening(
        action_id=action.id,
        kind=AttemptKind.SERVE,
        installation_id=action.caller.installation_id,
        key_id="key",
        client_request_id="",
        surface="anthropic",
        requested_model="dear",
        estimated_input_tokens=1,
        binding=CHEAP,
        opened_unix_s=0.0,
    )
    served = AttemptRecord(
        1, CHEAP, AttemptOutcome.SERVED, usage=Usage(fresh_input=charged_tokens, output=0)
    )
    failed = AttemptRecord(1, CHEAP, AttemptOutcome.FAILED, failure="overloaded")
    return rows_of(opening, (failed, replace(served, number=2)), CATALOG, 1.0)


def a_result(action: Action) -> Completed:
    caller = action.caller
    return Completed(action.id, caller.installation_id, caller.session_key, 200, served=CHEAP)
