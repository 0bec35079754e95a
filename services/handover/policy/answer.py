"""What a summariser answered, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.codecs import UnknownFamilyError, codec_for
from services.domain.wire.model import StopReason, Text, ToolUse, WireError
from services.domain.wire.reading import join_surrogates
from services.domain.wire.think_tag import split_response
from services.handover.policy.words import cut

if TYPE_CHECKING:
    from services.domain.vocab import WireFamily

SUMMARY_BYTES = 20 * 1024
"""Most bytes of a summary: with the user's messages it must fit into what the gateway keeps."""


def summary_of(family: WireFamily | None, body: bytes, *, is_stream: bool = False) -> str | None:
    """Return the text of an answer, its text blocks joined by newlines; None: it is no summary.

    Empty: the model said nothing. A very long one lacks its middle. Reasoning is ignored, also in a
    leading tag; what stopped as a refusal, calls a tool (its words only lead up to that), or cannot
    be read, is no summary.
    """
    if family is None:
        return None
    try:
        told = codec_for(family).decode_response(body, is_stream=is_stream)
        response = split_response(told)
    except (WireError, UnknownFamilyError):
        return None
    is_calling = any(isinstance(block, ToolUse) for block in response.blocks)
    if is_calling or response.stop.reason is StopReason.REFUSAL:
        return None
    texts = [block.text for block in response.blocks if isinstance(block, Text)]
    return cut(join_surrogates("\n".join(texts)).strip(), SUMMARY_BYTES)
