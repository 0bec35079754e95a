"""How a credential stands towards a model: free, de-preferred or blocked, and until when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.credentials.model import Bucket, MarkKind, Verdict

if TYPE_CHECKING:
    from services.credentials.model import Credential, Mark, Subject

NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Standing:
    """What the marks of a credential say about one model at one instant."""

    bucket: Bucket = Bucket.CLEAN
    verdict: Verdict | None = None
    """Why it is blocked; None: it is not."""
    until_unix_s: float | None = None
    """When the block, or the mark that sets it back, lapses; None: not by itself."""
    window: str = ""
    change_unix_s: float = NEVER
    """Earliest instant at which time alone changes this."""


CLEAN = Standing()

_VERDICTS = {
    MarkKind.QUOTA: Verdict.COOLING,
    MarkKind.BILLING: Verdict.COOLING,
    MarkKind.AUTH: Verdict.AUTH,
    MarkKind.UNSUPPORTED: Verdict.UNSUPPORTED,
}
_SEVERITY = {kind: rank for rank, kind in enumerate(_VERDICTS)}
_BUCKETS = {MarkKind.WARNING: Bucket.WARNED, MarkKind.OVERAGE: Bucket.OVERAGE}


def standing_of(credential: Credential, subject: Subject, now_unix_s: float) -> Standing:
    """Return how a credential stands towards a model now."""
    if not credential.marks:
        return CLEAN
    blocks: list[Mark] = []
    soft: Mark | None = None
    bucket, change = Bucket.CLEAN, NEVER
    for mark in credential.marks:
        if not (mark.is_active(now_unix_s) and credential.is_concerned(mark, subject)):
            continue
        lower = _BUCKETS.get(mark.kind)
        if lower is None:
            if mark.kind is MarkKind.QUOTA and not credential.is_cooling:
                continue
            blocks.append(mark)
        elif lower > bucket:
            bucket, soft = lower, mark
        if mark.expire_unix_s is not None:
            change = min(change, mark.expire_unix_s)
    if not blocks:
        if soft is None:
            return CLEAN
        return Standing(bucket, None, soft.expire_unix_s, soft.window, change)
    worst = max(blocks, key=lambda mark: (_SEVERITY[mark.kind], bool(mark.window)))
    verdict = _VERDICTS[worst.kind]
    if worst.kind is MarkKind.QUOTA and worst.window:
        verdict = Verdict.EXHAUSTED
    return Standing(bucket, verdict, _last_end(blocks), worst.window, change)


def _last_end(marks: list[Mark]) -> float | None:
    """Return when the last of some marks lapses; None: one of them never does."""
    latest = 0.0
    for mark in marks:
        if mark.expire_unix_s is None:
            return None
        latest = max(latest, mark.expire_unix_s)
    return latest
