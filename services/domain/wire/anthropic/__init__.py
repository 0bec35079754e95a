"""Codec of the Anthropic Messages dialect.

Source: https://platform.claude.com/docs/en/api/messages and its page on streaming.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.anthropic.encode import encode_foreign
from services.domain.wire.anthropic.error import decode_error, encode_error, encode_stream_error
from services.domain.wire.anthropic.observe import MessagesStreamObserver
from services.domain.wire.anthropic.own import encode_own
from services.domain.wire.anthropic.request import decode_request
from services.domain.wire.anthropic.response import decode_response, encode_response
from services.domain.wire.anthropic.splice import splice_request
from services.domain.wire.anthropic.stream import MessagesStreamDecoder
from services.domain.wire.anthropic.writer import MessagesStreamEncoder

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


class AnthropicCodec:
    """Speaks Anthropic Messages; stateless."""

    family = WireFamily.ANTHROPIC
    keepalive = b'event: ping\ndata: {"type": "ping"}\n\n'

    def decode_request(self, body: bytes) -> Request:
        """Return the canonical form of a client body."""
        return decode_request(body)

    def encode_request(self, request: Request, target: Target) -> EncodedRequest:
        """Return ``request`` as a Messages body; its own dialect's parts keep their bytes."""
        if request.family is WireFamily.ANTHROPIC:
            return splice_request(encode_own(request), request, target)
        return encode_foreign(request, target)

    def splice_request(self, body: bytes, request: Request, target: Target) -> EncodedRequest:
        """Return a Messages body with only the edits that ``target`` demands."""
        return splice_request(body, request, target)

    def decode_response(self, body: bytes) -> Response:
        """Return the canonical form of a whole answer."""
        return decode_response(body)

    def encode_response(self, response: Response, context: RenderContext) -> bytes:
        """Return ``response`` as a whole Messages answer."""
        return encode_response(response, context)

    def stream_decoder(self) -> MessagesStreamDecoder:
        """Return a fresh decoder for one upstream stream."""
        return MessagesStreamDecoder()

    def stream_encoder(self, context: RenderContext) -> MessagesStreamEncoder:
        """Return a fresh encoder for one client stream."""
        return MessagesStreamEncoder(context)

    def observer(self) -> MessagesStreamObserver:
        """Return a fresh observer for one stream."""
        return MessagesStreamObserver()

    def decode_error(self, status: int, body: bytes) -> UpstreamError:
        """Return what an upstream error says, whatever its body."""
        return decode_error(status, body)

    def encode_error(self, error: ClientError) -> bytes:
        """Return ``error`` in the Messages envelope."""
        return encode_error(error)

    def encode_stream_error(self, error: ClientError) -> bytes:
        """Return ``error`` as the frame that ends a started stream."""
        return encode_stream_error(error)


CODEC: Codec = AnthropicCodec()
"""The codec; it holds no state."""
