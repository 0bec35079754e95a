"""The texts of a request that tell what it is and which conversation it belongs to. Pure."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from gateway.turns import marks
from services.domain.wire.model import Media, Role, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.domain.wire.model import Block, Request, Turn

LENGTH_BYTES = 4


def first_user_text(request: Request) -> str:
    """Return the text of the first message; empty when it is not the user's.

    Tool results are no text of the user's.
    """
    if not request.turns or request.turns[0].role is not Role.USER:
        return ""
    return "\n".join(_texts(request.turns[0].blocks))


def last_user_texts(request: Request) -> tuple[str, ...]:
    """Return the texts of the last message that is not a system one; none if an assistant's."""
    if not request.turns or request.turns[-1].role is not Role.USER:
        return ()
    return tuple(_texts(request.turns[-1].blocks))


def opening_text(request: Request) -> str:
    """Return what the person said first, without context that the client put around it.

    Clients renew that context (dates, reminders) within one conversation. Where nothing else is
    there, the whole first text.
    """
    for turn in request.turns:
        if turn.role is not Role.USER:
            continue
        words = [rest for text in _texts(turn.blocks) if (rest := _without_context(text).strip())]
        if words:
            return "\n".join(words)
    return first_user_text(request)


def thread_digest(request: Request) -> str:
    """Return a digest of all that the user sent up to the first words of their own.

    For clients that name no session: the same on every action of a conversation, other for
    another one. Context that changes within a conversation does not count, nor does what a client
    appends to its newest message only. Empty: there are no such words.
    """
    digest = hashlib.sha256(b"thread/1")
    is_found = False
    for turn in _conversation(request):
        for part, is_spoken in _telling_parts(turn):
            digest.update(length_prefixed(part))
            is_found = is_found or is_spoken
        if is_found:
            return digest.hexdigest()
    return ""


def system_text(request: Request) -> str:
    """Return the leading instructions without the block that differs from request to request."""
    return "\n".join(
        block.text
        for block in request.system
        if block.after_turn == 0 and not block.text.startswith(marks.BILLING_LINE)
    )


def length_prefixed(part: bytes) -> bytes:
    """Return ``part`` behind its length, so that no part can imitate another's border."""
    return len(part).to_bytes(LENGTH_BYTES, "big") + part


def encoded(words: str) -> bytes:
    """Return the UTF-8 form; a lone surrogate is carried as it is."""
    return words.encode("utf-8", "surrogatepass")


def _texts(blocks: tuple[Block, ...]) -> Iterator[str]:
    return (block.text for block in blocks if isinstance(block, Text))


def _conversation(request: Request) -> Iterator[Turn]:
    """Return the user's turns behind examples that a client puts first."""
    start = 0
    for at, turn in enumerate(request.turns):
        if turn.role is Role.USER and any(
            text.startswith(marks.EXAMPLES_END) for text in _texts(turn.blocks)
        ):
            start = at + 1
    return (turn for turn in request.turns[start:] if turn.role is Role.USER)


def _telling_parts(turn: Turn) -> Iterator[tuple[bytes, bool]]:
    """Return what tells conversations apart and whether it is the person's own words."""
    for block in turn.blocks:
        if isinstance(block, Media):
            source = block.data or block.url or block.file_id or block.text
            yield encoded(f"{block.kind}:{source}"), False
        elif isinstance(block, Text):
            for part, is_context in _split(block.text):
                words = part if is_context else _without_reminder(part).strip()
                if words:
                    yield encoded(words), not is_context


def _split(text: str) -> Iterator[tuple[str, bool]]:
    """Return the stable contexts that open a text, and the rest of it."""
    rest = text
    while (found := _leading_context(rest)) is not None:
        mark, context, rest = found
        if mark.is_stable:
            yield context, True
    yield rest, False


def _without_context(text: str) -> str:
    rest = text
    while (found := _leading_context(rest)) is not None:
        rest = found[2]
    return rest


def _leading_context(text: str) -> tuple[marks.ContextMark, str, str] | None:
    """Return the context that opens ``text``, its mark and what follows it."""
    start = text.lstrip()
    for mark in marks.CONTEXT_MARKS:
        if not start.startswith(mark.opening):
            continue
        if not mark.opening.startswith("<"):
            return mark, start, ""
        closing = mark.opening.replace("<", "</", 1)
        context, is_closed, rest = start.partition(closing)
        if is_closed:
            return mark, context + closing, rest
    return None


def _without_reminder(text: str) -> str:
    ends = [at for opening in marks.TRAILING_REMINDERS if (at := text.find(opening)) > 0]
    return text[: min(ends)] if ends else text
