"""What the stream observers of all dialects do alike."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

from services.domain.sse import FrameSplitter
from services.domain.wire.model import Observation
from services.domain.wire.reading import peek

if TYPE_CHECKING:
    from services.domain.sse import Frame
    from services.domain.wire.model import UpstreamError


class StreamObserver(abc.ABC):
    """Watches a stream of its own family that passes byte for byte; can never alter it.

    It never raises: after unreadable frames it goes on.
    """

    def __init__(self) -> None:
        self._splitter = FrameSplitter()
        self._seen = Observation()

    @property
    def seen(self) -> Observation:
        """All that was learned so far."""
        return self._seen

    def feed(self, data: bytes) -> None:
        """Take note of ``data``; unreadable frames are counted and passed over."""
        for frame in self._splitter.feed(data):
            self._read(frame)

    def finish(self) -> None:
        """Take note of the end; a last frame without its blank line counts."""
        for frame in self._splitter.finish():
            self._read(frame)

    @abc.abstractmethod
    def _read(self, frame: Frame) -> None:
        """Take note of one frame."""

    def _told(self, frame: Frame) -> dict[str, object] | None:
        """Return the object that a frame is; None, and counted, when it is none."""
        told = peek(frame.data)
        if isinstance(told, dict):
            return told
        self._seen.bad_frames += 1
        return None

    def _output(self, chars: int) -> None:
        seen = self._seen
        seen.has_output = True
        seen.output_events += 1
        seen.output_chars += chars

    def _fail(self, error: UpstreamError) -> None:
        seen = self._seen
        seen.error = error
        seen.is_error_first = not seen.has_output
        seen.has_terminal = True
