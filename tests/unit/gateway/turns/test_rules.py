from __future__ import annotations

import pytest

from gateway.turns.rules import TURN_RULES, TurnRule
from services.domain.vocab import TurnType


def test_every_kind_has_its_rule() -> None:
    assert set(TURN_RULES) == set(TurnType)


@pytest.mark.spec("TRN-29")
@pytest.mark.parametrize("kind", [TurnType.PROBE, TurnType.TITLE_GEN, TurnType.COMPACTION])
def test_background_actions_never_touch_a_pin(kind: TurnType) -> None:
    rule = TURN_RULES[kind]
    assert TurnRule(False, False, False, False, False) == rule


def test_asides_are_scored_without_a_pin() -> None:
    for kind in (TurnType.CLASSIFIER, TurnType.RECAP):
        rule = TURN_RULES[kind]
        assert (rule.is_scored, rule.reads_pin, rule.writes_pin) == (True, False, False)


def test_tool_results_are_scored_like_the_main_loop() -> None:
    assert TURN_RULES[TurnType.TOOL_RESULT] == TURN_RULES[TurnType.MAIN_LOOP]
    assert TURN_RULES[TurnType.TOOL_RESULT].is_scored
