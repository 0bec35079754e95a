"""What reports do to marks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.credentials.model import Credential, EndKind, Mark, MarkKind, Phase, Report
from services.credentials.policy.marks import (
    AUTH_BLOCK_S,
    BILLING_BLOCK_S,
    LADDER_CEILING_S,
    MAX_HINT_S,
    MAX_KEY_HINT_S,
    MEMORY_OF_LEVELS_S,
    Effect,
    cleared_by_operator,
    effect_of,
    is_stale,
    next_marks,
    retry_after_s,
    transitions,
)
from services.domain.vocab import CredentialKind
from tests.unit.credentials.cases import NOW, credential, report


def throttled(hint: str = "", **more: object) -> Report:
    headers = (("retry-after", hint),) if hint else ()
    return report(429, headers=headers, **more)


def after(start: Credential, *steps: tuple[Report, float]) -> Credential:
    """Return a credential after reports, each at its seconds from now."""
    for one, seconds in steps:
        start = replace(start, marks=next_marks(start, one, NOW + seconds))
    return start


def until(one: Credential) -> float:
    """Return the seconds from now at which the only mark lapses."""
    (mark,) = one.marks
    assert mark.expire_unix_s is not None
    return mark.expire_unix_s - NOW


@pytest.mark.spec("CRD-5", "CRD-58", "CRD-80")
@pytest.mark.parametrize(
    ("one", "effect"),
    [
        (report(200), Effect.SUCCESS),
        (report(200, phase=Phase.ENDED, end_kind=EndKind.SUCCEEDED), Effect.SUCCESS),
        (report(200, phase=Phase.ENDED, end_kind=EndKind.FAILED), Effect.NOTHING),
        (report(200, phase=Phase.ENDED, end_kind=EndKind.EMPTY_STREAM), Effect.NOTHING),
        (report(200, phase=Phase.ALIVE), Effect.NOTHING),
        (report(None, phase=Phase.ENDED, end_kind=EndKind.FAILED), Effect.NOTHING),
        (report(429, phase=Phase.ENDED, end_kind=EndKind.CALLER_GONE), Effect.NOTHING),
        (report(None, phase=Phase.ENDED, end_kind=EndKind.NOT_SENT), Effect.NOTHING),
        (report(400), Effect.NOTHING),
        (report(400, error_body=b"Your credit balance is too low"), Effect.UNPAID),
        (report(401), Effect.REFUSED),
        (report(401, is_challenge_page=True), Effect.NOTHING),
        (report(402), Effect.UNPAID),
        (report(403), Effect.NOTHING),
        (report(404), Effect.NOTHING),
        (report(404, is_model_not_found=True), Effect.NO_SUCH_MODEL),
        (report(413), Effect.NOTHING),
        (report(429), Effect.THROTTLED),
        (report(429, error_body=b'{"code":"insufficient_quota"}'), Effect.UNPAID),
        (report(500), Effect.NOTHING),
        (report(529), Effect.NOTHING),
    ],
)
def test_each_report_falls_into_one_class(one: Report, effect: Effect) -> None:
    assert effect_of(one) is effect


@pytest.mark.spec("CRD-1", "CRD-4")
@given(st.sampled_from([200, 400, 401, 402, 429, 500]), st.integers(0, 3))
def test_applying_a_report_twice_changes_nothing_more(status: int, level: int) -> None:
    start = credential(marks=(Mark(MarkKind.QUOTA, NOW - 5, NOW - 1, model_id="m", level=level),))
    once = after(start, (report(status), 0))
    assert after(once, (report(status), 0)) == once


def test_only_a_gateway_key_is_remembered_not_to_know_a_model() -> None:
    unknown = report(404, is_model_not_found=True)
    assert after(credential(), (unknown, 0)).marks == ()
    (mark,) = after(credential(kind=CredentialKind.GATEWAY), (unknown, 0)).marks
    assert (mark.kind, mark.model_id) == (MarkKind.UNSUPPORTED, "m")


@pytest.mark.spec("CRD-66")
def test_a_throttle_without_a_hint_climbs_a_ladder_of_its_model() -> None:
    start = credential()
    seconds, waits = 0.0, []
    for _ in range(14):
        start = after(start, (throttled(), seconds))
        waits.append(until(start) - seconds)
        seconds = until(start)
    assert waits[:4] == [1, 2, 4, 8]
    assert waits[-1] == LADDER_CEILING_S
    assert [mark.model_id for mark in start.marks] == ["m"]


@pytest.mark.spec("CRD-67")
@given(st.integers(1, 100))
def test_failures_inside_a_window_raise_the_level_once(count: int) -> None:
    found = after(credential(), *((throttled(), 0.5) for _ in range(count)))
    assert (found.marks[0].level, until(found)) == (0, 1.5)


@pytest.mark.spec("CRD-68", "CRD-69")
def test_a_later_hint_extends_a_window_and_a_shorter_one_does_not() -> None:
    found = after(credential(), (throttled("1"), 0), (throttled("60"), 0.25))
    assert (until(found), found.marks[0].level) == (60.25, 0)
    assert until(after(found, (throttled("2"), 1))) == 60.25


@pytest.mark.spec("CRD-65")
def test_a_hint_is_believed_for_a_day_from_keys_and_a_week_from_plans() -> None:
    assert until(after(credential(), (throttled("9999999"), 0))) == MAX_KEY_HINT_S
    plan = credential(kind=CredentialKind.CLAUDE_OAUTH)
    assert until(after(plan, (throttled("9999999"), 0))) == MAX_HINT_S


@pytest.mark.spec("CRD-70", "CRD-71")
def test_a_success_clears_what_it_proves_and_only_if_it_was_sent_later() -> None:
    blocked = after(
        credential(), (throttled("60"), 0), (throttled("60", model_id="m2"), 0), (report(402), 0)
    )
    assert after(blocked, (report(200, send_unix_s=NOW - 1), 5)) == blocked
    healed = after(blocked, (report(200, send_unix_s=NOW + 1), 5))
    assert [mark.model_id for mark in healed.marks] == ["m2"]


@pytest.mark.spec("CRD-69")
def test_the_level_starts_anew_after_a_success_and_after_an_hour() -> None:
    first = after(credential(), (throttled(), 0))
    climbed = after(first, (throttled(), 2))
    assert climbed.marks[0].level == 1
    healed = after(climbed, (report(200, send_unix_s=NOW + 5), 5), (throttled(), 6))
    assert healed.marks[0].level == 0
    rested = after(climbed, (throttled(), 4 + MEMORY_OF_LEVELS_S))
    assert rested.marks[0].level == 0


def test_a_refused_key_and_an_unpaid_one_are_blocked_as_a_whole() -> None:
    assert until(after(credential(), (report(401), 0))) == AUTH_BLOCK_S
    assert until(after(credential(), (report(402), 0))) == BILLING_BLOCK_S
    for status in (401, 402):
        assert after(credential(), (report(status), 0)).blocking_marks("any", NOW)


@pytest.mark.spec("CRD-87")
def test_a_report_about_an_older_secret_changes_nothing() -> None:
    rotated = replace(credential(), credential_version=2)
    assert is_stale(rotated, report(401))
    assert after(rotated, (report(401), 0)) == rotated
    assert not is_stale(rotated, report(401, credential_version=2))


@pytest.mark.spec("CRD-129")
def test_steady_traffic_changes_nothing() -> None:
    start = credential(marks=(Mark(MarkKind.WARNING, NOW, NOW + 900, window="5h"),))
    assert after(start, *((report(200), n) for n in range(50))) == start


@pytest.mark.spec("CRD-52")
def test_an_operator_clears_all_or_one_model() -> None:
    found = after(credential(), (throttled("9"), 0), (report(401), 0)).marks
    assert cleared_by_operator(found, "") == ()
    assert [mark.kind for mark in cleared_by_operator(found, "m(high)")] == [MarkKind.AUTH]


def test_transitions_are_what_changed_among_marks_in_force() -> None:
    start = after(credential(), (throttled("9"), 0))
    lapsed = replace(start, marks=())
    cleared = transitions(start, lapsed.marks, "success", NOW + 1)
    assert [(one.is_cleared, one.mark.kind) for one in cleared] == [(True, MarkKind.QUOTA)]
    assert transitions(start, lapsed.marks, "success", NOW + 9) == ()
    assert transitions(start, start.marks, "rejection", NOW) == ()


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ([("Retry-After", "7")], 7.0),
        ([("retry-after", " 0.5 ")], 0.5),
        ([("retry-after", "0")], None),
        ([("retry-after", "-3")], None),
        ([("retry-after", "nan")], None),
        ([("retry-after", "soon")], None),
        ([("retry-after", "9"), ("retry-after-ms", "250")], 0.25),
        ([("retry-after", "Sun, 15 Jun 2025 15:07:00 GMT")], 20.0),
        ([], None),
    ],
)
def test_waits_are_read_from_headers(headers: list[tuple[str, str]], wait: float | None) -> None:
    assert retry_after_s(headers, NOW) == wait


@given(st.text(max_size=60))
def test_any_text_is_a_wait_or_none(text: str) -> None:
    found = retry_after_s([("retry-after", text)], NOW)
    assert found is None or found > 0
