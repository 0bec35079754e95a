"""What a summariser answered, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.codecs import UnknownFamilyError, codec_for
from services.domain.wire.model import StopReason, Text, WireError

if TYPE_CHECKING:
    from services.domain.vocab import WireFamily


def summary_of(family: WireFamily | None, body: bytes) -> str | None:
    """Return the text of an answer, its text blocks joined by newlines; None: it is no summary.

    Empty: the model said nothing. Other blocks are ignored; what stopped as a refusal, or cannot
    be read, is no summary.
    """
    if family is None:
        return None
    try:
        response = codec_for(family).decode_response(body)
    except (WireError, UnknownFamilyError):
        return None
    if response.stop.reason is StopReason.REFUSAL:
        return None
    texts = [block.text for block in response.blocks if isinstance(block, Text)]
    return "\n".join(texts).strip()
