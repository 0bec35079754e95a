from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.deciding.escalating import Escalation, escalation_of
from gateway.deciding.kinds import Rules
from tests.unit.gateway.deciding.made import moment, record
from tests.unit.gateway.sessions.made import ADDRESS, EMPTY, choice

ON = Rules(is_escalation_on=True, escalation_holdout_percent=0)


@pytest.mark.spec("TRN-84", "TRN-85")
def test_a_weaker_session_gets_the_strongest_model_that_may_serve() -> None:
    done, model = escalation_of(EMPTY, choice("middle"), moment(), ON)
    assert done is Escalation.ESCALATED
    assert model is not None
    assert model.id == "large"
    without = moment(record(excluded_models=frozenset({"large"})))
    _, next_best = escalation_of(EMPTY, choice("small"), without, ON)
    assert next_best is not None
    assert next_best.id == "middle"


@pytest.mark.spec("TRN-84")
def test_the_operators_model_goes_before_it_and_none_stands_in_for_it() -> None:
    fixed = replace(ON, escalation_model="middle")
    _, model = escalation_of(EMPTY, choice("small"), moment(), fixed)
    assert model is not None
    assert model.id == "middle"
    without = moment(record(excluded_models=frozenset({"middle"})))
    assert escalation_of(EMPTY, choice("small"), without, fixed) == (Escalation.DISABLED, None)


@pytest.mark.spec("TRN-85")
def test_a_strong_session_and_a_deployment_without_it_are_left_alone() -> None:
    strong = escalation_of(EMPTY, choice("large"), moment(), ON)
    assert strong == (Escalation.ALREADY_STRONG, None)
    assert escalation_of(EMPTY, choice("small"), moment(), Rules()) == (Escalation.DISABLED, None)


@pytest.mark.spec("TRN-85")
@given(key=st.binary(min_size=16, max_size=16), percent=st.integers(0, 100))
def test_the_holdout_is_fixed_by_the_sessions_key(key: bytes, percent: int) -> None:
    session = replace(EMPTY, address=replace(ADDRESS, key=key))
    rules = replace(ON, escalation_holdout_percent=percent)
    done, _ = escalation_of(session, choice("small"), moment(), rules)
    is_held = int.from_bytes(key[:4], "big") % 100 < percent
    assert done is (Escalation.HOLDOUT if is_held else Escalation.ESCALATED)
