"""What travels beside every call that an action makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.runtime import context as call_context

if TYPE_CHECKING:
    from gateway.model import Action


def call_labels(action: Action) -> tuple[tuple[str, str], ...]:
    """Return the metadata of the calls of an action, under a new trace."""
    return (
        ("traceparent", call_context.new_traceparent()),
        ("x-action-id", action.id),
        ("x-installation-id", action.caller.installation_id),
    )
