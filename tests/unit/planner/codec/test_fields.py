"""The enums that both sides must know, and settings."""

from __future__ import annotations

import pytest
from pointsman.planner.v1 import planner_pb2 as pb
from pydantic import ValidationError

from services.planner.codec import enums
from services.planner.model.decision import Reason, RiskBasis, Verdict
from services.planner.model.question import Economics
from services.planner.model.rules import Rules
from services.planner.settings import PlannerSettings


def test_every_value_that_answers_may_have_is_on_both_sides() -> None:
    pairs = [
        (enums.VERDICTS, Verdict, pb.Verdict, "VERDICT_"),
        (enums.REASONS, Reason, pb.PlanReason, "PLAN_REASON_"),
        (enums.ECONOMICS, Economics, pb.Economics, "ECONOMICS_"),
        (enums.RISK_BASES, RiskBasis, pb.RiskBasis, "RISK_BASIS_"),
    ]
    for table, ours, wire, prefix in pairs:
        named = {f"{prefix}{member.name}": number for member, number in table.items()}  # type: ignore[attr-defined]  # the tables differ in their key
        assert len(named) == len(ours)
        assert named == {name: number for name, number in wire.items() if number}


def test_defaults_are_the_measured_ones() -> None:
    assert PlannerSettings().rules == Rules(Economics.VALUE, None, 3, True, False, 0.10, 0.2)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("economics", "clever"),
        ("threshold_usd", -1),
        ("threshold_usd", float("inf")),
        ("expected_remaining_actions", -1),
        ("persistence", 1.1),
        ("risk_price_usd", float("nan")),
    ],
)
def test_settings_out_of_range_stop_the_start(key: str, value: object) -> None:
    with pytest.raises(ValidationError):
        PlannerSettings.model_validate({key: value})
