"""Refusals, recoveries, and what holds for every sequence of reports."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.credentials.model import EndKind, Mark, MarkKind, Phase, Report, SystemState
from services.credentials.policy.evidence import (
    Effect,
    cleared_by_operator,
    cleared_by_secret,
    effect_of,
)
from services.credentials.policy.evidence.bodies import facts_of
from services.credentials.policy.evidence.draft import MEMORY_OF_ENDED_S
from services.credentials.policy.standing import standing_of
from services.credentials.server.setbacks import Setbacks
from services.domain.vocab import CredentialKind
from tests.fakes.clock import FakeClock
from tests.unit.credentials.cases import MODEL, NOW, RULES, Turns, credential, report
from tests.unit.credentials.policy.evidence.steps import (
    DAY,
    HOUR,
    Story,
    at,
    claude,
    codex,
    unified,
)


def ended(status: int | None, body: bytes = b"", **more: object) -> Report:
    return at(0, status, phase=Phase.ENDED, error_body=body, **more)


@pytest.mark.spec("CRD-5", "CRD-58", "CRD-78", "CRD-80")
@pytest.mark.parametrize(
    ("one", "effect"),
    [
        (report(200), Effect.SUCCESS),
        (report(201), Effect.SUCCESS),
        (report(200, phase=Phase.ENDED, end_kind=EndKind.SUCCEEDED), Effect.SUCCESS),
        (report(200, phase=Phase.ENDED, end_kind=EndKind.FAILED), Effect.NOTHING),
        (report(200, phase=Phase.ENDED, end_kind=EndKind.EMPTY_STREAM), Effect.NOTHING),
        (report(200, phase=Phase.ALIVE), Effect.NOTHING),
        (report(None, phase=Phase.ENDED, end_kind=EndKind.FAILED), Effect.NOTHING),
        (report(429, phase=Phase.ENDED, end_kind=EndKind.CALLER_GONE), Effect.NOTHING),
        (report(None, phase=Phase.ENDED, end_kind=EndKind.NOT_SENT), Effect.NOTHING),
        (report(302), Effect.NOTHING),
        (report(400), Effect.NOTHING),
        (ended(400, b"Your credit balance is too low"), Effect.UNPAID),
        (ended(400, b'{"error":{"code":"context_length_exceeded"}}'), Effect.NOTHING),
        (ended(400, b'{"error":{"code":"model_not_supported"}}'), Effect.UNSUPPORTED),
        (ended(400, refused_feature="fast"), Effect.FEATURE),
        (report(401), Effect.REFUSED),
        (report(401, is_challenge_page=True), Effect.NOTHING),
        (report(402), Effect.UNPAID),
        (report(403), Effect.NOTHING),
        (ended(403, b'{"error":{"type":"permission_error"}}'), Effect.FORBIDDEN),
        (ended(403, b"<html>are you human?</html>", is_challenge_page=True), Effect.NOTHING),
        (ended(403, b'{"error":{"status":"PERMISSION_DENIED"}}'), Effect.FORBIDDEN),
        (report(404), Effect.NOTHING),
        (report(404, is_model_not_found=True), Effect.NO_SUCH_MODEL),
        (report(408), Effect.NOTHING),
        (report(413), Effect.NOTHING),
        (ended(422, b'{"error":{"message":"model is not supported here"}}'), Effect.UNSUPPORTED),
        (report(429), Effect.THROTTLED),
        (ended(429, b'{"error":{"code":"insufficient_quota"}}'), Effect.UNPAID),
        (ended(429, b'{"error":{"type":"overloaded_error"}}'), Effect.NOTHING),
        (ended(429, b'{"error":{"type":"usage_limit_reached"}}'), Effect.THROTTLED),
        (report(500), Effect.NOTHING),
        (report(503, is_challenge_page=True), Effect.NOTHING),
        (report(529), Effect.NOTHING),
    ],
)
def test_each_report_falls_into_one_class(one: Report, effect: Effect) -> None:
    assert effect_of(one, facts_of(one.error_body, NOW)) is effect


@pytest.mark.spec("CRD-78")
def test_what_a_prompt_quotes_is_no_word_of_the_provider() -> None:
    quoted = rb"near \"type\": \"usage_limit_reached\""
    body = b'{"error":{"type":"invalid_request_error","message":"%s"}}' % quoted
    assert facts_of(body, NOW).words == {"invalid_request_error"}


@pytest.mark.spec("CRD-85")
def test_a_key_that_is_refused_three_times_over_ten_minutes_is_given_up() -> None:
    story = Story(credential()).see(at(0, 401))
    assert story.marks(0) == {"": 300.0}
    states = [story.see(at(n, 401)).credential.system_state for n in (1, 300, 600)]
    assert states == [SystemState.OK, SystemState.OK, SystemState.INVALID_KEY]
    assert Turns(story.credential).picked(now=NOW + 99 * DAY) == ""
    saved = Story(credential()).see(at(0, 401)).see(at(300, 401)).see(at(450, sent=310))
    saved.see(at(600, 401))
    assert saved.credential.system_state is SystemState.OK
    plan = Story(claude())
    for seconds in (0, 300, 600, 900):
        plan.see(at(seconds, 401))
    assert plan.credential.system_state is SystemState.OK


@pytest.mark.spec("CRD-148", "CRD-52")
def test_a_new_secret_and_an_operator_bring_back_a_key_that_was_given_up() -> None:
    story = Story(credential())
    for seconds in (0, 300, 600):
        story.see(at(seconds, 401))
    story.see(at(601, 429, headers=(("retry-after", "9"),)))
    renewed = cleared_by_secret(story.credential, NOW + 602)
    assert renewed.credential.system_state is SystemState.OK
    assert [m.kind for m in renewed.credential.active_marks(NOW + 602)] == [MarkKind.QUOTA]
    assert [one.cause.value for one in renewed.transitions] == ["login"]
    reset = cleared_by_operator(story.credential, "", RULES, NOW + 602)
    assert reset.credential.system_state is SystemState.OK
    assert reset.credential.active_marks(NOW + 602) == ()
    assert {one.cause.value for one in reset.transitions} == {"manual"}
    narrow = cleared_by_operator(story.credential, "m(high)", RULES, NOW + 602)
    assert [m.kind for m in narrow.credential.active_marks(NOW + 602)] == [MarkKind.AUTH]


@pytest.mark.spec("CRD-78")
def test_money_and_permissions_block_for_half_an_hour() -> None:
    for one in (ended(402), ended(400, b"credit balance is too low")):
        story = Story(credential()).see(one)
        assert story.marks(0) == {"": 1_800.0}
    model = Story(credential()).see(ended(403, b'{"error":{"type":"permission_error"}}'))
    assert model.marks(0) == {"m": 1_800.0}
    message = b'{"error":{"type":"permission_error","message":"your organization is disabled"}}'
    assert Story(credential()).see(ended(403, message)).marks(0) == {"": 1_800.0}


@pytest.mark.spec("CRD-84")
def test_an_account_is_remembered_not_to_have_a_model_and_a_vendors_key_is_not() -> None:
    absent = at(0, 404, is_model_not_found=True)
    assert Story(credential()).see(absent).credential == credential()
    tenant = Story(credential(kind=CredentialKind.GATEWAY)).see(absent)
    assert tenant.marks(0) == {"m": HOUR}
    story, seconds, waits = Story(claude()), 0.0, []
    for _ in range(5):
        story.see(at(seconds, 404, is_model_not_found=True))
        (end,) = story.marks(seconds).values()
        assert end is not None
        waits.append(end - seconds)
        seconds = end
    assert waits == [60, 600, 3_600, 43_200, 43_200]
    unsupported = ended(400, b'{"error":{"code":"model_not_supported"}}')
    assert Story(codex()).see(unsupported).marks(0) == {"m": 43_200.0}
    assert Story(credential()).see(unsupported).credential == credential()


@pytest.mark.spec("CRD-87")
def test_a_report_about_an_older_secret_changes_nothing() -> None:
    story = Story(credential()).see(at(0, 401)).rotate()
    before = story.credential
    for one in (at(1, 401), at(1, 402), at(1, 200)):
        assert story.see(replace(one, credential_version=1)).credential == before
    assert {doubt.kind for doubt in story.doubts} == {"stale_secret"}
    assert story.see(at(2, 200, credential_version=2)).marks(2) == {}


@pytest.mark.spec("CRD-70", "CRD-71")
def test_a_success_clears_what_it_proves_and_only_if_it_was_sent_later() -> None:
    def block(model: str) -> Report:
        return at(0, 429, headers=(("retry-after", "60"),), model_id=model)

    story = Story(credential()).see(block("m")).see(block("m2")).see(at(0, 402))
    before = story.credential
    assert story.see(at(5, sent=-1)).credential == before
    story.see(at(5, sent=1))
    assert story.marks(5) == {"m2": 60.0}


@pytest.mark.spec("CRD-69")
def test_the_level_starts_anew_after_a_success_and_after_an_hour() -> None:
    def climbed() -> Story:
        return Story(credential()).see(at(0, 429)).see(at(2, 429))

    assert climbed().marks(2) == {"m": 4.0}
    healed = climbed().see(at(3, sent=2.5)).see(at(6, 429))
    assert healed.marks(6) == {"m": 7.0}
    lapsed = climbed().sweep(5).see(at(6)).see(at(7, 429))
    assert lapsed.marks(7) == {"m": 8.0}
    rested = climbed().sweep(5)
    rested.see(at(8, 429, model_id="x")).see(at(9 + MEMORY_OF_ENDED_S, 429, model_id="x"))
    rested.see(at(10 + MEMORY_OF_ENDED_S, 429))
    assert rested.marks(10 + MEMORY_OF_ENDED_S)["m"] == 11 + MEMORY_OF_ENDED_S


@pytest.mark.spec("CRD-72")
@pytest.mark.parametrize(
    ("headers", "is_free"),
    [
        (unified("allowed", w7d="allowed"), True),
        (unified("allowed_warning", w7d="allowed_warning"), True),
        (unified(w7d_utilization="0.4"), True),
        (unified(w7d_utilization="1.2", claim="overage"), False),
        (unified(w7d="rejected", w7d_utilization="0.4", overage__status="allowed"), False),
        (unified(w5h="allowed", claim="overage"), False),
    ],
)
def test_fresh_signals_free_a_window_early(
    headers: tuple[tuple[str, str], ...], is_free: bool
) -> None:
    block = unified("rejected", w7d="rejected", w7d_reset=str(int(NOW + 3 * DAY)))
    story = Story(claude()).hear(0, block, 429)
    story.see(at(HOUR, headers=headers, model_id="another"))
    assert (story.blocks(HOUR) == {}) is is_free


@pytest.mark.spec("CRD-72")
def test_a_refilled_codex_plan_is_free_again() -> None:
    body = b'{"error":{"type":"usage_limit_reached","resets_at":%d}}' % (NOW + 5 * DAY)
    full = (("x-codex-secondary-used-percent", "100"),)
    story = Story(codex()).see(ended(429, body, headers=full))
    assert story.blocks(0) == {"secondary": 5 * DAY}
    story.hear(HOUR, (("x-codex-secondary-used-percent", "3"),))
    assert story.blocks(HOUR) == {}


# What holds for every sequence.

statuses = st.sampled_from(["", "allowed", "allowed_warning", "rejected", "odd"])
claims = st.sampled_from(
    ["", "five_hour", "seven_day_opus", "overage", "seven_day_overage_included"]
)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    seconds = draw(st.floats(0, 9 * HOUR))
    headers = list(
        unified(
            draw(statuses),
            w5h=draw(statuses),
            w7d=draw(statuses),
            oi=draw(statuses),
            claim=draw(claims),
            w5h_reset=draw(st.sampled_from(["", str(int(NOW + seconds + HOUR))])),
            overage__status=draw(st.sampled_from(["", "allowed"])),
        )
    )
    hint = draw(st.sampled_from(["", "5", "7200"]))
    if hint:
        headers.append(("retry-after", hint))
    return at(
        seconds,
        draw(st.sampled_from([200, 200, 200, 400, 401, 402, 429, 429, 500])),
        headers=tuple(headers),
        model_id=draw(st.sampled_from(["m", "m2"])),
        sent=max(0.0, seconds - draw(st.sampled_from([0.0, 5.0]))),
        sequence_number=draw(st.integers(1, 999)),
    )


histories = st.lists(reports(), max_size=8).map(
    lambda many: sorted(many, key=lambda one: one.observe_unix_s)
)


@pytest.mark.spec("CRD-1", "CRD-4")
@settings(max_examples=40)
@given(histories, reports())
def test_a_report_that_is_applied_twice_changes_nothing_more(
    history: list[Report], last: Report
) -> None:
    story = Story(claude())
    for one in history:
        story.see(one)
    late = max([last.observe_unix_s, *(one.observe_unix_s for one in history)])
    last = replace(last, observe_unix_s=late, send_unix_s=late)
    story.see(last)
    before, lines = story.credential, len(story.lines)
    story.see(last)
    assert (story.credential, len(story.lines)) == (before, lines)


@pytest.mark.spec("CRD-2")
@settings(max_examples=40)
@given(histories)
def test_what_changed_is_what_differs_and_every_line_is_a_change(history: list[Report]) -> None:
    story = Story(claude())
    for one in history:
        told = len(story.transitions)
        before = story.credential
        story.see(one)
        assert (len(story.transitions) > told) <= (story.credential != before)


@pytest.mark.spec("CRD-65")
@settings(max_examples=40)
@given(histories)
def test_no_mark_outlives_its_longest_window(history: list[Report]) -> None:
    story = Story(claude())
    for one in history:
        story.see(one)
        for mark in story.credential.active_marks(one.observe_unix_s):
            assert mark.expire_unix_s is not None
            assert mark.expire_unix_s - one.observe_unix_s <= 7 * DAY + 300


@pytest.mark.spec("CRD-93")
@settings(max_examples=40)
@given(st.lists(histories, min_size=1, max_size=3))
def test_nobody_starves_while_anybody_is_free(many: list[list[Report]]) -> None:
    stories = [Story(claude(f"c{n}")) for n in range(len(many))]
    for story, history in zip(stories, many, strict=True):
        for one in history:
            story.see(one)
    now = NOW + 9 * HOUR
    pool = [story.credential for story in stories]
    free = [c.id for c in pool if standing_of(c, MODEL, now).verdict is None]
    assert bool(Turns(*pool).picked(now=now)) == bool(free)


@pytest.mark.spec("CRD-45", "CRD-174")
@settings(max_examples=40)
@given(histories, st.randoms(use_true_random=False))
def test_warnings_do_not_depend_on_the_order_of_arrival(
    history: list[Report], order: object
) -> None:
    successes = [one for one in history if one.http_status == 200]
    seen: dict[float, Report] = {one.observe_unix_s: one for one in successes}
    in_order = sorted(seen.values(), key=lambda one: one.observe_unix_s)
    shuffled = list(in_order)
    order.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis gives a Random
    end = 9 * HOUR
    straight, mixed = Story(claude()), Story(claude())
    for one in in_order:
        straight.see(one, now=end)
    for one in shuffled:
        mixed.see(one, now=end)
    assert straight.warned(end) == mixed.warned(end)


def test_ended_marks_are_forgotten_after_a_while() -> None:
    story = Story(claude()).hear(0, unified(w5h="allowed_warning")).hear(1, unified("allowed"))
    assert [mark.end_unix_s for mark in story.credential.marks] == [NOW + 1]
    story.see(at(2 + MEMORY_OF_ENDED_S, 402))
    assert [mark.kind for mark in story.credential.marks] == [MarkKind.BILLING]


def test_a_mark_without_an_end_never_lapses() -> None:
    lasting = credential(marks=(Mark(MarkKind.QUOTA, NOW, None),))
    assert Story(lasting).sweep(99 * DAY).credential == lasting
    assert standing_of(lasting, MODEL, NOW + 99 * DAY).until_unix_s is None


@pytest.mark.spec("CRD-81", "CRD-80")
@given(
    st.sampled_from([EndKind.NOT_SENT, EndKind.CALLER_GONE]),
    st.sampled_from([None, 200, 401, 402, 403, 404, 408, 429, 500, 503]),
    st.sampled_from([b"", b"credit balance is too low", b'{"error":{"type":"permission_error"}}']),
    st.sampled_from([(), unified("rejected", w5h="rejected"), unified(oi="allowed_warning")]),
)
def test_what_the_router_did_itself_is_held_against_nobody(
    kind: EndKind, status: int | None, body: bytes, headers: tuple[tuple[str, str], ...]
) -> None:
    one = ended(status, body, end_kind=kind, headers=headers)
    story = Story(claude()).see(one)
    assert (story.writes, story.transitions, story.doubts) == (0, [], [])
    setbacks = Setbacks(60, FakeClock())
    setbacks.observe("c1", one)
    assert not setbacks.of("m")
