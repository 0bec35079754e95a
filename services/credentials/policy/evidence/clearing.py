"""What a success proves, and which blocks it lifts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.model import Cause, MarkKind
from services.credentials.policy.evidence.draft import STARTS_ANEW
from services.credentials.policy.evidence.headers import Status

if TYPE_CHECKING:
    from services.credentials.model import Mark, Report, Subject
    from services.credentials.policy.evidence.draft import Draft
    from services.credentials.policy.evidence.headers import Signals

_MEASURED = frozenset({MarkKind.QUOTA, MarkKind.UNSUPPORTED, MarkKind.AUTH, MarkKind.BILLING})


def apply_success(
    draft: Draft, report: Report, signals: Signals, subject: Subject, observe_unix_s: float
) -> None:
    """Lift the blocks that a success disproves; sent before a block was set, it proves nothing."""
    send = report.send_unix_s
    if send is None:
        return
    for mark in tuple(draft.marks.values()):
        if mark.kind not in _MEASURED or mark.feature or send < mark.observe_unix_s:
            continue
        cause = _disproof(mark, signals, subject)
        if cause is None:
            continue
        if mark.end_unix_s is None:
            draft.end(mark, observe_unix_s, cause, level=STARTS_ANEW)
        elif mark.level != STARTS_ANEW and observe_unix_s >= mark.end_unix_s:
            draft.forget_level(mark)


def _disproof(mark: Mark, signals: Signals, subject: Subject) -> Cause | None:
    """Return why a mark does not hold any more; None: it may."""
    if mark.kind is not MarkKind.QUOTA or mark.model_id:
        return Cause.SUCCESS if mark.concerns(subject) else None
    window = signals.window(mark.window)
    if window is not None and window.status is Status.REJECTED:
        return None
    if window is not None and window.is_recovered:
        return Cause.EVIDENCE
    return Cause.SUCCESS if mark.concerns(subject) and not signals.is_paid else None
