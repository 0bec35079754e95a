"""Opaque state that a client lost, found in its session before anything is decided. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.domain.wire.features import Requirement
from services.domain.wire.state.kept import lost_state
from services.domain.wire.state.requests import SIGNING_FAMILY, has_unsigned_calls, opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.model import Action
    from services.domain.wire.state.kept import Kept, Restored

MAX_RESTORED = 1024
"""Pieces of state that one action may carry; the latest count."""


def restored(action: Action, kept: Sequence[Kept]) -> Action:
    """Return the action with the state that its session kept and its client lost."""
    if not kept:
        return action
    lost = lost_state(opened(action.request), kept)
    return with_restored(action, lost[-MAX_RESTORED:])


def with_restored(action: Action, lost: tuple[Restored, ...]) -> Action:
    """Return the action with this state; calls that it signs are unsigned no more."""
    if not lost:
        return action
    needs = action.features.requirements
    unsigned = Requirement.SIGNED_TOOL_HISTORY
    if unsigned in needs and not has_unsigned_calls(opened(action.request, lost), SIGNING_FAMILY):
        needs = tuple(need for need in needs if need is not unsigned)
    return replace(action, restored=lost, features=replace(action.features, requirements=needs))
