"""The text that the scorer judges, cut so that a body never travels. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.decision import Prompt
from gateway.turns import texts
from services.domain.wire.model import Role, Text

if TYPE_CHECKING:
    from services.domain.wire.model import Request, Turn

MAX_TEXT_BYTES = 8 * 1024
MAX_FIRST_TEXT_BYTES = 1024


def prompt_of(request: Request) -> Prompt:
    """Return what the person wrote, the newest part of it; where there is nothing, all text."""
    users = [_words(turn) for turn in request.turns if turn.role is Role.USER]
    said = [words for words in users if words]
    if not said:
        said = [texts.system_text(request), *(_words(turn) for turn in request.turns)]
    whole = texts.encoded("\n".join(words for words in said if words))
    first = texts.encoded(texts.first_user_text(request)[:MAX_FIRST_TEXT_BYTES])
    return Prompt(
        text=whole[-MAX_TEXT_BYTES:].decode("utf-8", "ignore"),
        first_text=first[:MAX_FIRST_TEXT_BYTES].decode("utf-8", "ignore"),
        text_bytes=len(whole),
    )


def _words(turn: Turn) -> str:
    return "\n".join(block.text for block in turn.blocks if isinstance(block, Text))
