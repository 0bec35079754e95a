"""Holds back the start of a stream until it bears output, fails, or was held for long enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.dispatch.model.outcome import AttemptFault
from services.dispatch.server import bodies

if TYPE_CHECKING:
    from services.dispatch.model.limits import WatchLimits
    from services.dispatch.server.stopwatch import Stopwatch
    from services.dispatch.server.watch import WatchedReader
    from services.domain.wire.observer import StreamObserver

MAX_HELD_BYTES = 64 * 1024
MAX_GATED_BYTES = 1024 * 1024


@dataclass(slots=True)
class Held:
    """Bytes that came and were not passed on yet."""

    pieces: list[bytes] = field(default_factory=list)
    is_at_end: bool = False


async def held_back(
    reader: WatchedReader,
    observer: StreamObserver,
    watch: Stopwatch,
    limits: WatchLimits,
    *,
    is_gated: bool,
) -> Held:
    """Return the first bytes of a stream: up to its first output, its error, or the hold's end.

    ``is_gated``: a refusal may come that must not be seen.

    Raises:
        AttemptFault: the stream ended without output, or went silent.
    """
    hold_s = limits.first_output_s if is_gated else limits.hold_s
    max_bytes = MAX_GATED_BYTES if is_gated else MAX_HELD_BYTES
    held, size, hold_until_s = Held(), 0, None
    while True:
        if hold_until_s is None:
            data = await reader.read()
        else:
            data = await reader.read_within(max(0.0, hold_until_s - watch.elapsed_s()))
        if data is None:
            held.is_at_end = True
            observer.finish()
        elif data:
            held.pieces.append(data)
            size += len(data)
            observer.feed(data)
        seen = observer.seen
        if seen.has_output or (seen.error is not None and seen.is_error_first):
            return held
        if data is None:
            raise AttemptFault(bodies.unfinished(is_started=seen.is_started))
        if not data or size >= max_bytes or not hold_s:
            return held
        if hold_until_s is None and seen.is_started:
            hold_until_s = watch.elapsed_s() + hold_s
