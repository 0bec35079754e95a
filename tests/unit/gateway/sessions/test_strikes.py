from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.model import Effect, EffectKind
from gateway.sessions.model import Strike, Strikes
from gateway.sessions.pins import live_pin, write_pin
from gateway.sessions.strikes import (
    MAX_STRIKES,
    PROBE_LEASE_S,
    apply_effect,
    begin_probe,
    cooldown_ends,
    count_overload,
    count_upstream_error,
    end_probe,
    merge_strikes,
    strike_model,
    struck_for_life,
    struck_models,
)
from gateway.sessions.usage import record_use
from tests.unit.gateway.sessions.made import EMPTY, NOW, choice, pinned, use

strikes = st.builds(
    Strike,
    model_id=st.sampled_from(["a", "b", "c"]),
    reason=st.just("x"),
    until_unix_s=st.none() | st.floats(NOW, NOW + 100),
)
all_strikes = st.builds(
    Strikes,
    upstream_errors=st.integers(0, 1),
    overloads=st.integers(0, 1),
    disabled_providers=st.sets(st.sampled_from("pq")).map(lambda s: tuple(sorted(s))),
    models=st.lists(strikes, max_size=3, unique_by=lambda s: s.model_id).map(tuple),
)


def test_the_second_refusal_in_a_row_ends_the_pin() -> None:
    once = count_upstream_error(pinned(), NOW)
    assert live_pin(once, "cluster", NOW) is not None
    assert live_pin(count_upstream_error(once, NOW + 1), "cluster", NOW + 1) is None
    between = count_upstream_error(record_use(once, use(), "cluster"), NOW + 1)
    assert live_pin(between, "cluster", NOW + 1) is not None


def test_the_second_overload_in_a_row_disables_the_provider_for_the_session() -> None:
    once = count_overload(pinned(), "acme", NOW)
    assert once.strikes.disabled_providers == ()
    twice = count_overload(once, "acme", NOW + 1)
    assert twice.strikes.disabled_providers == ("acme",)
    assert live_pin(twice, "cluster", NOW + 1) is None
    between = count_overload(record_use(once, use(), "cluster"), "acme", NOW + 1)
    assert between.strikes.disabled_providers == ()


@pytest.mark.spec("TRN-64")
def test_a_cooldown_is_over_at_its_very_end() -> None:
    session = strike_model(EMPTY, Strike("a", "rate_limited", NOW + 45), NOW)
    assert struck_models(session, NOW + 44.9) == {"a"}
    assert struck_models(session, NOW + 45) == frozenset()
    assert struck_for_life(session) == frozenset()


@pytest.mark.spec("TRN-65")
def test_a_strike_for_life_outranks_a_cooldown_and_the_later_end_holds() -> None:
    life, short, long = (Strike("a", "x", until) for until in (None, NOW + 1, NOW + 9))
    for order in ((life, short), (short, life)):
        session = EMPTY
        for strike in order:
            session = strike_model(session, strike, NOW)
        assert session.strikes.models == (life,)
    session = strike_model(strike_model(EMPTY, long, NOW), short, NOW)
    assert session.strikes.models == (long,)


@pytest.mark.spec("TRN-65")
@given(all_strikes, all_strikes, all_strikes)
def test_merging_loses_nothing_whatever_the_order(a: Strikes, b: Strikes, c: Strikes) -> None:
    def held(merged: Strikes) -> set[tuple[str, float | None]]:
        return {(strike.model_id, strike.until_unix_s) for strike in merged.models}

    both = merge_strikes(a, b)
    assert held(both) == held(merge_strikes(b, a))
    assert held(merge_strikes(both, c)) == held(merge_strikes(a, merge_strikes(b, c)))
    assert held(merge_strikes(both, b)) == held(both)
    assert {*both.disabled_providers} == {*a.disabled_providers, *b.disabled_providers}


@given(st.lists(st.text("ab", min_size=1, max_size=8), max_size=80))
def test_few_strikes_are_kept(models: list[str]) -> None:
    session = EMPTY
    for model_id in models:
        session = strike_model(session, Strike(model_id, "x"), NOW)
    assert len(session.strikes.models) <= MAX_STRIKES


