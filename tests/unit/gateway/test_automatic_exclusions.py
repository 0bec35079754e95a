"""Models that are not to be picked by themselves: nobody picks them while others are there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.codec.eligibility import eligibility_record
from gateway.deciding.escalating import escalation_of
from gateway.deciding.hard_pins import by_price, cheapest_binding, fixed_binding, may_pick
from gateway.deciding.kinds import Rules
from gateway.deciding.pinned import fresh_pick, reanchored, unwanted_models, usable_pin
from gateway.deciding.summaries import summarizers
from gateway.eligibility.removals import permits
from gateway.model import EligibilityRecord, RescueCause
from gateway.policy import policy_of
from gateway.sessions.model import TTL_S
from gateway.sessions.usage import record_use
from gateway.settings import AutomaticExclusion, RoutingSettings
from services.runtime.config import SettingError
from services.runtime.settings import CommonSettings
from tests.unit.gateway.deciding.made import CATALOG, moment, record, score
from tests.unit.gateway.facts import features
from tests.unit.gateway.sessions.made import EMPTY, NOW, choice, pinned, use
from tests.unit.gateway.test_rescues import CATALOG as POOLED
from tests.unit.gateway.test_rescues import POOL, PROVIDERS, decided, targets

PINNED = pinned()
"""A session that is pinned to ``large``."""


def without(*models: str) -> EligibilityRecord:
    """Return a record under which models are not to be picked by themselves."""
    return record(automatic_exclusions=models)


@pytest.mark.spec("POL-16", "POL-17")
def test_a_pin_is_passed_over_and_comes_back_by_itself() -> None:
    assert usable_pin(PINNED, moment(without("large"))) is None
    assert usable_pin(PINNED, moment(without("middle"))) == choice()
    assert usable_pin(PINNED, moment()) == choice()
    served, later = record_use(PINNED, use(), "cluster"), NOW + 2 * TTL_S
    fresh = score("middle").candidates[0]
    assert reanchored(served, fresh, moment(now_unix_s=later), is_history_trimmed=False)
    gone = moment(without("large"), later)
    assert reanchored(served, fresh, gone, is_history_trimmed=False) is None


@pytest.mark.spec("POL-15", "POL-43")
@given(st.sets(st.sampled_from(("large", "middle", "small"))))
def test_a_pick_is_another_one_unless_nothing_else_is_there(excluded: set[str]) -> None:
    found = score("large", "middle", "small")
    then = moment(without(*excluded))
    pick = fresh_pick(found, unwanted_models(EMPTY, then)).binding.model_id
    wanted = [name for name in ("large", "middle", "small") if name not in excluded]
    assert pick == (wanted or ["large"])[0]
    cheapest = cheapest_binding(then, features())
    assert cheapest is not None
    assert cheapest.model_id == (wanted or ["small"])[-1]
    assert {model.id for model in by_price(then, features())} == set(wanted) or not wanted


@pytest.mark.spec("POL-16")
def test_what_the_operator_fixed_serves_anyway_and_what_a_loop_asks_for_does_not() -> None:
    then = moment(without("large"))
    assert fixed_binding(("large", "acme"), then).model_id == "large"
    assert not may_pick("large", then)
    rules = Rules(is_escalation_on=True, escalation_holdout_percent=0)
    _, strong = escalation_of(EMPTY, choice("small"), then, rules)
    assert strong is not None
    assert strong.id == "middle"
    (writer,) = summarizers(moment(without("middle")), "", 10)
    assert writer.model_id == "large"


@pytest.mark.spec("POL-16")
def test_rescues_go_to_the_next_candidate() -> None:
    found = record(*PROVIDERS, catalog=POOLED, automatic_exclusions=("gpt",))
    assert targets(decided("oss", *POOL, found=found), RescueCause.SIBLING) == ["wide", "small"]
    fallback = record(*PROVIDERS, catalog=POOLED, automatic_exclusions=("wide",))
    cyber = decided("gpt", *POOL, found=fallback, pair="wide", named="gpt")
    assert targets(cyber, RescueCause.CYBER_REFUSAL) == ["big"]


@pytest.mark.spec("POL-1", "POL-43")
def test_it_forbids_nothing_and_travels_as_a_layer_of_its_own() -> None:
    found = without("large")
    assert permits(found, "large", "acme")
    message = eligibility_record(found)
    assert [each.model_id for each in message.automatic_excluded_models] == ["large"]
    assert not message.excluded_models
    assert replace(found, create_unix_s=0.0) != replace(record(), create_unix_s=0.0)


def routing(**tables: object) -> RoutingSettings:
    """Return settings of routing."""
    return RoutingSettings.model_validate(tables)


def test_the_configuration_goes_before_what_is_stored() -> None:
    common, stored = CommonSettings(), (AutomaticExclusion(model="middle"),)
    stated = routing(automatic_exclusions=[{"model": "large", "reason": "slow today"}])
    assert policy_of(stated, common, CATALOG, stored).automatic_exclusions == ("large",)
    none = routing(automatic_exclusions=[])
    assert policy_of(none, common, CATALOG, stored).automatic_exclusions == ()
    kept = policy_of(routing(), common, CATALOG, stored)
    assert kept.automatic_exclusions == ("middle",)
    assert kept.config_version != policy_of(routing(), common, CATALOG).config_version
    gone = (AutomaticExclusion(model="gone"), *stored)
    assert policy_of(routing(), common, CATALOG, gone).automatic_exclusions == ("middle",)


@pytest.mark.spec("POL-42")
def test_a_model_that_is_not_there_is_named_with_the_nearest() -> None:
    wrong = routing(automatic_exclusions=[{"model": "large"}, {"model": "midle"}])
    with pytest.raises(SettingError, match="did you mean 'middle'") as refused:
        policy_of(wrong, CommonSettings(), CATALOG)
    assert refused.value.key == "routing.automatic_exclusions.1.model"
