"""Clients as plain as can be: they read answers member by member and know no codec.

Streams are held to the grammar of their dialect on the way.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from tests.unit.domain.wire.recorded.clients import chat, gemini, messages, responses

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.unit.domain.wire.recorded.answers import Told
    from tests.unit.domain.wire.recorded.clients.plain import Json


def read_whole(family: WireFamily, body: bytes) -> Told:
    """Return what a client of the family reads of a whole answer."""
    return _WHOLE[family](json.loads(body))


def read_stream(family: WireFamily, sent: bytes) -> Told:
    """Return what a client of the family reads of a stream.

    Raises:
        AssertionError: the stream breaks the grammar of its dialect.
    """
    return _STREAMED[family](sent)


_WHOLE: Mapping[WireFamily, Callable[[Json], Told]] = {
    WireFamily.ANTHROPIC: messages.whole_message,
    WireFamily.OPENAI_CHAT: chat.whole_completion,
    WireFamily.OPENAI_RESPONSES: responses.whole_response,
    WireFamily.GEMINI: gemini.whole_content,
}
_STREAMED: Mapping[WireFamily, Callable[[bytes], Told]] = {
    WireFamily.ANTHROPIC: messages.streamed_message,
    WireFamily.OPENAI_CHAT: chat.streamed_completion,
    WireFamily.OPENAI_RESPONSES: responses.streamed_response,
    WireFamily.GEMINI: gemini.streamed_content,
}
