"""What every codec offers: four decoders and four encoders that meet in one canonical model.

A codec belongs to one wire family and knows nothing of the others. The same-family path never goes
through the canonical model: request edits are splices into the caller's bytes, streams pass as
they come and are only *observed*. The cross-family path is always::

    client bytes -> decode_request -> Request -> encode_request -> upstream bytes
    upstream bytes -> StreamDecoder -> events -> StreamEncoder -> client bytes

Codecs are pure: no I/O, no clock, no randomness; ids and times arrive in :class:`RenderContext`.
Stream decoders, encoders and observers are stateful and belong to one attempt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.vocab import WireFamily
    from services.domain.wire.model import (
        ClientError,
        EncodedRequest,
        Event,
        Observation,
        RenderContext,
        Request,
        Response,
        Target,
        UpstreamError,
    )


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


class StreamObserver(Protocol):
    """Watches a stream of its own family that passes byte for byte; can never alter it."""

    @property
    def seen(self) -> Observation:
        """All that was learned so far."""
        ...

    def feed(self, data: bytes) -> None:
        """Take note of ``data``. Never raises: after unreadable frames it goes on or goes blind."""
        ...

    def finish(self) -> None:
        """Take note of the end of the stream; a last frame without its blank line counts."""
        ...


class Codec(Protocol):
    """One wire family."""

    family: WireFamily
    keepalive: bytes
    """Frame that keeps a stream alive which passes byte for byte; empty when there is none."""

    def decode_request(self, body: bytes) -> Request:
        """Return the canonical form of a client body; unknown keys are kept.

        Raises:
            WireError: the body is not a readable request of this dialect; names the path.
        """
        ...

    def encode_request(self, request: Request, target: Target) -> EncodedRequest:
        """Return ``request`` as a body for ``target``, with a record of every lossy step.

        Raises:
            UnbuildableError: the target cannot express the request.
            WireError: the request itself is wrong in a way that only this dialect minds.
        """
        ...

    def splice_request(self, body: bytes, request: Request, target: Target) -> EncodedRequest:
        """Return a same-family body with only the edits that ``target`` demands.

        Everything outside an edited span keeps its bytes.
        """
        ...

    def decode_response(self, body: bytes) -> Response:
        """Return the canonical form of a whole upstream answer.

        Raises:
            WireError: the body is no answer of this dialect, an error body on a 2xx included.
        """
        ...

    def encode_response(self, response: Response, context: RenderContext) -> bytes:
        """Return ``response`` as a whole body for the client."""
        ...

    def stream_decoder(self) -> StreamDecoder:
        """Return a fresh decoder for one upstream stream."""
        ...

    def stream_encoder(self, context: RenderContext) -> StreamEncoder:
        """Return a fresh encoder for one client stream."""
        ...

    def observer(self) -> StreamObserver:
        """Return a fresh observer for one stream."""
        ...

    def decode_error(self, status: int, body: bytes) -> UpstreamError:
        """Return what an upstream error says, whatever its body; never raises."""
        ...

    def encode_error(self, error: ClientError) -> bytes:
        """Return ``error`` in this dialect's envelope."""
        ...

    def encode_stream_error(self, error: ClientError, seen: Observation | None = None) -> bytes:
        """Return ``error`` as the frame that ends a started stream in this dialect.

        ``seen`` is what was observed of a stream that passed byte for byte until now.
        """
        ...
