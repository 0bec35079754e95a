"""What a 429 blocks, for whom and until when."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.credentials.model import Credential, MarkKind, OveragePolicy, Phase, Report
from services.credentials.policy.evidence import Rules
from services.credentials.policy.standing import standing_of
from services.domain.vocab import CredentialKind
from tests.unit.credentials.cases import NOW, RULES, credential
from tests.unit.credentials.policy.evidence.steps import (
    DAY,
    HOUR,
    Headers,
    Story,
    at,
    claude,
    codex,
    unified,
)

FAMILIES = {"opus-1": "opus", "opus-2": "opus", "sonnet-1": "sonnet", "haiku-1": "haiku"}
BY_FAMILY = replace(RULES, family_of=lambda model: FAMILIES.get(model, model))


def reset(seconds: float) -> str:
    return str(int(NOW + seconds))


def throttled(seconds: float = 0, hint: str = "", **more: object) -> Report:
    headers = (("retry-after", hint),) if hint else ()
    return at(seconds, 429, headers=headers, **more)


def is_blocked(story: Story, model: str, seconds: float, rules: Rules = RULES) -> bool:
    subject = rules.subject(model)
    return standing_of(story.credential, subject, NOW + seconds).verdict is not None


@pytest.mark.spec("CRD-53", "CRD-64")
@pytest.mark.parametrize("window", ["5h", "7d"])
def test_a_rejected_window_of_the_account_blocks_every_model_until_its_reset(window: str) -> None:
    statuses = {"w5h": "allowed", "w7d": "allowed", f"w{window}": "rejected"}
    story = Story(claude()).hear(
        0, unified("rejected", **statuses, **{f"{window}_reset": reset(HOUR)}), 429
    )
    assert story.blocks(0) == {window: HOUR}
    assert is_blocked(story, "never-seen", HOUR - 1)
    assert not is_blocked(story, "never-seen", HOUR)


@pytest.mark.spec("CRD-54", "CRD-50")
def test_the_included_overage_blocks_its_families_when_the_account_is_proven_free() -> None:
    story = Story(claude(), BY_FAMILY)
    claim = unified("allowed", claim="five_hour_overage_included")
    story.see(at(0, headers=claim, model_id="haiku-1"))
    proof = unified("rejected", w5h="allowed", w7d="allowed_warning", oi="rejected")
    story.see(at(1, 429, headers=(*proof, ("retry-after", "600")), model_id="opus-1"))
    assert story.blocks(1) == {"7d_oi/opus": 601.0, "7d_oi/haiku": 601.0}
    blocked = {model: is_blocked(story, model, 2, BY_FAMILY) for model in FAMILIES}
    assert blocked == {"opus-1": True, "opus-2": True, "haiku-1": True, "sonnet-1": False}
    assert story.credential.bound_families == ("haiku", "opus")


@pytest.mark.spec("CRD-55")
@pytest.mark.parametrize(
    "headers",
    [
        unified("rejected", oi="rejected"),
        unified("rejected", w5h="allowed", oi="rejected"),
        unified("rejected", w5h="allowed", w7d="strange", oi="rejected"),
        unified("rejected", w5h="allowed", w7d="allowed", oi="allowed"),
        unified("rejected"),
        unified("rejected", claim="overage"),
    ],
)
def test_without_that_proof_the_account_is_blocked(headers: Headers) -> None:
    story = Story(claude()).hear(0, (*headers, ("retry-after", "600")), 429)
    assert is_blocked(story, "another", 599)


@pytest.mark.spec("CRD-56")
@pytest.mark.parametrize(
    ("claim", "block"),
    [
        ("five_hour", "5h"),
        ("five_hour_overage_included", "5h"),
        ("seven_day", "7d"),
        ("seven_day_opus", "7d/opus"),
        ("seven_day_sonnet", "7d/opus"),
        ("seven_day_overage_included", "7d_oi/opus"),
    ],
)
@pytest.mark.parametrize("aggregate", ["", "rejected"])
def test_the_claim_decides_where_no_window_speaks(claim: str, block: str, aggregate: str) -> None:
    headers = (*unified(aggregate, claim=claim), ("retry-after", "60"))
    story = Story(claude(), BY_FAMILY).see(at(0, 429, headers=headers, model_id="opus-1"))
    assert story.blocks(0) == {block: 60.0}


@pytest.mark.spec("CRD-57")
@pytest.mark.parametrize(
    "headers",
    [
        (),
        unified("allowed", w5h="allowed", w7d="allowed_warning", oi="allowed"),
        unified(w5h="allowed", w7d="allowed", oi="allowed", claim="five_hour"),
        unified("allowed", claim="seven_day"),
    ],
)
def test_a_throttle_blocks_its_model_for_a_moment(headers: Headers) -> None:
    story = Story(claude()).hear(0, headers, 429)
    assert story.blocks(0) == {"m": 1.0}
    assert not is_blocked(story, "m2", 0)


@pytest.mark.spec("CRD-58")
def test_an_overload_is_not_the_accounts() -> None:
    body = b'{"type":"error","error":{"type":"overloaded_error","message":"busy"}}'
    for status in (429, 500, 503, 529):
        ended = at(0, status, phase=Phase.ENDED, error_body=body)
        assert Story(claude()).see(ended).credential == claude()


@pytest.mark.spec("CRD-59")
@pytest.mark.parametrize(
    ("body", "headers", "end"),
    [
        (b'"resets_at": %d, "resets_in_seconds": 9' % (NOW + 2 * DAY), (), 2 * DAY),
        (b'"resets_in_seconds": 7200', (), 7_200.0),
        (b'"resets_at": 5', (), 1.0),
        (
            b'"plan_type":"plus"',
            (("x-codex-primary-used-percent", "100"), ("x-codex-primary-reset-at", reset(HOUR))),
            HOUR,
        ),
        (b'"plan_type":"plus"', (), 1.0),
    ],
)
def test_a_codex_plan_that_is_used_up_blocks_every_model(
    body: bytes, headers: Headers, end: float
) -> None:
    text = b'{"error":{"type":"usage_limit_reached", %s}}' % body
    ended = at(0, 429, phase=Phase.ENDED, error_body=text, headers=headers)
    story = Story(codex()).see(ended)
    assert list(story.blocks(0).values()) == [end]
    assert is_blocked(story, "another", end - 0.5)
    keyed = Story(credential()).see(ended)
    assert not is_blocked(keyed, "another", 0)


@pytest.mark.spec("CRD-60")
@pytest.mark.parametrize(
    ("quota", "delay", "end"),
    [
        ("GenerateRequestsPerMinutePerProject", "37.5s", 37.5),
        # The test's instant is 15:06:40 in summer; the day ends at 07:00 UTC.
        ("GenerateRequestsPerDayPerProject", "37.5s", 57_200.0),
    ],
)
def test_a_daily_quota_lasts_until_the_vendors_midnight(quota: str, delay: str, end: float) -> None:
    body = f'[{{"error":{{"details":[{{"quotaId":"{quota}"}},{{"retryDelay":"{delay}"}}]}}}}]'
    ended = at(0, 429, phase=Phase.ENDED, error_body=body.encode())
    story = Story(credential(provider="g")).see(ended)
    assert story.blocks(0) == {"m": end}
    assert Story(credential()).see(ended).blocks(0) == {"m": 1.0}


@pytest.mark.spec("CRD-61")
@pytest.mark.parametrize("status", [200, 429])
def test_a_rejected_window_with_overage_follows_the_policy(status: int) -> None:
    headers = unified("rejected", w7d="rejected", overage__status="allowed", w7d_reset=reset(HOUR))
    found = {
        policy: Story(claude(overage=policy)).hear(0, headers, status) for policy in OveragePolicy
    }
    short = {"m": 1.0} if status == 429 else {}
    last_resort, deny, allow = found.values()
    assert last_resort.marks(0, MarkKind.OVERAGE) == {"": HOUR}
    assert last_resort.blocks(0) == short
    assert deny.blocks(0) == {"7d": HOUR}
    assert deny.marks(0, MarkKind.OVERAGE) == {}
    assert (allow.marks(0, MarkKind.OVERAGE), allow.blocks(0)) == ({}, short)


@pytest.mark.spec("CRD-63")
def test_a_refused_feature_blocks_nothing_else() -> None:
    story = Story(claude()).see(
        at(0, 429, refused_feature="fast", headers=(("retry-after", "60"),))
    )
    assert [(mark.feature, mark.expire_unix_s) for mark in story.credential.marks] == [
        ("fast", NOW + 60)
    ]
    assert not is_blocked(story, "m", 0)


@pytest.mark.spec("CRD-63", "CRD-65")
@pytest.mark.parametrize(("account", "longest_s"), [(claude(), 7 * DAY), (credential(), DAY)])
def test_a_hint_about_a_feature_is_believed_as_any_other(
    account: Credential, longest_s: float
) -> None:
    story = Story(account).see(
        at(0, 429, refused_feature="fast", headers=(("retry-after-ms", "1e33"),))
    )
    assert [mark.expire_unix_s for mark in story.credential.marks] == [NOW + longest_s]


@pytest.mark.spec("CRD-64")
def test_the_latest_of_all_resets_and_waits_decides() -> None:
    headers = unified(
        "rejected",
        w5h="rejected",
        w7d="rejected",
        w5h_reset=reset(HOUR),
        w7d_reset=reset(2 * DAY),
        reset=reset(6 * DAY),
    )
    story = Story(claude()).hear(0, headers, 429)
    assert story.blocks(0) == {"5h": HOUR, "7d": 2 * DAY}
    story = Story(claude()).hear(0, (*headers, ("retry-after", str(3 * DAY))), 429)
    assert story.longest(0) == 3 * DAY
    alone = unified("rejected", w5h="allowed", w7d="rejected")
    story = Story(claude()).hear(0, (*alone, ("retry-after", "124633")), 429)
    assert story.blocks(0) == {"7d": 124_633.0}
    unstated = unified("rejected", w7d="rejected", reset=reset(DAY))
    assert Story(claude()).hear(0, unstated, 429).blocks(0) == {"7d": DAY}


@pytest.mark.spec("CRD-65")
@pytest.mark.parametrize(
    ("one", "headers", "end"),
    [
        (claude(), unified("rejected", w5h="rejected"), 5 * HOUR + 300),
        (claude(), unified("rejected", w7d="rejected"), 7 * DAY + 300),
        (claude(), unified("rejected", w5h="rejected", w7d="rejected"), 7 * DAY + 300),
        (claude(), (), 7 * DAY),
        (credential(), (), DAY),
        (credential(kind=CredentialKind.GATEWAY), (), DAY),
    ],
)
def test_no_hint_outlives_the_longest_window(one: object, headers: Headers, end: float) -> None:
    story = Story(one)  # type: ignore[arg-type]  # a table's column
    story.hear(0, (*headers, ("retry-after", str(60 * DAY))), 429)
    assert story.longest(0) == end


@pytest.mark.spec("CRD-66")
def test_a_throttle_without_a_hint_climbs_a_ladder() -> None:
    story, seconds, waits = Story(credential()), 0.0, []
    for _ in range(14):
        story.see(throttled(seconds))
        (end,) = story.blocks(seconds).values()
        assert end is not None
        waits.append(end - seconds)
        seconds = end
    assert waits[:4] == [1, 2, 4, 8]
    assert waits[-1] == RULES.ladder_ceiling_s
    slow = replace(RULES, ladder_base_s=5.0, ladder_ceiling_s=7.0)
    other = Story(credential(), slow).see(throttled(0)).see(throttled(5))
    assert other.blocks(5) == {"m": 12.0}


@pytest.mark.spec("CRD-67")
@given(st.lists(st.floats(0, 0.99), min_size=1, max_size=100))
def test_failures_inside_a_window_raise_the_level_once(times: list[float]) -> None:
    story = Story(credential()).see(throttled(0))
    for seconds in sorted(times):
        story.see(throttled(seconds))
    assert [mark.level for mark in story.credential.marks] == [0]
    assert story.blocks(0.99) == {"m": 1.0}
    # They were sent before the window opened and land after it closed: still one failure.
    for seconds in sorted(times):
        story.see(throttled(2 + seconds, sent=-1))
    assert story.blocks(2) == {}
    assert story.see(throttled(3)).credential.active_marks(NOW + 3)[0].level == 1


@pytest.mark.spec("CRD-68")
def test_a_later_hint_extends_and_a_shorter_one_does_not() -> None:
    story = Story(credential()).see(throttled(0, "1")).see(throttled(0.25, "60"))
    assert story.blocks(1) == {"m": 60.25}
    assert story.see(throttled(1, "2")).blocks(1) == {"m": 60.25}
    assert [mark.level for mark in story.credential.marks] == [0]
    assert story.lines == [(False, "", "rejection")]
    late = Story(credential()).see(throttled(0, "1")).see(throttled(0.25, "60"), now=5)
    assert late.blocks(5) == {"m": 60.25}


@pytest.mark.spec("CRD-69")
def test_a_hint_moves_the_end_and_not_the_level() -> None:
    story = Story(credential()).see(throttled(0, "60")).see(throttled(60))
    assert story.blocks(60) == {"m": 62.0}


@pytest.mark.spec("CRD-76")
def test_without_cooling_a_throttle_blocks_nothing_and_warnings_still_count() -> None:
    off = replace(claude(), is_cooling=False)
    story = Story(off).hear(0, unified("rejected", w5h="rejected", w5h_reset=reset(HOUR)), 429)
    assert not is_blocked(story, "m", 0)
    assert story.blocks(0) == {"5h": HOUR}
    assert story.hear(1, unified(w7d="allowed_warning")).warned(1) == {"7d"}


@pytest.mark.spec("CRD-79")
@given(
    st.sampled_from([400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 529]),
    st.sampled_from(
        [
            b"",
            b"credit balance is too low",
            b'{"error":{"type":"permission_error"}}',
            b'{"error":{"type":"overloaded_error"}}',
            b'{"error":{"type":"usage_limit_reached"}}',
        ]
    ),
    st.sampled_from([CredentialKind.API_KEY, CredentialKind.CLAUDE_OAUTH]),
)
def test_one_answer_without_a_deadline_blocks_for_half_an_hour_at_most(
    status: int, body: bytes, kind: CredentialKind
) -> None:
    story = Story(credential(kind=kind)).see(at(0, status, phase=Phase.ENDED, error_body=body))
    assert all(end is not None and end <= 1_800 for end in story.marks(0).values())
