from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.deciding.pinned import (
    fresh_pick,
    pin_cache,
    reanchored,
    servable,
    unwanted_models,
    usable_pin,
)
from gateway.eligibility import freeze
from gateway.eligibility.windows import room_in
from gateway.plan import planned_bindings
from gateway.sessions.model import TTL_S, CacheState, Strike, Strikes
from gateway.sessions.strikes import strike_model
from gateway.sessions.usage import record_use
from services.domain.catalog import build_catalog
from services.domain.errors import PeerError
from tests.unit.gateway.deciding.made import moment, record, row, score
from tests.unit.gateway.facts import features, policy, question
from tests.unit.gateway.sessions.made import NOW, choice, pinned, use

PINNED = pinned()
SERVED = record_use(PINNED, use(), "cluster")


def test_a_live_pin_whose_model_may_serve_is_used() -> None:
    assert usable_pin(PINNED, moment()) == choice()
    assert usable_pin(PINNED, moment(now_unix_s=NOW + TTL_S)) is None


@pytest.mark.spec("TRN-52")
def test_a_pin_is_passed_over_when_nothing_may_serve_its_model() -> None:
    excluded = record(excluded_models=frozenset({"large"}))
    assert usable_pin(PINNED, moment(excluded)) is None
    assert usable_pin(pinned(made=choice("gone")), moment()) is None
    elsewhere = record("p1")
    assert usable_pin(PINNED, moment(elsewhere)) == choice()


@pytest.mark.spec("TRN-52", "TRN-53")
def test_a_pin_is_passed_over_after_an_answer_that_hit_its_limit() -> None:
    limited = record_use(PINNED, use(is_output_limited=True), "cluster")
    assert usable_pin(limited, moment()) is None
    assert unwanted_models(limited, moment()) == {"large"}


@pytest.mark.spec("TRN-52")
def test_a_pin_is_passed_over_while_its_model_is_struck() -> None:
    struck = strike_model(PINNED, Strike("large", "stalled", NOW + 45), NOW)
    assert usable_pin(struck, moment()) is None
    assert usable_pin(struck, moment(now_unix_s=NOW + 45)) == choice()


@pytest.mark.spec("TRN-54")
@given(own=st.integers(1, 300_000), other=st.integers(1, 300_000), prompt=st.integers(0, 300_000))
def test_a_pin_is_passed_over_for_size_only_where_no_binding_of_its_model_takes_the_prompt(
    own: int, other: int, prompt: int
) -> None:
    large = row("large", "top", 5.0)
    price = {"input_usd_per_mtok": 5.0, "output_usd_per_mtok": 25.0}
    windows = {"acme": own, "p1": other}
    bindings = [{"provider": p, "context_window": w, **price} for p, w in windows.items()]
    models = build_catalog([{"models": [{**large, "bindings": bindings}]}])
    found = freeze(question("acme", "p1", features=features(prompt)), policy(), models)
    then = replace(moment(found), catalog=models)
    roomy = [name for name, window in windows.items() if prompt <= room_in(window, 0)]
    fitting = roomy or [name for name, window in windows.items() if prompt <= window]
    assert (usable_pin(PINNED, then) is not None) == bool(fitting)
    if fitting:
        serving = planned_bindings(models.models["large"], found, first="acme")
        assert [each.provider for each in serving] == fitting


@pytest.mark.spec("DSP-256")
def test_a_pin_is_passed_over_where_only_disabled_providers_serve_its_model() -> None:
    disabled = replace(PINNED, strikes=Strikes(disabled_providers=("acme",)))
    assert usable_pin(disabled, moment(record("acme"))) is None
    assert usable_pin(disabled, moment()) == choice()


def test_unwanted_models_are_picked_only_where_there_is_nothing_else() -> None:
    found = score("large", "middle")
    assert fresh_pick(found, frozenset({"large"})).binding.model_id == "middle"
    assert fresh_pick(found, frozenset({"large", "middle"})).binding.model_id == "large"


def test_a_scorer_with_another_catalog_names_only_what_may_serve_here() -> None:
    found = score("large", "middle")
    gone = replace(found.candidates[0].binding, model_id="gone")
    newer = replace(
        found, candidates=(replace(found.candidates[0], binding=gone), *found.candidates)
    )
    assert servable(newer, moment()) == found
    assert servable(found, moment()) is found
    excluded = moment(record(excluded_models=frozenset({"large", "middle"})))
    with pytest.raises(PeerError):
        servable(newer, excluded)


@pytest.mark.spec("TRN-57")
def test_an_expired_pin_is_kept_over_a_fresh_pick_of_a_lower_tier() -> None:
    later = moment(now_unix_s=NOW + 2 * TTL_S)
    fresh = score("middle").candidates[0]
    assert reanchored(SERVED, fresh, later, is_history_trimmed=False) == choice()
    assert reanchored(SERVED, fresh, later, is_history_trimmed=True) is None
    assert reanchored(SERVED, fresh, moment(), is_history_trimmed=False) is None
    gone = pinned(made=choice("gone"))
    assert reanchored(gone, fresh, later, is_history_trimmed=False) is None


@pytest.mark.spec("PLN-12")
def test_a_warm_pin_is_cold_once_its_credential_would_be_passed_over() -> None:
    assert pin_cache(SERVED, choice(), (), NOW) is CacheState.WARM
    assert pin_cache(SERVED, choice(), ("other",), NOW) is CacheState.WARM
    assert pin_cache(SERVED, choice(), ("f1",), NOW) is CacheState.COLD
    cut = replace(SERVED, history_epoch=1)
    assert pin_cache(cut, choice(), ("f1",), NOW) is CacheState.BROKEN
