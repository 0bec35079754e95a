"""What one report does to a credential's marks.

One pure function, :func:`next_marks`; that something changed is ``after != before``.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from services.credentials.model import EndKind, Mark, MarkKind, Phase, Transition
from services.credentials.policy.matching import canonical_model
from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.credentials.model import Credential, Report

LADDER_BASE_S = 1.0
LADDER_CEILING_S = 1_800.0
AUTH_BLOCK_S = 300.0
BILLING_BLOCK_S = 1_800.0
MODEL_NOT_FOUND_S = 3_600.0
MAX_HINT_S = 7 * 86_400.0
MAX_KEY_HINT_S = 86_400.0
"""Longest wait believed from a key's upstream; plans have windows of up to seven days."""
MEMORY_OF_LEVELS_S = 3_600.0
"""How long a lapsed mark keeps its step of the ladder."""

_BILLING_WORDS = (b"insufficient_quota", b"credit balance is too low", b"billing_hard_limit")


class Effect(enum.Enum):
    """What a report says about the credential."""

    NOTHING = enum.auto()
    SUCCESS = enum.auto()
    THROTTLED = enum.auto()
    REFUSED = enum.auto()
    UNPAID = enum.auto()
    NO_SUCH_MODEL = enum.auto()


def effect_of(report: Report) -> Effect:
    """Return the one class that a report falls into.

    A missing status is no success; a caller who left, a request fault, an overload and a failure
    of the provider say nothing about the credential.
    """
    if report.end_kind in (EndKind.CALLER_GONE, EndKind.NOT_SENT) or report.phase is Phase.ALIVE:
        return Effect.NOTHING
    if report.is_model_not_found:
        return Effect.NO_SUCH_MODEL
    match report.http_status:
        case 402:
            return Effect.UNPAID
        case 401 if not report.is_challenge_page:
            return Effect.REFUSED
        case 400 | 403 | 429 if _is_about_money(report.error_body):
            return Effect.UNPAID
        case 429:
            return Effect.THROTTLED
        case int(status) if 200 <= status < 300:
            is_broken = report.end_kind in (EndKind.FAILED, EndKind.EMPTY_STREAM)
            return Effect.NOTHING if is_broken else Effect.SUCCESS
        case _:
            return Effect.NOTHING


def is_stale(credential: Credential, report: Report) -> bool:
    """Return whether a report is about an older secret and so says nothing about this one."""
    return 0 < report.credential_version < credential.credential_version and effect_of(report) in (
        Effect.REFUSED,
        Effect.UNPAID,
    )


def next_marks(credential: Credential, report: Report, now_unix_s: float) -> tuple[Mark, ...]:
    """Return the marks of a credential after one report.

    Lapsed marks stay for an hour, so that a second throttle soon after climbs the ladder.
    """
    before = tuple(m for m in credential.marks if not _is_forgotten(m, now_unix_s))
    if is_stale(credential, report):
        return before
    match effect_of(report):
        case Effect.SUCCESS:
            return tuple(m for m in before if not _is_cleared_by(m, report))
        case Effect.THROTTLED:
            return _with(before, _throttle(credential, before, report, now_unix_s))
        case Effect.REFUSED:
            return _with(before, _block(before, MarkKind.AUTH, AUTH_BLOCK_S, now_unix_s))
        case Effect.UNPAID:
            return _with(before, _block(before, MarkKind.BILLING, BILLING_BLOCK_S, now_unix_s))
        case Effect.NO_SUCH_MODEL if credential.spec.kind is CredentialKind.GATEWAY:
            # Vendors are never remembered: what they do not know now they may know at once.
            block = _block(before, MarkKind.UNSUPPORTED, MODEL_NOT_FOUND_S, now_unix_s)
            return _with(before, replace(block, model_id=canonical_model(report.model_id)))
        case _:
            return before


def cleared_by_operator(marks: Iterable[Mark], model_id: str) -> tuple[Mark, ...]:
    """Return the marks left after a reset, of one model or (empty) of all."""
    wanted = canonical_model(model_id)
    return tuple(mark for mark in marks if wanted and mark.model_id != wanted)


