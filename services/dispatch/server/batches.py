"""Puts parts of an answer that are ready together into one message. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.dispatch.model.outcome import Head

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from services.dispatch.model.outcome import Part

MOST_BYTES = 65_536
"""Bytes of a whole answer from which on its parts go out as they come."""


async def batched(parts: AsyncIterator[Part]) -> AsyncGenerator[tuple[Part, ...], None]:
    """Return the same parts in the same order: a head with what follows it without a wait.

    That is the first chunk of a stream, and all of a short answer that is no stream.
    """
    held: list[Part] = []
    left = 0
    async for part in parts:
        if isinstance(part, Head):
            held, left = [part], MOST_BYTES if part.body_bytes is not None else 0
            continue
        if not held:
            yield (part,)
            continue
        held.append(part)
        if isinstance(part, bytes):
            left -= len(part)
            if left > 0:
                continue
        yield tuple(held)
        held = []
    if held:
        yield tuple(held)
