"""OpenAI Chat Completions: ``CODEC`` speaks it on both sides, to clients and to upstreams."""

from __future__ import annotations

from services.domain.vocab import WireFamily
from services.domain.wire.codec import Codec, Halves
from services.domain.wire.openai_chat.encode import encode_request
from services.domain.wire.openai_chat.error import decode_error, encode_error, encode_stream_error
from services.domain.wire.openai_chat.observe import ChatStreamObserver
from services.domain.wire.openai_chat.request import decode_request
from services.domain.wire.openai_chat.response import decode_response, encode_response
from services.domain.wire.openai_chat.splice import splice_request
from services.domain.wire.openai_chat.stream import ChatStreamDecoder
from services.domain.wire.openai_chat.usage_filter import UsageFrameFilter
from services.domain.wire.openai_chat.writer import KEEPALIVE, ChatStreamEncoder

__all__ = ["CODEC", "UsageFrameFilter"]

CODEC = Codec(
    WireFamily.OPENAI_CHAT,
    KEEPALIVE,
    Halves(
        decode_request=decode_request,
        encode_own=encode_request,
        encode_foreign=encode_request,
        splice_request=splice_request,
        decode_response=decode_response,
        encode_response=encode_response,
        stream_decoder=ChatStreamDecoder,
        stream_encoder=ChatStreamEncoder,
        observer=ChatStreamObserver,
        decode_error=decode_error,
        encode_error=encode_error,
        encode_stream_error=encode_stream_error,
    ),
)
"""The codec; it holds no state."""
