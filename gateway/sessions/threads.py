"""Finding a thread again whose client rewrote its first message.

A client that shortens its own history thereby changes what the thread is known by. The conversation
has a row of its own that names the latest thread of each role, so that strikes and risks go along.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gateway.sessions.history import (
    carry_over,
    is_trimmed,
    latest_thread,
    observe_history,
    remember_thread,
)
from services.domain.copying import replace

if TYPE_CHECKING:
    from gateway.sessions.memory import Recall, Sessions
    from gateway.sessions.model import Address, History

CONVERSATION_ROLE = "conversation"
"""Role of the row that a conversation has beside those of its threads."""


async def recall_thread(
    sessions: Sessions,
    recalled: Recall,
    thread: Address,
    conversation_key: bytes,
    seen: History,
) -> Recall:
    """Return what was recalled of a thread, with this action's history counted.

    A thread that is not known yet, in a conversation whose latest thread of this role was longer,
    goes on with what was learned there. For main loops only: a sub-agent begins anew.
    ``conversation_key`` equals the thread's key where the client names no session.
    """
    is_named = conversation_key != thread.key
    if is_named and recalled.is_known and recalled.session.history is None:
        conversation = replace(thread, key=conversation_key, role=CONVERSATION_ROLE)
        await _go_on(sessions, thread, conversation, seen)
    observed = partial(observe_history, seen=seen)
    return replace(recalled, session=sessions.change(thread, observed, is_last=False))


async def _go_on(sessions: Sessions, thread: Address, conversation: Address, seen: History) -> None:
    """Carry over what an earlier thread knew, and name this one as the latest."""
    now_unix_s = seen.seen_unix_s
    known = (await sessions.recall(conversation)).session
    key = latest_thread(known, thread.role)
    if key is not None and key != thread.key:
        earlier = (await sessions.recall(replace(thread, key=key))).session
        if is_trimmed(earlier, seen):
            carried = partial(carry_over, earlier=earlier, now_unix_s=now_unix_s)
            sessions.change(thread, carried, is_last=False)
    latest = partial(remember_thread, role=thread.role, key=thread.key, now_unix_s=now_unix_s)
    sessions.change(conversation, latest)
