"""The codecs by wire family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire import anthropic, gemini, openai_chat, openai_responses
from services.domain.wire.model import Address, WireError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.codec import Codec
    from services.domain.wire.model import Request


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


def read_request(codec: Codec, body: bytes, address: Address | None = None) -> Request:
    """Return the canonical form of a client body, with what its address says beside it.

    Raises:
        WireError: the body is no readable request of the codec's dialect; names the path.
    """
    request = codec.decode_request(body)
    if address is not None:
        request = gemini.addressed(request, address.model, is_stream=address.is_stream)
    if not request.model.isprintable():
        raise WireError("model", "must be a name of printable characters")
    return request


def address_of(request: Request) -> Address | None:
    """Return what a request's address says; None where its body says all of it."""
    if request.family is not WireFamily.GEMINI:
        return None
    return Address(request.model, request.is_stream)
