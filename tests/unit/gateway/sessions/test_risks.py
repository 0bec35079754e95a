from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.sessions.risks import MAX_MODELS, mean_risk, record_risks
from services.domain.risk import running_mean
from tests.unit.gateway.sessions.made import EMPTY


@given(st.lists(st.floats(0, 1), min_size=1, max_size=100))
def test_the_mean_is_the_one_of_the_shared_rule(risks: list[float]) -> None:
    session, expected = EMPTY, None
    for number, risk in enumerate(risks):
        session = record_risks(session, f"act_{number}", {"m": risk})
        expected = running_mean(expected, risk, number)
    assert mean_risk(session, "m") == expected


def test_the_first_actions_weigh_alike_and_the_newest_keeps_its_share() -> None:
    session = EMPTY
    for number, risk in enumerate((0.0, 1.0)):
        session = record_risks(session, f"act_{number}", {"m": risk})
    assert mean_risk(session, "m") == pytest.approx(0.5)
    for number in range(2, 10):
        session = record_risks(session, f"act_{number}", {"m": 0.0})
    before = mean_risk(session, "m")
    assert before is not None
    after = mean_risk(record_risks(session, "act_10", {"m": 1.0}), "m")
    assert after == pytest.approx(before + 0.3 * (1 - before))


def test_a_replayed_action_does_not_count_twice() -> None:
    once = record_risks(EMPTY, "act_1", {"m": 0.5})
    other = record_risks(once, "act_2", {"m": 0.9})
    assert record_risks(other, "act_1", {"m": 0.5}) == other


def test_models_that_were_not_scored_keep_their_mean() -> None:
    session = record_risks(EMPTY, "act_1", {"a": 0.2, "b": 0.4})
    session = record_risks(session, "act_2", {"a": 0.4})
    assert mean_risk(session, "b") == 0.4
    assert mean_risk(session, "c") is None
    assert record_risks(session, "act_3", {}) == session


def test_the_models_scored_last_are_kept() -> None:
    session = EMPTY
    for number in range(MAX_MODELS + 5):
        session = record_risks(session, f"act_{number}", {f"m{number}": 0.1})
    assert len(session.risks.means) == MAX_MODELS
    assert mean_risk(session, f"m{MAX_MODELS + 4}") == 0.1
    assert mean_risk(session, "m0") is None
