"""Where everybody waits for long, one request now and then may try."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.credentials.model import Bucket, Credential, Mark, MarkKind, Verdict
from services.credentials.policy.selection import verdicts
from services.credentials.policy.trial import Trials, begun, with_trial
from tests.unit.credentials.cases import MODEL, NOW, Turns, credential

DAY = 86_400.0
SPENT = Mark(MarkKind.QUOTA, NOW, NOW + 5 * DAY, window="7d")
UNPAID = Mark(MarkKind.BILLING, NOW, NOW + 5 * DAY)
TRIALS = Trials()


def tried(*pool: Credential, seconds: float = 900, trials: Trials = TRIALS) -> str:
    """Return the id of the credential that a trial would go to; empty: none may be made."""
    decision = Turns(*pool).decide(now=NOW + seconds)
    assert decision.pick is None
    found = with_trial([decision], trials)
    if found is None:
        return ""
    pick = found[1].pick
    assert pick is not None
    assert (pick.is_trial, pick.bucket) == (True, Bucket.LAST_RESORT)
    return pick.credential.id


@pytest.mark.spec("CRD-73")
@pytest.mark.parametrize("mark", [SPENT, UNPAID])
def test_the_first_trial_comes_one_interval_after_the_block(mark: Mark) -> None:
    spent = credential("a", marks=(mark,))
    assert tried(spent, seconds=899) == ""
    assert tried(spent, seconds=900) == "a"


@pytest.mark.spec("CRD-73")
@pytest.mark.parametrize(
    "beside",
    [
        credential("b", marks=(Mark(MarkKind.QUOTA, NOW, NOW + 1_700, model_id="m"),)),
        credential("b", max_in_flight=0, marks=(replace(SPENT, expire_unix_s=NOW + 1_800),)),
    ],
)
def test_nobody_tries_where_somebody_is_free_soon(beside: Credential) -> None:
    assert tried(credential("a", marks=(SPENT,)), beside) == ""


@pytest.mark.spec("CRD-73", "CRD-8")
def test_what_is_off_or_refused_is_never_tried_and_does_not_stand_in_the_way() -> None:
    refused = credential("r", marks=(SPENT, Mark(MarkKind.AUTH, NOW, NOW + 5 * DAY)))
    off = credential("o", is_enabled=False, marks=(SPENT,))
    assert tried(off, refused) == ""
    assert tried(off, refused, credential("a", marks=(SPENT,))) == "a"


@pytest.mark.spec("CRD-73")
def test_trials_can_be_switched_off() -> None:
    spent = credential("a", marks=(SPENT,))
    assert tried(spent, trials=Trials(after_s=0)) == ""


@pytest.mark.spec("CRD-73")
def test_each_trial_waits_twice_as_long_as_the_one_before_and_two_hours_at_most() -> None:
    spent, at, pauses = credential("a", marks=(SPENT,)), NOW, []
    for _ in range(6):
        due = TRIALS.due_unix_s(spent, MODEL)
        assert due is not None
        pauses.append(due - at)
        assert begun(spent, MODEL, TRIALS, due - 1) is spent
        spent, at = begun(spent, MODEL, TRIALS, due), due
        assert begun(spent, MODEL, TRIALS, due) is spent
    assert pauses == [900, 1_800, 3_600, 7_200, 7_200, 7_200]


def test_the_highest_priority_is_tried_first_and_its_verdict_says_so() -> None:
    low = credential("low", marks=(SPENT,))
    high = credential("high", marks=(SPENT,), priority=5)
    assert tried(low, high) == "high"
    found = with_trial([Turns(low, high).decide(now=NOW + 900)], TRIALS)
    assert found is not None
    judged = {one.credential.id: one.verdict for one in verdicts(found[1])}
    assert judged == {"high": Verdict.PICKED, "low": Verdict.EXHAUSTED}
