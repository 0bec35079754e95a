"""How large a body is as it is held against context windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.codecs import codec_for
from services.domain.wire.features import features_of

if TYPE_CHECKING:
    from services.domain.vocab import WireFamily

_MEDIA_MARKS = (
    b'"image',
    b'"document"',
    b'"input_image"',
    b'"input_file"',
    b'"input_audio"',
    b'"file"',
    b'"inlineData"',
    b'"fileData"',
    b'"audio"',
    b'"video',
)


def overflow_tokens(family: WireFamily, body: bytes) -> int:
    """Return the overflow estimate of a body; one that names no media need not be decoded for it.

    Raises:
        WireError: the body is not readable.
    """
    if not any(mark in body for mark in _MEDIA_MARKS):
        return len(body) // 4
    return features_of(codec_for(family).decode_request(body), len(body)).overflow_tokens
