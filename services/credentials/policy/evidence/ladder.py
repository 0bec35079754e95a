"""How long a refusal blocks: hints, fixed lengths and the back-off ladder, all bounded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.credentials.model import Cause, Mark, MarkKind
from services.credentials.policy.evidence.draft import STARTS_ANEW

if TYPE_CHECKING:
    from services.credentials.policy.evidence.draft import Draft
    from services.credentials.policy.evidence.rules import Rules


@dataclass(frozen=True, slots=True)
class Block:
    """A block that is wanted: its scope and what is known about its end."""

    kind: MarkKind
    model_id: str = ""
    family: str = ""
    window: str = ""
    feature: str = ""
    until_unix_s: float | None = None
    """A hint of the upstream's, cut to what is believed. None: the ladder says."""
    steps_s: tuple[float, ...] = ()
    """Ladder of its own, the last step for ever. Empty: the doubling one of the rules."""
    utilization_ratio: float | None = None


def put_block(
    draft: Draft, block: Block, rules: Rules, observe_unix_s: float, send_unix_s: float | None
) -> None:
    """Set or extend a block.

    Failures inside an open window are one failure: only a later hint moves its end. So is a
    failure of a request that was sent before the window opened, even when it lands after the
    window closed. The level rises once per window that closed without a success.
    """
    fresh = Mark(
        kind=block.kind,
        observe_unix_s=observe_unix_s,
        model_id=block.model_id,
        family=block.family,
        window=block.window,
        feature=block.feature,
        utilization_ratio=block.utilization_ratio,
    )
    old = draft.marks.get(fresh.key)
    if old is None:
        level = 0
    elif old.end_unix_s is None:
        _extend(draft, old, block)
        return
    elif observe_unix_s < old.end_unix_s and old.end_unix_s != old.expire_unix_s:
        return  # lifted since then
    elif observe_unix_s < old.end_unix_s or (
        send_unix_s is not None and send_unix_s < old.observe_unix_s
    ):
        _reopen(draft, old, block)
        return
    else:
        level = max(0, old.level + 1)
    until = block.until_unix_s
    if until is None:
        until = observe_unix_s + _step_s(block, rules, level)
    if until > draft.now_unix_s:
        draft.put(replace(fresh, expire_unix_s=until, level=level), Cause.REJECTION)


def _extend(draft: Draft, old: Mark, block: Block) -> None:
    until = block.until_unix_s
    if until is not None and old.expire_unix_s is not None and until > old.expire_unix_s:
        draft.put(replace(old, expire_unix_s=until), Cause.REJECTION)


def _reopen(draft: Draft, old: Mark, block: Block) -> None:
    until = block.until_unix_s
    if until is not None and until > draft.now_unix_s and old.level != STARTS_ANEW:
        draft.put(replace(old, expire_unix_s=until, end_unix_s=None), Cause.REJECTION)


def _step_s(block: Block, rules: Rules, level: int) -> float:
    if block.steps_s:
        return block.steps_s[min(level, len(block.steps_s) - 1)]
    return min(rules.ladder_base_s * 2.0 ** min(level, 32), rules.ladder_ceiling_s)
