"""The codecs by wire family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire import anthropic, gemini, openai_chat, openai_responses

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.contract import Codec


class UnknownFamilyError(LookupError):
    """A wire family that no codec speaks."""

    def __init__(self, family: WireFamily) -> None:
        super().__init__(f"no codec speaks {family.value}")
        self.family = family


_CODECS: Mapping[WireFamily, Codec] = {
    WireFamily.ANTHROPIC: anthropic.CODEC,
    WireFamily.OPENAI_CHAT: openai_chat.CODEC,
    WireFamily.OPENAI_RESPONSES: openai_responses.CODEC,
    WireFamily.GEMINI: gemini.CODEC,
}


def codec_for(family: WireFamily) -> Codec:
    """Return the codec of ``family``.

    Raises:
        UnknownFamilyError: no codec speaks it.
    """
    codec = _CODECS.get(family)
    if codec is None:
        raise UnknownFamilyError(family)
    return codec
