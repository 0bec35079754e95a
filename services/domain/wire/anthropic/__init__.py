"""Codec of the Anthropic Messages dialect.

Source: https://platform.claude.com/docs/en/api/messages and its page on streaming.
"""

from __future__ import annotations

from services.domain.vocab import WireFamily
from services.domain.wire.anthropic.encode import encode_foreign
from services.domain.wire.anthropic.error import decode_error, encode_error, encode_stream_error
from services.domain.wire.anthropic.observe import MessagesStreamObserver
from services.domain.wire.anthropic.own import encode_own
from services.domain.wire.anthropic.request import decode_request
from services.domain.wire.anthropic.response import decode_response, encode_response
from services.domain.wire.anthropic.splice import splice_request
from services.domain.wire.anthropic.stream import MessagesStreamDecoder
from services.domain.wire.anthropic.writer import KEEPALIVE, MessagesStreamEncoder
from services.domain.wire.codec import Codec, Halves

__all__ = ["CODEC"]

CODEC = Codec(
    WireFamily.ANTHROPIC,
    KEEPALIVE,
    Halves(
        decode_request=decode_request,
        encode_own=lambda request, to: splice_request(encode_own(request), request, to),
        encode_foreign=encode_foreign,
        splice_request=splice_request,
        decode_response=decode_response,
        encode_response=encode_response,
        stream_decoder=MessagesStreamDecoder,
        stream_encoder=MessagesStreamEncoder,
        observer=MessagesStreamObserver,
        decode_error=decode_error,
        encode_error=encode_error,
        encode_stream_error=encode_stream_error,
    ),
)
"""The codec; it holds no state."""
