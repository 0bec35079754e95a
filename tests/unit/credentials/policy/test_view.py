"""Views are what looking at every candidate anew would say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.credentials.model import Bucket, Credential, Mark, MarkKind, Pool, Subject, Verdict
from services.credentials.policy.evidence import Rules
from services.credentials.policy.selection import verdicts
from services.credentials.policy.standing import NEVER, standing_of
from services.credentials.policy.view import View
from services.domain.vocab import CredentialKind
from tests.unit.credentials.cases import MODEL, NOW, Turns, credential

marks = st.builds(
    Mark,
    st.sampled_from(MarkKind),
    st.just(NOW),
    st.sampled_from([None, NOW + 1, NOW + 2, NOW + 3]),
    st.sampled_from(["", "m", "m2"]),
    window=st.sampled_from(["", "5h"]),
)
pools = st.lists(
    st.tuples(st.lists(marks, max_size=3), st.integers(0, 1), st.booleans()), max_size=5
).map(
    lambda rows: tuple(
        credential(f"c{n}", marks=tuple(found), priority=priority, is_enabled=enabled)
        for n, (found, priority, enabled) in enumerate(rows)
    )
)


@settings(max_examples=60)
@given(pools, pools, st.lists(st.floats(0, 4), max_size=4).map(sorted))
def test_a_view_that_builds_on_an_earlier_one_is_the_same(
    lane: tuple[Credential, ...], other: tuple[Credential, ...], times: list[float]
) -> None:
    kept: View | None = None
    for turn, seconds in enumerate(times):
        shown = lane if turn % 2 else (*lane[:1], *other[1:])
        kept = View.of(shown, MODEL, NOW + seconds, kept)
        assert kept == View.of(shown, MODEL, NOW + seconds)


@settings(max_examples=60)
@given(pools, st.floats(0, 4))
def test_nothing_changes_before_a_view_says_so(lane: tuple[Credential, ...], at: float) -> None:
    view = View.of(lane, MODEL, NOW)
    now = NOW + at
    if now < view.change_unix_s:
        fresh = View.of(lane, MODEL, now)
        assert (fresh.free, fresh.tier) == (view.free, view.tier)


@pytest.mark.spec("CRD-113", "DSP-95")
def test_a_model_beyond_the_codex_plan_is_for_other_credentials() -> None:
    codex = credential("codex", kind=CredentialKind.CODEX_OAUTH)
    key = credential("key")
    beyond = Subject("m", "m", is_beyond_codex=True)
    assert View.of((codex, key), MODEL, NOW).free == (codex, key)
    view = View.of((codex, key), beyond, NOW)
    assert view.free == (key,)
    assert [(one.credential.id, one.verdict) for one in view.barred] == [("codex", Verdict.PLAN)]


@pytest.mark.spec("CRD-113")
def test_a_question_without_a_model_is_about_no_plan() -> None:
    rules = Rules(is_beyond_codex=lambda _: True)
    assert rules.subject("m").is_beyond_codex
    assert not rules.subject("").is_beyond_codex


def test_a_standing_tells_the_worst_and_the_last_end() -> None:
    both = credential(
        marks=(
            Mark(MarkKind.QUOTA, NOW, NOW + 5, model_id="m"),
            Mark(MarkKind.QUOTA, NOW, NOW + 3, window="7d"),
            Mark(MarkKind.WARNING, NOW, NOW + 9, window="5h"),
        )
    )
    found = standing_of(both, MODEL, NOW)
    assert (found.verdict, found.window, found.until_unix_s) == (
        Verdict.EXHAUSTED,
        "7d",
        NOW + 5,
    )
    assert (found.bucket, found.change_unix_s) == (Bucket.WARNED, NOW + 3)
    later = standing_of(both, Subject("x", "x"), NOW + 3)
    assert (later.verdict, later.bucket, later.window) == (None, Bucket.WARNED, "5h")
    assert standing_of(both, MODEL, NOW + 9).change_unix_s == NEVER


@pytest.mark.spec("CRD-82")
def test_a_transient_failure_sets_back_and_starves_nobody() -> None:
    turns = Turns(credential("a"), credential("b"))
    assert {turns.picked(setbacks={"a": 9.0}) for _ in range(3)} == {"b"}
    both = {"a": 9.0, "b": 5.0}
    found = turns.decide(setbacks=both)
    assert found.pick is not None
    assert (found.pick.credential.id, found.pick.bucket) == ("b", Bucket.LAST_RESORT)
    assert turns.picked(bound="a", setbacks={"a": 9.0}) == "a"
    judged = {one.credential.id: one.verdict for one in verdicts(found)}
    assert judged == {"a": Verdict.NOT_THIS_TURN, "b": Verdict.PICKED}


@pytest.mark.spec("CRD-101")
def test_a_session_may_keep_a_warned_credential_where_it_is_told_to() -> None:
    warned = credential("w", marks=(Mark(MarkKind.WARNING, NOW, NOW + 9, window="5h"),))
    clean = credential("c")
    assert Turns(warned, clean).picked(bound="w") == "c"
    assert Turns(warned, clean, survives_warning=True).picked(bound="w") == "w"


@pytest.mark.spec("CRD-6")
def test_a_pool_with_a_change_is_the_pool_built_anew() -> None:
    before = Pool.of(1, [credential("a"), credential("b"), credential("x", provider="q")])
    lane, other = before.visible_to("t", "p"), before.visible_to("t", "q")
    marked = credential("b", marks=(Mark(MarkKind.QUOTA, NOW, NOW + 9),))
    after = before.after(2, {"b": marked})
    assert after == Pool.of(2, [credential("a"), marked, credential("x", provider="q")])
    assert after.visible_to("t", "q") is other
    assert after.visible_to("t", "p") != lane
    moved = credential("b", installation_id="t")
    assert before.after(2, {"b": moved}).visible_to("t", "p") == (moved,)
    assert before.lane_of("t1", "p")[1] is before.lane_of("t2", "p")[1]
