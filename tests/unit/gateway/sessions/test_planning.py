from __future__ import annotations

from gateway.sessions import CacheState
from gateway.sessions.planning import outlook
from gateway.sessions.risks import record_risks
from gateway.sessions.usage import record_use
from tests.unit.gateway.sessions.made import EMPTY, NOW, choice, pinned, use

PIN = choice()
FRESH = choice("small", "globex")


def test_a_plan_rests_on_what_the_pin_left_behind() -> None:
    session = record_use(pinned(), use("small", "globex"), "cluster")
    session = record_use(session, use(at_unix_s=NOW + 20), "cluster")
    session = record_risks(session, "act_1", {"large": 0.1, "small": 0.4})
    seen = outlook(session, PIN, FRESH, 50_000, NOW + 30, pin_fingerprint="f1")
    assert seen.has_completed_action
    assert seen.cache_state is CacheState.WARM
    assert (seen.cacheable_prefix_tokens, seen.output_tokens) == (38_000, 600)
    assert (seen.pin_mean_risk, seen.fresh_mean_risk) == (0.1, 0.4)
    assert seen.leftover_prefix_tokens == 0
    trusted = outlook(session, PIN, FRESH, 50_000, NOW + 30, fresh_fingerprint="f1")
    assert trusted.leftover_prefix_tokens == 38_000


def test_a_session_without_answers_knows_nothing() -> None:
    seen = outlook(EMPTY, PIN, FRESH, 50_000, NOW)
    assert not seen.has_completed_action
    assert seen.cache_state is CacheState.COLD
    assert (seen.cacheable_prefix_tokens, seen.output_tokens) == (None, 0)
    assert (seen.pin_mean_risk, seen.fresh_mean_risk) == (None, None)


def test_another_credential_makes_the_pin_cold() -> None:
    session = record_use(pinned(), use(), "cluster")
    seen = outlook(session, PIN, FRESH, 50_000, NOW, pin_fingerprint="f2")
    assert seen.cache_state is CacheState.COLD
