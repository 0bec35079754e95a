"""Trials: where every account is blocked for long, one live request now and then may try one.

Quota sometimes returns before the reset that an upstream named; nobody would know otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.credentials.model import (
    SOFT_MARKS,
    Bucket,
    Cursor,
    CursorKey,
    MarkKind,
    Pick,
    Strategy,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.credentials.model import Credential, Decision, Judged, Subject

_BY_QUOTA = frozenset({MarkKind.QUOTA, MarkKind.BILLING})
_WAITING = frozenset({Verdict.COOLING, Verdict.EXHAUSTED})
_SOON_FREE = frozenset({Verdict.BUSY, Verdict.EDGE})


@dataclass(frozen=True, slots=True)
class Trials:
    """When a trial may be made; times in seconds."""

    after_s: float = 900.0
    """Wait that must be exceeded; 0: no trials."""
    interval_s: float = 900.0
    """Pause before the first trial; each further one waits twice as long."""
    ceiling_s: float = 7_200.0

    @property
    def is_on(self) -> bool:
        """Whether trials are made at all."""
        return self.after_s > 0 and self.interval_s > 0

    def due_unix_s(self, credential: Credential, subject: Subject) -> float | None:
        """Return from when on a credential may be tried; None: it is blocked by more than quota."""
        blocks = [
            mark
            for mark in credential.marks
            if mark.end_unix_s is None and mark.kind not in SOFT_MARKS and mark.concerns(subject)
        ]
        if not blocks or any(mark.kind not in _BY_QUOTA for mark in blocks):
            return None
        newest = max(mark.observe_unix_s for mark in blocks)
        pause_s = min(self.interval_s * 2.0 ** min(credential.trial_count, 16), self.ceiling_s)
        return max(newest, credential.trial_unix_s) + pause_s


def with_trial(decisions: Sequence[Decision], trials: Trials) -> tuple[int, Decision] | None:
    """Return the decision that a trial turns into a pick, and its place; None: none may be made.

    A trial is for the case that everybody waits, and nobody for less than the rule's time: not
    where somebody is only busy, or behind an edge that asks for a human.
    """
    judged = [one for decision in decisions for one in decision.barred]
    waits = [one.until_unix_s for one in judged if one.verdict in _WAITING]
    if not (trials.is_on and waits) or any(one.verdict in _SOON_FREE for one in judged):
        return None
    now_unix_s = decisions[0].now_unix_s
    if any(until is not None and until - now_unix_s <= trials.after_s for until in waits):
        return None
    for index, decision in enumerate(decisions):
        due = [one for one in decision.barred if _is_due(one, decision, trials)]
        if due:
            chosen = min(due, key=lambda one: _rank(one.credential)).credential
            return index, _picked(decision, chosen)
    return None


def begun(credential: Credential, subject: Subject, trials: Trials, now: float) -> Credential:
    """Return a credential of which a trial begins; the same value where somebody was faster."""
    due = trials.due_unix_s(credential, subject)
    if due is None or due > now or not credential.is_usable:
        return credential
    return replace(credential, trial_count=credential.trial_count + 1, trial_unix_s=now)


def _is_due(one: Judged, decision: Decision, trials: Trials) -> bool:
    if one.verdict not in _WAITING:
        return False
    due = trials.due_unix_s(one.credential, decision.subject)
    return due is not None and due <= decision.now_unix_s


def _rank(credential: Credential) -> tuple[int, float, str]:
    return (-credential.priority, credential.trial_unix_s, credential.id)


def _picked(decision: Decision, credential: Credential) -> Decision:
    priority, binding = credential.priority, decision.binding
    key = CursorKey("", binding.provider, decision.subject.model_id, Bucket.LAST_RESORT, priority)
    pick = Pick(
        credential, Bucket.LAST_RESORT, priority, Strategy.SOLE, False, key, Cursor(), is_trial=True
    )
    return replace(decision, pick=pick)