def told(kind: EffectKind, model: str = "large") -> Effect:
    return Effect(kind, model, "acme")


@pytest.mark.spec("DSP-251")
def test_a_throttled_model_rests_and_a_failed_one_is_struck() -> None:
    cooled = apply_effect(pinned(), told(EffectKind.COOLDOWN), NOW, 45.0)
    assert cooldown_ends(cooled, NOW) == {"large": NOW + 45}
    assert not struck_models(cooled, NOW + 45)
    struck = apply_effect(cooled, told(EffectKind.DEMOTE), NOW, 45.0)
    assert struck_for_life(struck) == {"large"}


@pytest.mark.spec("DSP-256", "DSP-257")
def test_counts_are_about_the_model_that_the_session_is_pinned_to() -> None:
    for kind in (EffectKind.COUNT_OVERLOAD, EffectKind.COUNT_REFUSAL):
        session = pinned()
        for _ in range(3):
            session = apply_effect(session, told(kind, "another"), NOW, 45.0)
        assert live_pin(session, "cluster", NOW) is not None
        once = apply_effect(session, told(kind), NOW, 45.0)
        assert live_pin(once, "cluster", NOW) is not None
        assert live_pin(apply_effect(once, told(kind), NOW, 45.0), "cluster", NOW) is None
        cleared = apply_effect(once, told(EffectKind.CLEAR_COUNTS), NOW, 45.0)
        again = apply_effect(cleared, told(kind), NOW, 45.0)
        assert live_pin(again, "cluster", NOW) is not None


@pytest.mark.spec("DSP-257")
def test_a_model_that_can_never_take_the_session_is_left_at_once_and_not_reanchored() -> None:
    evicted = apply_effect(pinned(), told(EffectKind.EVICT_PIN), NOW, 45.0)
    assert evicted.pin is not None
    assert not evicted.pin.is_named
    forced = write_pin(EMPTY, choice(), NOW, basis_epoch=0, is_forced=True)
    assert apply_effect(forced, told(EffectKind.EVICT_PIN), NOW, 45.0) == forced


COOLED = strike_model(EMPTY, Strike("a", "cooling", NOW + 45), NOW)
COOLDOWN = Effect(EffectKind.COOLDOWN, "a", "acme")


@pytest.mark.spec("DSP-253", "DSP-255")
def test_after_a_cooldown_one_action_probes_and_the_others_go_elsewhere() -> None:
    assert begin_probe(COOLED, "a", NOW + 44) is COOLED
    assert not struck_models(COOLED, NOW + 45)
    probed = begin_probe(COOLED, "a", NOW + 45)
    assert struck_models(probed, NOW + 45) == {"a"}
    assert begin_probe(probed, "a", NOW + 50) is probed
    assert begin_probe(probed, "b", NOW + 50) is probed
    assert not struck_models(probed, NOW + 45 + PROBE_LEASE_S)
    again = begin_probe(probed, "a", NOW + 45 + PROBE_LEASE_S)
    assert struck_models(again, NOW + 45 + PROBE_LEASE_S) == {"a"}


@pytest.mark.spec("DSP-255")
def test_the_answer_of_a_probe_clears_the_cooldown_and_a_new_one_stays() -> None:
    probed = begin_probe(COOLED, "a", NOW + 45)
    assert not end_probe(probed, "a").strikes.models
    assert end_probe(probed, "b") is probed
    throttled = apply_effect(probed, COOLDOWN, NOW + 46, 45)
    assert cooldown_ends(throttled, NOW + 46) == {"a": NOW + 91}
    assert end_probe(throttled, "a") is throttled


@pytest.mark.spec("DSP-255")
def test_what_was_never_cooled_or_is_struck_for_life_is_not_probed() -> None:
    assert begin_probe(EMPTY, "a", NOW) is EMPTY
    struck = strike_model(EMPTY, Strike("a", "failed"), NOW)
    assert begin_probe(struck, "a", NOW + 100) is struck
    assert end_probe(struck, "a") is struck
