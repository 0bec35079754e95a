"""What travels beside a call: a short list of metadata, bound to the running task.

Only the keys of :data:`FORWARDED` cross a process border, in at most 4 KiB; no secret, prompt or
e-mail is ever among them. ``traceparent`` gets a new parent id on every hop (W3C Trace Context).
The time that is left travels as the deadline of each call.
"""

from __future__ import annotations

import contextvars
import functools
import random
import re
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

CALLER_KEY = "x-caller-service"
"""Names the calling service of ours; believed only where the transport is trusted."""

TRACE_KEY = "traceparent"
FORWARDED = frozenset(
    {
        TRACE_KEY,
        "tracestate",
        "x-request-id",
        "x-action-id",
        "x-attempt",
        "x-installation-id",
        "x-config-version",
    }
)

MAX_METADATA_BYTES = 4096

_id = random.Random().getrandbits  # noqa: S311 - ids of traces guard nothing; each call makes one
_TRACEPARENT = re.compile(r"^(00-[0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$")
_NO_TRACE = f"00-{'0' * 32}"

current: contextvars.ContextVar[tuple[tuple[str, str], ...]] = contextvars.ContextVar(
    "pointsman_call_context", default=()
)
"""Metadata of the running action or call, allow-listed."""


deadline: contextvars.ContextVar[float | None] = contextvars.ContextVar(
    "pointsman_call_deadline", default=None
)
"""Monotonic instant in seconds at which the running action or call must have ended; None: never."""

HOP_MARGIN_S = 0.02
"""What a caller keeps of its time to do something about a late answer."""
MIN_HOP_S = 0.001


def timeout_of_hop(own_s: float | None) -> float | None:
    """Return the timeout of a call made now: its own, or what the running call has left of it."""
    deadline_s = deadline.get()
    if own_s is None or deadline_s is None:
        return own_s
    left_s = deadline_s - time.monotonic() - HOP_MARGIN_S
    return max(MIN_HOP_S, min(own_s, left_s))


def allowed(pairs: Iterable[tuple[str, str | bytes]]) -> tuple[tuple[str, str], ...]:
    """Return the pairs that may travel on, in order, within the size limit."""
    kept: list[tuple[str, str]] = []
    size = 0
    for key, value in pairs:
        name = key.lower()
        if name not in FORWARDED or not isinstance(value, str):
            continue
        size += len(name) + len(value)
        if size > MAX_METADATA_BYTES:
            break
        kept.append((name, value))
    return tuple(kept)


def new_traceparent(parent: str | None = None, *, is_sampled: bool = True) -> str:
    """Return a traceparent for a new span: a child of ``parent`` where that is valid."""
    kept = _kept_of(parent or "")
    trace, flags = kept or (f"00-{_id(128):032x}", "01" if is_sampled else "00")
    return f"{trace}-{_id(64):016x}-{flags}"


@functools.lru_cache(maxsize=1024)  # an action makes half a dozen children of one parent
def _kept_of(parent: str) -> tuple[str, str] | None:
    """Return what children have of a traceparent: its trace and its flags; None: not valid."""
    match = _TRACEPARENT.match(parent)
    return (match[1], match[2]) if match and match[1] != _NO_TRACE else None


def outgoing(caller: str) -> tuple[tuple[str, str], ...]:
    """Return the metadata for a call made now by ``caller``."""
    pairs = [
        (key, new_traceparent(value)) if key == TRACE_KEY else (key, value)
        for key, value in current.get()
    ]
    return ((CALLER_KEY, caller), *pairs)
