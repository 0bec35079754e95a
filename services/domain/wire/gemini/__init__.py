"""Codec of the Gemini ``generateContent`` dialect.

The model's name and the wish for a stream travel in the address, so bodies name neither.

Source: https://ai.google.dev/api/generate-content
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.gemini.encode import encode_foreign
from services.domain.wire.gemini.error import decode_error, encode_error, encode_stream_error
from services.domain.wire.gemini.observe import GeminiStreamObserver
from services.domain.wire.gemini.own import encode_own
from services.domain.wire.gemini.request import addressed, decode_request, is_reasoning_wanted
from services.domain.wire.gemini.response import decode_response, encode_response
from services.domain.wire.gemini.splice import splice_request
from services.domain.wire.gemini.stream import GeminiStreamDecoder
from services.domain.wire.gemini.writer import GeminiStreamEncoder

if TYPE_CHECKING:
    from services.domain.wire.contract import Codec
    from services.domain.wire.model import (
        ClientError,
        EncodedRequest,
        RenderContext,
        Request,
        Response,
        Target,
        UpstreamError,
    )

__all__ = ["CODEC", "GeminiCodec", "addressed", "is_reasoning_wanted"]


class GeminiCodec:
    """Speaks Gemini; stateless. Its keepalive is a blank line: the vendor's SDK parses comments."""

    family = WireFamily.GEMINI
    keepalive = b"\n\n"

    def decode_request(self, body: bytes) -> Request:
        """Return the canonical form of a client body; see :func:`addressed` for the model."""
        return decode_request(body)

    def encode_request(self, request: Request, target: Target) -> EncodedRequest:
        """Return ``request`` as a body; its own dialect's parts keep their bytes."""
        if request.family is WireFamily.GEMINI:
            return splice_request(encode_own(request), request, target)
        return encode_foreign(request, target)

    def splice_request(self, body: bytes, request: Request, target: Target) -> EncodedRequest:
        """Return a body of this dialect with only the edits that ``target`` demands."""
        return splice_request(body, request, target)

    def decode_response(self, body: bytes) -> Response:
        """Return the canonical form of a whole answer."""
        return decode_response(body)

    def encode_response(self, response: Response, context: RenderContext) -> bytes:
        """Return ``response`` as a whole answer."""
        return encode_response(response, context)

    def stream_decoder(self) -> GeminiStreamDecoder:
        """Return a fresh decoder for one upstream stream."""
        return GeminiStreamDecoder()

    def stream_encoder(self, context: RenderContext) -> GeminiStreamEncoder:
        """Return a fresh encoder for one client stream."""
        return GeminiStreamEncoder(context)

    def observer(self) -> GeminiStreamObserver:
        """Return a fresh observer for one stream."""
        return GeminiStreamObserver()

    def decode_error(self, status: int, body: bytes) -> UpstreamError:
        """Return what an upstream error says, whatever its body."""
        return decode_error(status, body)

    def encode_error(self, error: ClientError) -> bytes:
        """Return ``error`` in this dialect's envelope."""
        return encode_error(error)

    def encode_stream_error(self, error: ClientError) -> bytes:
        """Return ``error`` as the frame that ends a started stream."""
        return encode_stream_error(error)


CODEC: Codec = GeminiCodec()
"""The codec; it holds no state."""
