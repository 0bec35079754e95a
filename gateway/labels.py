"""What travels beside every call that an action makes."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from services.runtime import context as call_context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway.model import Action


@contextlib.contextmanager
def labelled(action: Action) -> Iterator[None]:
    """Send the labels of an action, under a new trace, beside the calls made in the block."""
    labels = (
        ("traceparent", call_context.new_traceparent()),
        ("x-action-id", action.id),
        ("x-installation-id", action.caller.installation_id),
    )
    token = call_context.current.set(labels)
    try:
        yield
    finally:
        call_context.current.reset(token)