def transitions(
    credential: Credential, after: tuple[Mark, ...], cause: str, now_unix_s: float
) -> tuple[Transition, ...]:
    """Return what changed between a credential's marks and ``after``, lapsed ones aside."""
    before = {mark.key: mark for mark in credential.active_marks(now_unix_s)}
    kept = {mark.key: mark for mark in after if mark.is_active(now_unix_s)}
    gone = [
        Transition(credential.fingerprint, mark, is_cleared=True, cause=cause)
        for key, mark in before.items()
        if key not in kept
    ]
    new = [
        Transition(credential.fingerprint, mark, is_cleared=False, cause=cause)
        for key, mark in kept.items()
        if before.get(key) != mark
    ]
    return (*gone, *new)


def retry_after_s(headers: Iterable[tuple[str, str]], now_unix_s: float) -> float | None:
    """Return the wait that ``retry-after-ms`` or ``retry-after`` states; None: none that counts."""
    found = {name.lower(): value.strip() for name, value in headers}
    wait_s = _number(found.get("retry-after-ms", ""))
    wait_s = None if wait_s is None else wait_s / 1000
    if wait_s is None:
        text = found.get("retry-after", "")
        wait_s = _number(text)
        if wait_s is None and text:
            wait_s = _until_date(text, now_unix_s)
    return wait_s if wait_s is not None and wait_s > 0 else None


def _throttle(
    credential: Credential, marks: tuple[Mark, ...], report: Report, now_unix_s: float
) -> Mark:
    model_id = canonical_model(report.model_id)
    old = next(
        (m for m in marks if m.kind is MarkKind.QUOTA and m.model_id == model_id and not m.window),
        None,
    )
    hint_s = retry_after_s(report.headers, now_unix_s)
    limit_s = MAX_HINT_S if credential.spec.kind not in _KEY_KINDS else MAX_KEY_HINT_S
    until = None if hint_s is None else now_unix_s + min(hint_s, limit_s)
    if old is not None and old.is_active(now_unix_s):
        # Failures inside an open window are one failure; only a later hint moves its end.
        if until is None or until <= (old.expire_unix_s or 0.0):
            return old
        return replace(old, expire_unix_s=until)
    level = 0 if old is None else old.level + 1
    if until is None:
        until = now_unix_s + min(LADDER_BASE_S * 2.0 ** min(level, 32), LADDER_CEILING_S)
    return Mark(MarkKind.QUOTA, now_unix_s, until, model_id=model_id, level=level)


def _block(marks: tuple[Mark, ...], kind: MarkKind, length_s: float, now_unix_s: float) -> Mark:
    old = next((mark for mark in marks if mark.kind is kind and not mark.model_id), None)
    if old is not None and old.is_active(now_unix_s):
        return old
    level = 0 if old is None else old.level + 1
    return Mark(kind, now_unix_s, now_unix_s + length_s, level=level)


def _with(marks: tuple[Mark, ...], new: Mark) -> tuple[Mark, ...]:
    return (*(mark for mark in marks if mark.key != new.key), new)


def _is_cleared_by(mark: Mark, report: Report) -> bool:
    """A success proves what it used: its model, its secret, its money; sent before the mark,
    it proves nothing."""
    if report.send_unix_s is None or report.send_unix_s < mark.observe_unix_s or mark.window:
        return False
    if mark.kind in (MarkKind.AUTH, MarkKind.BILLING):
        return True
    return mark.kind in (MarkKind.QUOTA, MarkKind.UNSUPPORTED) and mark.concerns(
        canonical_model(report.model_id)
    )


def _is_forgotten(mark: Mark, now_unix_s: float) -> bool:
    end = mark.expire_unix_s
    return end is not None and end + MEMORY_OF_LEVELS_S <= now_unix_s


def _is_about_money(body: bytes) -> bool:
    folded = body[:8192].lower()
    return any(word in folded for word in _BILLING_WORDS)


def _number(text: str) -> float | None:
    if not text or len(text) > 40:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _until_date(text: str, now_unix_s: float) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() - now_unix_s
    except (TypeError, ValueError, OverflowError):
        return None


_KEY_KINDS = frozenset({CredentialKind.API_KEY, CredentialKind.GATEWAY, CredentialKind.NONE})
