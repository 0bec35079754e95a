from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.model import InstallationId
from gateway.sessions.model import FOREVER_UNIX_S, TTL_S, Address, Session, Strike, Strikes
from gateway.sessions.pins import (
    ReanchorFacts,
    can_reanchor,
    clear_pin,
    expire_pin,
    live_pin,
    write_pin,
)
from gateway.sessions.strikes import strike_model, struck_models
from services.domain.vocab import ModelTier
from tests.unit.gateway.sessions.made import EMPTY, NOW, choice, pinned


@pytest.mark.spec("TRN-41")
def test_there_is_no_pin_without_a_row_or_under_another_strategy() -> None:
    assert live_pin(EMPTY, "cluster", NOW) is None
    assert live_pin(pinned(), "requested", NOW) is None
    assert live_pin(pinned(), "cluster", NOW) == pinned().pin


@pytest.mark.spec("TRN-42", "TRN-43")
def test_a_pin_lives_an_hour_after_its_last_use_and_strikes_longer() -> None:
    session = strike_model(pinned(), Strike("small", "rescued_failure"), NOW)
    assert live_pin(session, "cluster", NOW + TTL_S - 1) is not None
    assert live_pin(session, "cluster", NOW + TTL_S) is None
    assert struck_models(session, NOW + TTL_S) == {"small"}
    refreshed = pinned(session, now_unix_s=NOW + 60)
    assert live_pin(refreshed, "cluster", NOW + TTL_S + 59) is not None


@pytest.mark.spec("TRN-44")
def test_the_runner_up_is_replaced_kept_or_dropped() -> None:
    paired = choice(paired_model_id="small", paired_provider="globex")
    session = pinned(made=paired)
    kept = pinned(session, choice())
    replaced = pinned(session, choice(paired_model_id="tiny", paired_provider="acme"))
    dropped = pinned(session, choice("other"))
    pairs = [each.pin.choice.paired_model_id for each in (kept, replaced, dropped) if each.pin]
    assert pairs == ["small", "tiny", ""]


@pytest.mark.spec("TRN-45")
def test_counters_of_errors_belong_to_the_model() -> None:
    session = replace(pinned(), strikes=Strikes(upstream_errors=1, overloads=1))
    assert pinned(session).strikes == session.strikes
    assert pinned(session, choice(provider="globex")).strikes == session.strikes
    assert pinned(session, choice("small")).strikes == Strikes()


def test_each_write_counts_a_turn_and_keeps_the_beginning() -> None:
    session = pinned(pinned(), choice("small"), NOW + 5)
    assert session.pin is not None
    assert (session.pin.turn_count, session.pin.first_unix_s) == (2, NOW)


@pytest.mark.spec("TRN-48")
def test_without_an_installation_nothing_is_pinned() -> None:
    nowhere = Session(Address(b"k", "default", InstallationId("")))
    assert pinned(nowhere) == nowhere


@pytest.mark.spec("TRN-49")
def test_a_clear_names_no_model_and_an_expiry_still_does() -> None:
    cleared = clear_pin(pinned(), "unforced", NOW + 1)
    expired = expire_pin(pinned(), NOW + 1)
    assert cleared.pin is not None
    assert expired.pin is not None
    assert (cleared.pin.choice.model_id, cleared.pin.choice.provider) == ("", "")
    assert cleared.pin.choice.reason == "unforced"
    assert (expired.pin.choice.model_id, expired.pin.is_named) == ("large", True)
    assert live_pin(cleared, "cluster", NOW + 1) is None
    assert live_pin(expired, "cluster", NOW + 1) is None
    assert clear_pin(EMPTY, "x", NOW).pin is not None


@pytest.mark.spec("TRN-93")
@given(st.sampled_from(["clear", "expire"]))
def test_a_late_write_does_not_bring_back_what_was_ended_meanwhile(end: str) -> None:
    before = pinned()
    ended = clear_pin(before, "x", NOW) if end == "clear" else expire_pin(before, NOW)
    late = write_pin(ended, choice(), NOW + 1, basis_epoch=before.pin_epoch)
    assert late == ended
    assert live_pin(pinned(ended, now_unix_s=NOW + 2), "cluster", NOW + 2) is not None


def test_a_forced_pin_holds_for_ever_against_all_but_another_forced_one() -> None:
    before = pinned()
    forced = write_pin(before, choice("mine"), NOW, basis_epoch=before.pin_epoch, is_forced=True)
    assert forced.pin is not None
    assert (forced.pin.is_forced, forced.pin.until_unix_s) == (True, FOREVER_UNIX_S)
    late = write_pin(forced, choice(), NOW + 1, basis_epoch=before.pin_epoch)
    assert late == forced == pinned(forced) == expire_pin(forced, NOW + 1)
    assert clear_pin(forced, "unforced", NOW).pin != forced.pin


FACTS = ReanchorFacts(ModelTier.MID, ModelTier.HIGH, is_routable=True)


@pytest.mark.spec("TRN-57")
def test_an_expired_pin_is_kept_where_nothing_speaks_against_it() -> None:
    over = NOW + TTL_S
    session = pinned()
    assert can_reanchor(session, "cluster", over, FACTS)
    assert can_reanchor(session, "cluster", over, replace(FACTS, fresh_tier=ModelTier.HIGH))
    for facts in (
        replace(FACTS, fresh_tier=ModelTier.TOP),
        replace(FACTS, fresh_tier=ModelTier.UNKNOWN),
        replace(FACTS, pinned_tier=ModelTier.UNKNOWN),
        replace(FACTS, is_routable=False),
        replace(FACTS, is_history_trimmed=True),
        replace(FACTS, is_saturated=True),
    ):
        assert not can_reanchor(session, "cluster", over, facts)


@pytest.mark.spec("TRN-57", "TRN-60")
def test_a_live_a_cleared_and_a_foreign_pin_are_no_anchor() -> None:
    over = NOW + TTL_S
    assert not can_reanchor(pinned(), "cluster", over - 1, FACTS)
    assert not can_reanchor(clear_pin(pinned(), "x", NOW), "cluster", over, FACTS)
    assert not can_reanchor(pinned(), "requested", over, FACTS)
    assert not can_reanchor(EMPTY, "cluster", over, FACTS)
    assert not can_reanchor(pinned(), "cluster", over, replace(FACTS, is_history_trimmed=True))
