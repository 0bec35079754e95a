"""Early warnings per window, and running into paid overage."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from services.credentials.model import (
    Cause,
    Mark,
    MarkKind,
    OveragePolicy,
)
from services.credentials.policy.evidence.headers import Status, WindowSignal
from services.credentials.policy.evidence.ladder import Block, put_block
from services.credentials.policy.evidence.rules import Doubt, Sight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.credentials.model import MarkKey
    from services.credentials.policy.evidence.draft import Draft
    from services.credentials.policy.evidence.headers import Signals
    from services.credentials.policy.evidence.rules import Rules, Seen

LONGEST_S = 7 * 86_400.0
"""Length of the longest window that is known."""
RESET_GRACE_S = 300.0
"""A reset is believed up to this long after the end of the longest possible window."""
SAME_RESET_S = 15.0
"""Resets that were corrected by the upstream's clock agree within this."""


def apply_warnings(
    draft: Draft, signals: Signals, rules: Rules, seen: Seen, observe_unix_s: float
) -> Seen:
    """Set and clear the warnings of every window by one success; return what was seen then.

    Only a window's own ``allowed_warning`` sets its mark. Its own ``allowed`` clears it, and so
    does the aggregate ``allowed`` unless the window itself says otherwise. Silence and
    ``rejected`` change nothing.
    """
    newest = dict(seen)
    is_all_clear = signals.aggregate is Status.ALLOWED
    for name in signals.lane:
        signal = signals.window(name)
        own = None if signal is None else signal.status
        if own in (None, Status.REJECTED) and not is_all_clear:
            continue
        if own is Status.REJECTED:
            draft.doubts.append(Doubt("contradiction", name))
            continue
        old, sight = draft.marks.get(_key(name)), newest.get(name)
        latest = max(sight.at_unix_s if sight else 0.0, old.turn_unix_s if old else 0.0)
        if observe_unix_s < latest:
            draft.doubts.append(Doubt("stale", name))
            continue
        cause = Cause.AGGREGATE if own is None else Cause.OWN_STATUS
        is_warning = own is Status.ALLOWED_WARNING
        newest[name] = Sight(observe_unix_s, None if is_warning else cause)
        if own is Status.ALLOWED_WARNING and signal is not None:
            if is_all_clear:
                draft.doubts.append(Doubt("contradiction", name))
            _warn(draft, old, signal, signals.offset_s, rules, observe_unix_s)
        elif old is not None and old.end_unix_s is None:
            draft.end(old, observe_unix_s, cause)
    return newest if newest != seen else seen


def apply_sights(draft: Draft, seen: Seen) -> None:
    """Clear warnings that were set before this process saw them cleared: when it saw that, it did
    not know of them yet."""
    for name, sight in seen.items():
        mark = draft.marks.get(_key(name))
        if mark is None or mark.end_unix_s is not None or sight.cleared_by is None:
            continue
        if mark.turn_unix_s < sight.at_unix_s:
            draft.end(mark, sight.at_unix_s, sight.cleared_by)


def apply_overage(draft: Draft, signals: Signals, rules: Rules, observe_unix_s: float) -> None:
    """Set or clear the mark of paid overage by one success; where overage is denied, block."""
    old = draft.marks.get(_key("", MarkKind.OVERAGE))
    if old is not None and observe_unix_s < old.turn_unix_s:
        return
    policy = draft.credential.spec.overage
    rejected = [w for w in signals.windows if w.status is Status.REJECTED]
    is_paid = signals.is_paid or (bool(rejected) and signals.is_overage_permitted)
    if is_paid and policy is OveragePolicy.LAST_RESORT:
        until = max((w.reset_unix_s for w in rejected if w.reset_unix_s), default=None)
        length_s = max((w.length_s for w in rejected), default=LONGEST_S)
        put_overage(draft, until or signals.reset_unix_s, length_s, rules, observe_unix_s)
        return
    if old is not None and old.end_unix_s is None and (signals.claim or not is_paid):
        draft.end(old, observe_unix_s, Cause.EVIDENCE)
    if is_paid and policy is OveragePolicy.DENY:
        _deny(draft, rejected, signals, rules, observe_unix_s)


def _deny(
    draft: Draft,
    rejected: Sequence[WindowSignal],
    signals: Signals,
    rules: Rules,
    observe_unix_s: float,
) -> None:
    spent = rejected or (WindowSignal("", LONGEST_S),)
    for window in spent:
        reset = window.reset_unix_s or signals.reset_unix_s
        latest = observe_unix_s + window.length_s + RESET_GRACE_S
        until = None if reset is None or reset <= observe_unix_s else min(reset, latest)
        block = Block(MarkKind.QUOTA, window=window.name, until_unix_s=until)
        put_block(draft, block, rules, observe_unix_s, observe_unix_s)


def put_overage(
    draft: Draft, until: float | None, length_s: float, rules: Rules, observe_unix_s: float
) -> None:
    """Note that a plan runs into paid overage until a reset, or for the fallback age."""
    latest = observe_unix_s + length_s + RESET_GRACE_S
    if until is None or until <= observe_unix_s:
        until = observe_unix_s + (rules.warning_fallback_age_s or length_s)
    until = min(until, latest)
    old = draft.marks.get(_key("", MarkKind.OVERAGE))
    if until <= draft.now_unix_s:
        return
    if old is not None and old.end_unix_s is None:
        if until > (old.expire_unix_s or 0.0) + SAME_RESET_S:
            draft.put(replace(old, expire_unix_s=until), Cause.EVIDENCE)
        return
    draft.put(Mark(MarkKind.OVERAGE, observe_unix_s, until), Cause.EVIDENCE)


def _warn(
    draft: Draft,
    old: Mark | None,
    signal: WindowSignal,
    offset_s: float,
    rules: Rules,
    observe_unix_s: float,
) -> None:
    reset = signal.reset_unix_s
    if reset is not None and reset <= draft.now_unix_s:
        draft.doubts.append(Doubt("past_reset", signal.name))
        return
    standing = old if old is not None and old.end_unix_s is None else None
    if reset is None:
        until = _fallback(standing, signal.length_s, rules, observe_unix_s)
    else:
        until = min(reset, observe_unix_s + signal.length_s + RESET_GRACE_S)
    if standing is not None:
        if _is_same(standing.expire_unix_s, until, SAME_RESET_S if offset_s else 0.0):
            return
        moved = replace(standing, expire_unix_s=until, observe_unix_s=observe_unix_s)
        draft.put(moved, Cause.OWN_STATUS)
    elif until is None or until > draft.now_unix_s:
        mark = Mark(
            MarkKind.WARNING,
            observe_unix_s,
            until,
            window=signal.name,
            utilization_ratio=signal.utilization_ratio,
        )
        draft.put(mark, Cause.OWN_STATUS)


def _fallback(
    standing: Mark | None, length_s: float, rules: Rules, observe_unix_s: float
) -> float | None:
    """Return the end of a warning without a reset; one that stands is prolonged at half its age,
    so that steady warnings write seldom."""
    age_s = min(rules.warning_fallback_age_s, length_s)
    if standing is not None:
        end = standing.expire_unix_s
        if end is None or end > observe_unix_s + age_s / 2:
            return end
    return observe_unix_s + age_s if age_s else None


def _is_same(one: float | None, other: float | None, tolerance_s: float) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= tolerance_s


@cache
def _key(window: str, kind: MarkKind = MarkKind.WARNING) -> MarkKey:
    return Mark(kind, 0.0, window=window).key
