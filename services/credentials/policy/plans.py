"""What is known about subscription plans: whether an account of one can pay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.model import (
    NO_SUBJECT,
    MarkKind,
    PlanColour,
    PlanStatus,
    Verdict,
    WindowUse,
)
from services.credentials.policy.standing import standing_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from services.credentials.model import Credential, Usage
    from services.domain.vocab import CredentialKind, CredentialOwner

FULL = 0.999
"""Use from which on a window counts as used up."""
STEP = 0.05
"""Use is told in steps, so that a snapshot does not change with every answer."""

MINUTE_S = 60.0

_ORDER = (PlanStatus.ACTIVE, PlanStatus.UNKNOWN, PlanStatus.EXHAUSTED, PlanStatus.UNAVAILABLE)


def plan_colours(
    seen: Iterable[Credential], usage_of: Callable[[str], Usage], now_unix_s: float
) -> tuple[PlanColour, ...]:
    """Return the state of every plan among some credentials."""
    linked: dict[tuple[CredentialKind, CredentialOwner], list[Credential]] = {}
    for credential in seen:
        if credential.spec.is_plan:
            linked.setdefault((credential.spec.kind, credential.spec.owner), []).append(credential)
    return tuple(
        plan_colour(kind, owner, accounts, usage_of, now_unix_s)
        for (kind, owner), accounts in sorted(linked.items())
    )


def plan_colour(
    kind: CredentialKind,
    owner: CredentialOwner,
    accounts: Sequence[Credential],
    usage_of: Callable[[str], Usage],
    now_unix_s: float,
) -> PlanColour:
    """Return the state of one plan: any account with headroom makes it active.

    It is exhausted when every account is; one that was never observed is not.
    """
    states = [
        (account_status(account, usage_of(account.id), now_unix_s), account) for account in accounts
    ]
    best, account = min(states, key=lambda one: (_ORDER.index(one[0]), one[1].id))
    windows = _windows(account, usage_of(account.id), now_unix_s)
    return PlanColour(kind, owner, best, windows)


def account_status(credential: Credential, usage: Usage, now_unix_s: float) -> PlanStatus:
    """Return whether one account can pay."""
    if not credential.is_usable:
        return PlanStatus.UNAVAILABLE
    standing = standing_of(credential, NO_SUBJECT, now_unix_s)
    if standing.verdict is Verdict.EXHAUSTED or _has_spent_plan(credential, now_unix_s):
        return PlanStatus.EXHAUSTED
    current = [use for use in usage if not is_past(use, now_unix_s)]
    if not current:
        return PlanStatus.UNKNOWN
    is_full = any((use.utilization_ratio or 0.0) >= FULL for use in current)
    is_paid = any(mark.kind is MarkKind.OVERAGE for mark in credential.active_marks(now_unix_s))
    return PlanStatus.EXHAUSTED if is_full and not is_paid else PlanStatus.ACTIVE


def coarse(usage: Usage) -> Usage:
    """Return a usage as it is told: in steps, and with resets by the minute."""
    return tuple(
        use._replace(
            utilization_ratio=_step(use.utilization_ratio),
            reset_unix_s=None
            if use.reset_unix_s is None
            else round(use.reset_unix_s / MINUTE_S) * MINUTE_S,
        )
        for use in usage
    )


def _step(ratio: float | None) -> float | None:
    if ratio is None:
        return None
    return 1.0 if ratio >= FULL else min(1.0 - STEP, round(round(ratio / STEP) * STEP, 2))


def _windows(credential: Credential, usage: Usage, now_unix_s: float) -> Usage:
    """Return the windows of an account: what was last said, and the marks that stand."""
    marks = credential.active_marks(now_unix_s)
    warned = {m.window for m in marks if m.kind is MarkKind.WARNING}
    blocked = {m.window for m in marks if m.kind is MarkKind.QUOTA}
    current = tuple(use for use in usage if not is_past(use, now_unix_s))
    told = {use.window: use for use in coarse(current)}
    names = sorted({*told, *warned, *blocked} - {""})
    return tuple(
        told.get(name, WindowUse(name, None, None))._replace(
            is_warned=name in warned, is_rejected=name in blocked
        )
        for name in names
    )


def _has_spent_plan(credential: Credential, now_unix_s: float) -> bool:
    """Return whether a block of the whole account says that its quota is used up."""
    return any(
        mark.kind is MarkKind.QUOTA and not (mark.model_id or mark.family or mark.feature)
        for mark in credential.active_marks(now_unix_s)
    )


def is_past(use: WindowUse, now_unix_s: float) -> bool:
    """Return whether a window has been reset since it was observed."""
    return use.reset_unix_s is not None and use.reset_unix_s <= now_unix_s
