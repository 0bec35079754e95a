"""What stream decoders and encoders offer; each has state and belongs to one attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.model import ClientError, Event


class StreamDecoder(Protocol):
    """Turns one upstream stream into canonical events, whatever the cuts between its bytes."""

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that ``data`` completes."""
        ...

    def finish(self) -> list[Event]:
        """Return the last events at end of stream; an error event when the terminal is missing."""
        ...


class StreamEncoder(Protocol):
    """Writes canonical events in one client's dialect."""

    def feed(self, events: Sequence[Event]) -> bytes:
        """Return the bytes to send for ``events``; empty when nothing is to be sent yet."""
        ...

    def fail(self, error: ClientError) -> bytes:
        """Return the frames that end a started stream with an error; empty after a terminal."""
        ...

    def keepalive(self) -> bytes:
        """Return the frame that keeps the stream alive where it stands; empty after a terminal."""
        ...
