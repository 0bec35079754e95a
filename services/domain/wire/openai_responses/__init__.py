"""OpenAI Responses: ``CODEC`` speaks it on both sides, to clients and to upstreams.

Its clients count frames, so that a stream of another's numbers gets a comment to keep it alive.
"""

from __future__ import annotations

from services.domain.vocab import WireFamily
from services.domain.wire.codec import Codec, Halves
from services.domain.wire.openai_responses.encode import encode_request
from services.domain.wire.openai_responses.error import (
    decode_error,
    encode_error,
    encode_stream_error,
    is_event,
)
from services.domain.wire.openai_responses.observe import ResponsesStreamObserver
from services.domain.wire.openai_responses.request import (
    decode_request,
    is_background,
    stored_field,
)
from services.domain.wire.openai_responses.response import decode_response, encode_response
from services.domain.wire.openai_responses.splice import splice_request
from services.domain.wire.openai_responses.stream import ResponsesStreamDecoder
from services.domain.wire.openai_responses.writer import ResponsesStreamEncoder

__all__ = ["CODEC", "is_background", "is_event", "stored_field"]

CODEC = Codec(
    WireFamily.OPENAI_RESPONSES,
    b": keepalive\n\n",
    Halves(
        decode_request=decode_request,
        encode_own=encode_request,
        encode_foreign=encode_request,
        splice_request=splice_request,
        decode_response=decode_response,
        encode_response=encode_response,
        stream_decoder=ResponsesStreamDecoder,
        stream_encoder=ResponsesStreamEncoder,
        observer=ResponsesStreamObserver,
        decode_error=decode_error,
        encode_error=encode_error,
        encode_stream_error=encode_stream_error,
    ),
)
"""The codec; it holds no state."""
