"""Early warnings: what sets a window's mark, what clears it, and what leaves it alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.credentials.model import EndKind, Mark, MarkKind, OveragePolicy, Phase
from tests.unit.credentials.cases import NOW, RULES, Turns, credential, query
from tests.unit.credentials.policy.evidence.steps import (
    DAY,
    HOUR,
    UNIFIED,
    Story,
    at,
    claude,
    codex,
    unified,
)


def soon(seconds: float) -> str:
    return str(int(NOW + seconds))


def warned_by(window: str = "5h", seconds: float = HOUR) -> Story:
    headers = ((f"{UNIFIED}{window}-status", "allowed_warning"),)
    return Story(claude()).hear(0, (*headers, (f"{UNIFIED}{window}-reset", soon(seconds))))


STATUSES = ("", "allowed", "allowed_warning", "rejected", "strange")


@pytest.mark.spec("CRD-30", "CRD-31", "CRD-32", "CRD-33", "CRD-34", "CRD-35", "CRD-36", "CRD-37")
@pytest.mark.parametrize("is_warned", [False, True])
@pytest.mark.parametrize("own", STATUSES)
@pytest.mark.parametrize("aggregate", STATUSES)
@pytest.mark.parametrize("status", [200, 429, 500])
def test_the_table_of_a_windows_mark(
    status: int, aggregate: str, own: str, is_warned: bool
) -> None:
    story = warned_by() if is_warned else Story(claude())
    story.hear(60, unified(aggregate, w5h=own), status)
    expected = is_warned
    if status == 200 and own == "allowed_warning":
        expected = True
    elif (status == 200 and own == "allowed") or (
        status == 200 and aggregate == "allowed" and own != "rejected"
    ):
        expected = False
    assert story.warned(60) == ({"5h"} if expected else set())


@pytest.mark.spec("CRD-32")
def test_a_window_recovers_while_another_warns() -> None:
    story = warned_by().hear(60, unified("allowed_warning", w5h="allowed", oi="allowed_warning"))
    assert story.warned(60) == {"7d_oi"}
    assert story.lines == [
        (False, "5h", "own_status"),
        (True, "5h", "own_status"),
        (False, "7d_oi", "own_status"),
    ]


@pytest.mark.spec("CRD-33", "CRD-46")
def test_the_aggregate_clears_every_window_with_a_line_each() -> None:
    story = Story(claude()).hear(
        0, unified(w5h="allowed_warning", w7d="allowed_warning", oi="allowed_warning")
    )
    story.hear(9, unified("allowed"))
    assert story.warned(9) == set()
    assert [line for line in story.lines if line[0]] == [
        (True, window, "aggregate") for window in ("5h", "7d", "7d_oi")
    ]


@pytest.mark.spec("CRD-34")
@pytest.mark.parametrize("own", ["allowed_warning", "rejected"])
def test_a_windows_own_word_beats_the_aggregate_and_the_contradiction_is_counted(own: str) -> None:
    story = warned_by().hear(9, unified("allowed", w5h=own))
    assert story.warned(9) == {"5h"}
    assert [doubt.kind for doubt in story.doubts] == ["contradiction"]


@pytest.mark.spec("CRD-38")
def test_a_mark_counts_until_its_reset_swept_or_not() -> None:
    story = warned_by(seconds=60)
    assert (story.warned(59.9), story.warned(60)) == ({"5h"}, set())


@pytest.mark.spec("CRD-39", "CRD-46")
def test_a_sweep_tells_of_a_lapsed_mark_once() -> None:
    story = warned_by(seconds=60).sweep(59).sweep(60).sweep(61)
    assert story.lines[1:] == [(True, "5h", "reset")]
    assert story.writes == 2


@pytest.mark.spec("CRD-40")
def test_without_a_reset_a_mark_lasts_half_an_hour_and_no_longer_than_its_window() -> None:
    story = Story(claude()).hear(0, unified(w5h="allowed_warning"))
    assert story.marks(0) == {"5h": 1_800.0}
    patient = replace(RULES, warning_fallback_age_s=9 * HOUR)
    assert Story(claude(), patient).hear(0, unified(w5h="allowed_warning")).marks(0) == {
        "5h": 5 * HOUR
    }
    endless = replace(RULES, warning_fallback_age_s=0.0)
    assert Story(claude(), endless).hear(0, unified(w5h="allowed_warning")).marks(0) == {"5h": None}
    unreadable = unified(w5h="allowed_warning", w5h_reset="tomorrow")
    assert Story(claude()).hear(0, unreadable).marks(0) == {"5h": 1_800.0}


@pytest.mark.spec("CRD-41")
@pytest.mark.parametrize(
    ("window", "length"), [("5h", 5 * HOUR), ("7d", 7 * DAY), ("7d_oi", 7 * DAY)]
)
def test_a_reset_is_cut_to_the_windows_length(window: str, length: float) -> None:
    assert warned_by(window, 400 * DAY).marks(0) == {window: length + 300}


@pytest.mark.spec("CRD-42")
def test_a_warning_whose_reset_has_passed_makes_no_mark_and_no_line() -> None:
    story = warned_by(seconds=0)
    assert (story.warned(0), story.lines, story.writes) == (set(), [], 0)
    assert [doubt.kind for doubt in story.doubts] == ["past_reset"]


@pytest.mark.spec("CRD-43", "CRD-44")
def test_another_reset_is_stored_without_a_line_and_the_same_one_not_at_all() -> None:
    story = warned_by(seconds=60)
    story.hear(1, unified(w5h="allowed_warning", w5h_reset=soon(60)))
    assert story.writes == 1
    story.hear(2, unified(w5h="allowed_warning", w5h_reset=soon(90)))
    assert (story.writes, story.marks(2)) == (2, {"5h": 90.0})
    assert story.lines == [(False, "5h", "own_status")]
    story.hear(3, unified(w5h="allowed_warning"))
    assert (story.writes, story.marks(3)) == (3, {"5h": 1_803.0})


@pytest.mark.spec("CRD-45")
def test_a_stream_that_ends_late_undoes_nothing_newer() -> None:
    story = Story(claude())
    story.hear(10, unified(w5h="allowed_warning", w5h_reset=soon(HOUR)))
    story.see(at(5, headers=unified("allowed", w5h="allowed")), now=20)
    assert story.warned(20) == {"5h"}
    story.hear(30, unified(w5h="allowed"))
    story.see(at(25, headers=unified(w5h="allowed_warning", w5h_reset=soon(HOUR))), now=40)
    assert story.warned(40) == set()
    assert {doubt.kind for doubt in story.doubts} == {"stale"}
    other = Story(story.credential)
    other.see(at(25, headers=unified(w5h="allowed_warning", w5h_reset=soon(HOUR))), now=40)
    assert other.warned(40) == set()


@pytest.mark.spec("CRD-129", "CRD-44")
def test_steady_traffic_writes_at_most_once() -> None:
    clean, warned = Story(claude()), Story(claude())
    plan = Story(claude())
    for second in range(1_000):
        clean.hear(second / 10, unified("allowed", w5h="allowed", w7d="allowed", oi="allowed"))
        warned.hear(second / 10, unified("allowed_warning", oi="allowed_warning"))
        plan.hear(
            second / 10,
            unified("allowed_warning", w7d="allowed_warning", w7d_reset=soon(DAY), w5h="allowed"),
        )
    assert (clean.writes, warned.writes, plan.writes) == (0, 1, 1)


@pytest.mark.spec("CRD-5")
def test_who_left_and_what_has_no_status_say_nothing_and_a_broken_stream_did_answer() -> None:
    headers = unified(w5h="allowed_warning")
    for status, kind in ((200, EndKind.CALLER_GONE), (None, EndKind.FAILED)):
        silent = Story(claude()).see(
            at(0, status, headers=headers, phase=Phase.ENDED, end_kind=kind)
        )
        assert silent.credential == claude()
    broken = at(0, headers=headers, phase=Phase.ENDED, end_kind=EndKind.FAILED)
    assert Story(claude()).see(broken).warned(0) == {"5h"}


@pytest.mark.spec("CRD-49", "CRD-50")
def test_a_warning_of_the_included_overage_may_concern_its_families_alone() -> None:
    family = {"opus-1": "opus", "opus-2": "opus", "sonnet-1": "sonnet"}
    rules = replace(RULES, family_of=lambda model: family.get(model, model))
    for is_scoped in (False, True):
        story = Story(claude(is_overage_window_family_scoped=is_scoped), rules)
        story.hear(0, unified(oi="allowed_warning"))
        assert all(_warned_for(story, model, rules) for model in family)
        claim = unified(oi="allowed_warning", claim="seven_day_overage_included")
        story.see(at(1, headers=claim, model_id="opus-1"))
        assert story.credential.bound_families == ("opus",)
        assert _warned_for(story, "opus-2", rules)
        assert _warned_for(story, "sonnet-1", rules) is not is_scoped


def _warned_for(story: Story, model: str, rules: object) -> bool:
    from services.credentials.model import Bucket
    from services.credentials.policy.evidence import Rules
    from services.credentials.policy.standing import standing_of

    assert isinstance(rules, Rules)
    return standing_of(story.credential, rules.subject(model), NOW + 2).bucket is Bucket.WARNED


@pytest.mark.spec("CRD-51")
def test_percentages_of_codex_warn_where_they_are_told_to() -> None:
    def used(percent: str) -> tuple[tuple[str, str], ...]:
        return (
            ("x-codex-primary-used-percent", percent),
            ("x-codex-primary-reset-at", soon(HOUR)),
        )

    assert Story(codex()).hear(0, used("99")).warned(0) == set()
    story = Story(codex(), replace(RULES, codex_warn_percent=90.0))
    seen = []
    for second, percent in enumerate(["89", "90", "86", "85", "84.9"]):
        seen.append(bool(story.hear(second, used(percent)).warned(second)))
    assert seen == [False, True, True, True, False]
    assert story.hear(9, ()).warned(9) == set()


@pytest.mark.spec("CRD-62")
@pytest.mark.parametrize(
    ("headers", "is_paid"),
    [
        (unified("allowed", claim="overage"), True),
        (unified("allowed", claim="five_hour", overage__in__use="true"), True),
        (unified("allowed", claim="seven_day_overage_included"), False),
        (unified("allowed", claim="seven_day", overage__in__use="false"), False),
    ],
)
def test_paid_overage_sets_the_account_back_and_included_overage_does_not(
    headers: tuple[tuple[str, str], ...], is_paid: bool
) -> None:
    for policy in OveragePolicy:
        story = Story(claude(overage=policy)).hear(0, headers)
        kinds = {mark.kind for mark in story.credential.active_marks(NOW)}
        expected = {
            OveragePolicy.LAST_RESORT: {MarkKind.OVERAGE},
            OveragePolicy.DENY: {MarkKind.QUOTA},
            OveragePolicy.ALLOW: set(),
        }
        assert kinds == (expected[policy] if is_paid else set())


@pytest.mark.spec("CRD-62")
def test_paid_overage_ends_with_the_window_or_with_another_claim() -> None:
    story = Story(claude()).hear(0, unified("allowed", claim="overage", reset=soon(HOUR)))
    assert story.marks(0) == {"": HOUR}
    assert story.marks(HOUR) == {}
    story.hear(60, unified("allowed", claim="five_hour"))
    assert story.marks(60) == {}
    assert story.lines == [(False, "", "evidence"), (True, "", "evidence")]


@pytest.mark.spec("CRD-77")
def test_a_block_outranks_a_warning() -> None:
    block = Mark(MarkKind.QUOTA, NOW, NOW + 9, window="5h")
    both = credential(marks=(Mark(MarkKind.WARNING, NOW, NOW + 9, window="7d"), block))
    assert Turns(both).picked(query()) == ""


@pytest.mark.spec("CRD-117")
@given(
    st.sampled_from(["allowed", "allowed_warning", "rejected"]),
    st.sampled_from(["5h", "7d", "7d_oi"]),
)
def test_a_window_changes_no_other(status: str, window: str) -> None:
    story = Story(claude()).hear(
        0, unified(w5h="allowed_warning", w7d="allowed_warning", oi="allowed_warning")
    )
    story.hear(1, ((f"{UNIFIED}{window}-status", status),))
    assert story.warned(1) >= {"5h", "7d", "7d_oi"} - {window}
