"""The codec of OpenAI Responses: all its halves under the common contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.openai_responses.encode import encode_request
from services.domain.wire.openai_responses.error import (
    decode_error,
    encode_error,
    encode_stream_error,
)
from services.domain.wire.openai_responses.observe import ResponsesStreamObserver
from services.domain.wire.openai_responses.request import decode_request
from services.domain.wire.openai_responses.response import decode_response, encode_response
from services.domain.wire.openai_responses.splice import splice_request
from services.domain.wire.openai_responses.stream import ResponsesStreamDecoder
from services.domain.wire.openai_responses.writer import ResponsesStreamEncoder

if TYPE_CHECKING:
    from services.domain.wire.model import (
        ClientError,
        EncodedRequest,
        RenderContext,
        Request,
        Response,
        Target,
        UpstreamError,
    )


class OpenAIResponsesCodec:
    """Speaks OpenAI Responses; holds no state."""

    family = WireFamily.OPENAI_RESPONSES
    keepalive = b": keepalive\n\n"

    def decode_request(self, body: bytes) -> Request:
        """Return the canonical form of a client body."""
        return decode_request(body)

    def encode_request(self, request: Request, target: Target) -> EncodedRequest:
        """Return ``request`` as a body for ``target``."""
        return encode_request(request, target)

    def splice_request(self, body: bytes, request: Request, target: Target) -> EncodedRequest:
        """Return a body of this dialect with only the edits that ``target`` demands."""
        return splice_request(body, request, target)

    def decode_response(self, body: bytes) -> Response:
        """Return the canonical form of a whole upstream answer."""
        return decode_response(body)

    def encode_response(self, response: Response, context: RenderContext) -> bytes:
        """Return ``response`` as a whole body for the client."""
        return encode_response(response, context)

    def stream_decoder(self) -> ResponsesStreamDecoder:
        """Return a fresh decoder for one upstream stream."""
        return ResponsesStreamDecoder()

    def stream_encoder(self, context: RenderContext) -> ResponsesStreamEncoder:
        """Return a fresh encoder for one client stream."""
        return ResponsesStreamEncoder(context)

    def observer(self) -> ResponsesStreamObserver:
        """Return a fresh observer for one stream."""
        return ResponsesStreamObserver()

    def decode_error(self, status: int, body: bytes) -> UpstreamError:
        """Return what an upstream error says."""
        return decode_error(status, body)

    def encode_error(self, error: ClientError) -> bytes:
        """Return ``error`` in this dialect's envelope."""
        return encode_error(error)

    def encode_stream_error(self, error: ClientError) -> bytes:
        """Return ``error`` as the frame that ends a started stream."""
        return encode_stream_error(error)


CODEC = OpenAIResponsesCodec()
