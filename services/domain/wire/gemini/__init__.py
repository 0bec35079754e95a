"""Codec of the Gemini ``generateContent`` dialect.

The model's name and the wish for a stream travel in the address, so bodies name neither. The
keepalive is a blank line: the vendor's SDK parses comments.

Source: https://ai.google.dev/api/generate-content
"""

from __future__ import annotations

from services.domain.vocab import WireFamily
from services.domain.wire.codec import Codec, Halves
from services.domain.wire.gemini.counting import counted_body
from services.domain.wire.gemini.encode import encode_foreign
from services.domain.wire.gemini.error import decode_error, encode_error, encode_stream_error
from services.domain.wire.gemini.observe import GeminiStreamObserver
from services.domain.wire.gemini.own import encode_own
from services.domain.wire.gemini.request import addressed, decode_request, is_reasoning_wanted
from services.domain.wire.gemini.response import decode_response, encode_response
from services.domain.wire.gemini.splice import splice_request
from services.domain.wire.gemini.stream import GeminiStreamDecoder
from services.domain.wire.gemini.writer import KEEPALIVE, GeminiStreamEncoder

__all__ = ["CODEC", "addressed", "counted_body", "is_reasoning_wanted"]

CODEC = Codec(
    WireFamily.GEMINI,
    KEEPALIVE,
    Halves(
        decode_request=decode_request,
        encode_own=lambda request, to: splice_request(encode_own(request), request, to),
        encode_foreign=encode_foreign,
        splice_request=splice_request,
        decode_response=decode_response,
        encode_response=encode_response,
        stream_decoder=GeminiStreamDecoder,
        stream_encoder=GeminiStreamEncoder,
        observer=GeminiStreamObserver,
        decode_error=decode_error,
        encode_error=encode_error,
        encode_stream_error=encode_stream_error,
    ),
)
"""The codec; it holds no state."""
