"""The bytes of streams: chunks of an upstream to bytes of a client. Pure.

Same family: bytes pass as they come, watched by an observer that cannot alter them. Other family:
upstream events are decoded and written anew in the client's dialect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gateway.answering.aliasing import AliasFilter
from gateway.answering.translating import translation_for
from gateway.errors import broken_stream
from gateway.model import StreamFailure
from services.domain.sse import is_at_boundary
from services.domain.vocab import WireFamily
from services.domain.wire.model import BlockDelta, End, Failure, Start, UsageSeen
from services.domain.wire.openai_chat.usage_filter import UsageFrameFilter
from services.domain.wire.think_tag import ThinkTagDecoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.model import Head
    from services.domain.wire.codec import Codec
    from services.domain.wire.model import ClientError, Event, RenderContext, Stop, Usage
    from services.domain.wire.translation import AnswerTranslation


class Writer(Protocol):
    """Turns the chunks of one upstream stream into the client's bytes."""

    @property
    def usage(self) -> Usage | None:
        """Usage seen so far."""
        ...

    @property
    def output_chars(self) -> int:
        """Characters of output that passed so far."""
        ...

    @property
    def stop(self) -> Stop | None:
        """Why the model stopped, once it was said."""
        ...

    @property
    def has_ended(self) -> bool:
        """Whether the upstream's last event is among what was fed."""
        ...

    @property
    def is_failed(self) -> bool:
        """Whether the stream itself said that it failed."""
        ...

    @property
    def answer_id(self) -> str:
        """Id by which the upstream knows the answer; empty: none was said, or it is not shown."""
        ...

    @property
    def translation(self) -> AnswerTranslation | None:
        """What a stream of another dialect passes; None: it is the client's own."""
        ...

    def feed(self, chunk: bytes) -> bytes:
        """Return the bytes to send for ``chunk``; may be empty."""
        ...

    def finish(self) -> bytes:
        """Return the last bytes of a stream whose upstream ended well."""
        ...

    def fail(self, failure: StreamFailure | ClientError, request_id: str) -> bytes:
        """Return the frames that end a started stream with an error; empty after a terminal."""
        ...

    def keepalive(self) -> bytes:
        """Return the frame that keeps the client's connection alive now; empty: none."""
        ...


def writer_for(
    head: Head,
    upstream: Codec,
    client: Codec,
    context: RenderContext,
) -> Writer:
    """Return the writer of one stream."""
    if head.wire_family is not client.family:
        return Translated(upstream, client, context)
    filters: list[Filter] = []
    if client.family is WireFamily.OPENAI_CHAT and not context.is_usage_wanted:
        filters.append(UsageFrameFilter())
    if head.is_model_aliased:
        filters.append(AliasFilter(head.binding.upstream_id, head.binding.model_id))
    return PassThrough(client, filters)


class Filter(Protocol):
    """Changes single frames of a stream that else passes byte for byte."""

    def feed(self, data: bytes) -> bytes:
        """Return the bytes that may go on."""
        ...

    def finish(self) -> bytes:
        """Return what waits at the end."""
        ...


class PassThrough:
    """Passes a stream of the client's own dialect."""

    def __init__(self, codec: Codec, filters: Sequence[Filter] = ()) -> None:
        self._codec = codec
        self._observer = codec.observer()
        self._filters = tuple(filters)
        self.translation: AnswerTranslation | None = None
        self._last = b""

    @property
    def usage(self) -> Usage | None:
        """Usage that the observer saw."""
        return self._observer.seen.usage

    @property
    def output_chars(self) -> int:
        """Characters of output that the observer saw."""
        return self._observer.seen.output_chars

    @property
    def stop(self) -> Stop | None:
        """Stop that the observer saw."""
        return self._observer.seen.stop

    @property
    def has_ended(self) -> bool:
        """Whether the terminal event passed."""
        return self._observer.seen.has_terminal

    @property
    def is_failed(self) -> bool:
        """Whether an error event passed."""
        return self._observer.seen.error is not None

    @property
    def answer_id(self) -> str:
        """Id that the observer saw."""
        return self._observer.seen.answer_id

    def feed(self, chunk: bytes) -> bytes:
        """Return ``chunk``, less the frames that the client must not see."""
        self._observer.feed(chunk)
        for each in self._filters:
            chunk = each.feed(chunk)
        if chunk:
            self._last = chunk[-4:] if len(chunk) >= 4 else (self._last + chunk)[-4:]
        return chunk

    def finish(self) -> bytes:
        """Return what the filters held back."""
        self._observer.finish()
        rest = b""
        for each in self._filters:
            rest = (each.feed(rest) if rest else b"") + each.finish()
        return rest

    def fail(self, failure: StreamFailure | ClientError, request_id: str) -> bytes:
        """Return an error frame, unless the upstream ended the stream itself."""
        rest = self.finish()
        seen = self._observer.seen
        is_sent = isinstance(failure, StreamFailure) and failure.is_error_frame_sent
        if seen.has_terminal or seen.error is not None or is_sent:
            return rest
        last = (self._last + rest)[-4:]
        gap = b"" if is_at_boundary(last) else b"\n\n"
        error = client_error_of(failure, request_id)
        return rest + gap + self._codec.encode_stream_error(error, seen)

    def keepalive(self) -> bytes:
        """Return the dialect's frame that says nothing; it takes no part in the stream."""
        return self._codec.keepalive


class Translated:
    """Writes a stream of another dialect anew."""

    def __init__(self, upstream: Codec, client: Codec, context: RenderContext) -> None:
        decoder = upstream.stream_decoder()
        self._decoder = ThinkTagDecoder(decoder) if context.has_think_tag else decoder
        self._encoder = client.stream_encoder(context)
        self.translation = translation_for(client.family, context)
        self.usage: Usage | None = None
        self.output_chars = 0
        self.stop: Stop | None = None
        self.is_failed = False
        self.has_ended = False
        self.answer_id = ""

    def feed(self, chunk: bytes) -> bytes:
        """Return the client's bytes for the events that ``chunk`` completes."""
        return self._written(self._decoder.feed(chunk))

    def finish(self) -> bytes:
        """Return the client's bytes for the end of the stream."""
        return self._written(self._decoder.finish())

    def fail(self, failure: StreamFailure | ClientError, request_id: str) -> bytes:
        """Return the client's error frames; empty after a terminal."""
        return self._encoder.fail(client_error_of(failure, request_id))

    def keepalive(self) -> bytes:
        """Return the frame that fits where the stream stands."""
        return self._encoder.keepalive()

    def _written(self, events: Sequence[Event]) -> bytes:
        for event in events:
            match event:
                case BlockDelta(text=text):
                    self.output_chars += len(text)
                case End(stop=stop, usage=usage):
                    self.stop = stop
                    self.usage = usage or self.usage
                    self.has_ended = True
                case UsageSeen(usage=usage):
                    self.usage = usage
                case Start(usage=usage) if usage is not None:
                    self.usage = usage
                case Failure():
                    self.is_failed = True
                case _:
                    pass
        if self.translation is not None:
            events = self.translation.feed(events)
        return self._encoder.feed(events)


def client_error_of(failure: StreamFailure | ClientError, request_id: str) -> ClientError:
    """Return what a client is told of an answer that broke off."""
    if isinstance(failure, StreamFailure):
        return broken_stream(failure, request_id)
    return failure
