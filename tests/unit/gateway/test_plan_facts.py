from __future__ import annotations

import pytest
from pointsman.common.v1 import binding_pb2
from pointsman.planner.v1 import planner_pb2

from gateway.codec.deciding import plan_answer
from gateway.codec.plan_facts import PREFIX, plan_facts
from gateway.model.decision import Fact

ANSWER = planner_pb2.PlanActionResponse(
    verdict=planner_pb2.VERDICT_STAY,
    reason=planner_pb2.PLAN_REASON_VALUE_NEGATIVE,
    is_ev_computed=True,
    economics=planner_pb2.ECONOMICS_VALUE,
    value_sum=planner_pb2.ValueSum(
        stay_micro_usd=100,
        switch_micro_usd=300,
        value_micro_usd=-200,
        risk_gap=0.1,
        risk_basis=planner_pb2.RISK_BASIS_SCORER,
    ),
    shadow=planner_pb2.ShadowSum(saving_micro_usd=-7, verdict=planner_pb2.VERDICT_STAY),
    inputs=planner_pb2.PlanInputs(
        input_token_count=500,
        cacheable_prefix_token_count=400,
        is_prefix_known=True,
        remaining_action_count=3,
        threshold_micro_usd=10_000,
    ),
    pin_price=planner_pb2.UsedPrice(
        price=binding_pb2.Price(input_micro_usd_per_mtok=5_000_000), is_fallback=True
    ),
    versions=binding_pb2.Versions(catalog_version="cat", config_version="cfg"),
)


def _unprefixed(answer: planner_pb2.PlanActionResponse) -> dict[str, Fact]:
    facts = plan_facts(answer)
    assert all(name.startswith(PREFIX) for name in facts)
    return {name.removeprefix(PREFIX): fact for name, fact in facts.items()}


@pytest.mark.spec("PLN-45")
def test_everything_that_a_verdict_rests_on_is_told() -> None:
    facts = _unprefixed(ANSWER)
    told = {
        "economics": "value",
        "is_ev_computed": True,
        "stay_micros": 100,
        "switch_micros": 300,
        "quality_micros": 0,
        "value_micros": -200,
        "risk_gap": 0.1,
        "risk_basis": "scorer",
        "shadow_saving_micros": -7,
        "shadow_verdict": "stay",
        "input_tokens": 500,
        "cacheable_prefix_tokens": 400,
        "is_prefix_known": True,
        "is_cold": False,
        "remaining_action_count": 3,
        "threshold_micros": 10_000,
        "pin_price_is_fallback": True,
        "pin_price_input_micros_per_mtok": 5_000_000,
        "catalog_version": "cat",
        "config_version": "cfg",
    }
    assert told.items() <= facts.items()
    assert not {"switch_with_summary_micros", "pin_price_cost_factor"} & facts.keys()
    assert plan_answer(ANSWER).facts == plan_facts(ANSWER)


@pytest.mark.spec("PLN-45")
def test_money_that_was_not_computed_is_not_told() -> None:
    early = planner_pb2.PlanActionResponse(
        verdict=planner_pb2.VERDICT_STAY, reason=planner_pb2.PLAN_REASON_SAME_MODEL
    )
    facts = _unprefixed(early)
    assert not [name for name in facts if name.endswith("_micros")]
    assert facts["is_ev_computed"] is False


def test_a_value_of_a_newer_planner_has_no_name_here() -> None:
    newer = planner_pb2.PlanActionResponse()
    newer.MergeFromString(b"\x20\x63")
    assert _unprefixed(newer)["economics"] == "unknown"
