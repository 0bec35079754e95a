"""One dialect put together from its halves: what all codecs do alike is here once.

A codec belongs to one wire family and knows nothing of the others. The same-family path never goes
through the canonical model: request edits are splices into the caller's bytes, streams pass as
they come and are only *observed*. The cross-family path is always::

    client bytes -> decode_request -> Request -> encode_request -> upstream bytes
    upstream bytes -> StreamDecoder -> events -> StreamEncoder -> client bytes

Codecs are pure: no I/O, no clock, no randomness; ids and times arrive in :class:`RenderContext`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.domain.wire.assemble import StreamReader
from services.domain.wire.ready import ready_for, with_possible_choice
from services.domain.wire.recent import decoded_request
from services.domain.wire.state.bodies import without_foreign_state
from services.domain.wire.state.requests import for_target, opened
from services.domain.wire.tool_names import (
    RenamingEncoder,
    original_names,
    with_original_names,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.domain.vocab import WireFamily
    from services.domain.wire.contract import StreamDecoder, StreamEncoder
    from services.domain.wire.model import (
        ClientError,
        EncodedRequest,
        Observation,
        RenderContext,
        Request,
        Response,
        Target,
        UpstreamError,
    )
    from services.domain.wire.observer import StreamObserver


@dataclass(frozen=True, slots=True)
class Halves:
    """The rules of one dialect, each as :class:`Codec` has it."""

    decode_request: Callable[[bytes], Request]
    encode_own: Callable[[Request, Target], EncodedRequest]
    """Writes a request of this dialect again after the product rewrote it."""
    encode_foreign: Callable[[Request, Target], EncodedRequest]
    """Writes a request of another dialect."""
    splice_request: Callable[[bytes, Request, Target], EncodedRequest]
    decode_response: Callable[[bytes], Response]
    encode_response: Callable[[Response, RenderContext], bytes]
    stream_decoder: Callable[[], StreamDecoder]
    stream_encoder: Callable[[RenderContext], StreamEncoder]
    observer: Callable[[], StreamObserver]
    decode_error: Callable[[int, bytes], UpstreamError]
    encode_error: Callable[[ClientError], bytes]
    encode_stream_error: Callable[[ClientError, Observation | None], bytes]


class Codec:
    """Speaks one dialect; holds no state."""

    def __init__(self, family: WireFamily, keepalive: bytes, halves: Halves) -> None:
        self.family = family
        self.keepalive = keepalive
        """Frame that keeps a stream alive which passes byte for byte; empty when there is none."""
        self._halves = halves

    def decode_request(self, body: bytes) -> Request:
        """Return the canonical form of a client body; unknown keys are kept.

        Raises:
            WireError: the body is not a readable request of this dialect; names the path.
        """
        return decoded_request(body, self.family, self._halves.decode_request)

    def encode_request(self, request: Request, target: Target) -> EncodedRequest:
        """Return ``request`` as a body for ``target``, with a record of every lossy step.

        Parts of its own dialect keep their bytes.

        Raises:
            UnbuildableError: the target cannot express the request.
            WireError: the request itself is wrong in a way that only this dialect minds.
        """
        if request.family is self.family:
            ready, done = with_possible_choice(request, target)
            encoded = self._halves.encode_own(ready, target)
        else:
            ready, done = ready_for(for_target(opened(request), target), target)
            encoded = self._halves.encode_foreign(ready, target)
        return replace(encoded, transforms=(*done, *encoded.transforms)) if done else encoded

    def splice_request(self, body: bytes, request: Request, target: Target) -> EncodedRequest:
        """Return a body of this dialect with only the edits that ``target`` demands.

        Everything outside an edited span keeps its bytes.
        """
        own = without_foreign_state(body, self.family)
        return self._halves.splice_request(own, request, target)

    def decode_response(self, body: bytes, *, is_stream: bool = False) -> Response:
        """Return the canonical form of a complete upstream answer, streamed or not.

        Raises:
            WireError: the body is no answer of this dialect, an error body on a 2xx included, or a
                stream that did not end well.
        """
        if not is_stream:
            return self._halves.decode_response(body)
        reader = self.stream_reader()
        reader.feed(body)
        return reader.finish()

    def encode_response(self, response: Response, context: RenderContext) -> bytes:
        """Return ``response`` as a whole body for the client.

        Raises:
            WireError: a call cannot be told in the form in which the client declared its tool.
        """
        names = original_names(context)
        shown = with_original_names(response, names) if names else response
        return self._halves.encode_response(shown, context)

    def stream_decoder(self) -> StreamDecoder:
        """Return a fresh decoder for one upstream stream."""
        return self._halves.stream_decoder()

    def stream_reader(self) -> StreamReader:
        """Return a fresh reader of one upstream stream that is wanted whole."""
        return StreamReader(self.stream_decoder())

    def stream_encoder(self, context: RenderContext) -> StreamEncoder:
        """Return a fresh encoder for one client stream."""
        encoder = self._halves.stream_encoder(context)
        names = original_names(context)
        return RenamingEncoder(encoder, names) if names else encoder

    def observer(self) -> StreamObserver:
        """Return a fresh observer for one stream."""
        return self._halves.observer()

    def decode_error(self, status: int, body: bytes) -> UpstreamError:
        """Return what an upstream error says, whatever its body; never raises."""
        return self._halves.decode_error(status, body)

    def encode_error(self, error: ClientError) -> bytes:
        """Return ``error`` in this dialect's envelope."""
        return self._halves.encode_error(error)

    def encode_stream_error(self, error: ClientError, seen: Observation | None = None) -> bytes:
        """Return ``error`` as the frame that ends a started stream.

        ``seen`` is what was observed of a stream that passed byte for byte until now.
        """
        return self._halves.encode_stream_error(error, seen)
