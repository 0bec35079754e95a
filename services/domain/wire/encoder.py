"""What the stream encoders of all dialects do alike."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

from services.domain.wire.errors import client_error_of
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    BlockState,
    End,
    Failure,
    Start,
    UsageSeen,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.model import ClientError, Event, RenderContext, Stop, Usage


class FrameEncoder(abc.ABC):
    """Writes one client's stream; nothing comes after its terminal."""

    _keepalive: bytes
    """The frame of an idle stream."""

    def __init__(self, context: RenderContext) -> None:
        self._context = context
        self._usage: Usage | None = None
        self._is_over = False

    def feed(self, events: Sequence[Event]) -> bytes:
        """Return the frames of ``events``; upstream pings give nothing."""
        return b"".join([self._write(event) for event in events if not self._is_over])

    def keepalive(self) -> bytes:
        """Return the frame of an idle stream; empty after a terminal."""
        return b"" if self._is_over else self._keepalive

    def fail(self, error: ClientError) -> bytes:
        """Return the frames that end a started stream with an error; empty after a terminal."""
        if self._is_over:
            return b""
        last = self._failed(error)
        self._is_over = True
        return last

    def _write(self, event: Event) -> bytes:
        match event:
            case BlockDelta():
                return self._delta(event.index, event.text) if event.text else b""
            case BlockOpen():
                return self._open(event)
            case BlockState():
                return self._state(event)
            case BlockClose(index):
                return self._close(index)
            case UsageSeen(usage):
                self._usage = usage
            case Start(usage=usage):
                self._usage = usage or self._usage
                return self._begin()
            case End(stop, usage):
                self._usage = usage or self._usage
                last = self._end(stop)
                self._is_over = True
                return last
            case Failure(error):
                return self.fail(client_error_of(error, is_same_family=False))
            case _:
                pass
        return b""

    def _begin(self) -> bytes:
        """Return what comes before all else, once."""
        return b""

    @abc.abstractmethod
    def _open(self, event: BlockOpen) -> bytes:
        """Return the frames of a block that opens."""

    @abc.abstractmethod
    def _delta(self, index: int, words: str) -> bytes:
        """Return the frames of words, at least one, of the open block ``index``."""

    def _state(self, event: BlockState) -> bytes:
        """Return the frames of state; a dialect that has no place for it writes none."""
        return b""

    @abc.abstractmethod
    def _close(self, index: int) -> bytes:
        """Return the frames of a block that is complete."""

    @abc.abstractmethod
    def _end(self, stop: Stop) -> bytes:
        """Return the last frames of an answer that ended well."""

    @abc.abstractmethod
    def _failed(self, error: ClientError) -> bytes:
        """Return the last frames of one that did not."""
