"""Answers of one dialect for clients of another, and what they leave behind: state for the
session's ledger, and counts of faults."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from gateway import metrics
from services.domain.wire.codecs import codec_for
from services.domain.wire.translation import AnswerTranslation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.model import Head
    from services.domain.vocab import WireFamily
    from services.domain.wire.model import RenderContext, Response
    from services.domain.wire.state.kept import Kept


class Keeper(Protocol):
    """What a session hears of the state that came with an answer."""

    def keep(self, states: Sequence[Kept]) -> None:
        """Remember opaque state that the client may lose."""
        ...


async def decoded(head: Head, pieces: Sequence[bytes]) -> Response:
    """Return a whole answer, or a stream that is wanted whole, in no dialect.

    Raises:
        WireError: it cannot be read, or did not end well.
    """
    codec = codec_for(head.wire_family)
    if not head.is_stream:
        return codec.decode_response(b"".join(pieces))
    reader = codec.stream_reader()
    for piece in pieces:
        reader.feed(piece)
        await asyncio.sleep(0)  # a long answer is no reason for other streams to wait
    return reader.finish()


def translation_for(client: WireFamily, context: RenderContext) -> AnswerTranslation | None:
    """Return what an answer passes on its way to a client of another dialect; None: of its own."""
    return None if context.upstream_family is None else AnswerTranslation(client, context)


def translated(
    response: Response, client: WireFamily, context: RenderContext, keeper: Keeper
) -> Response:
    """Return a whole answer for the client's encoder; the session hears of its state."""
    translation = translation_for(client, context)
    if translation is None:
        return response
    shown = translation.response(response)
    learn(translation, keeper)
    return shown


def learn(translation: AnswerTranslation | None, keeper: Keeper) -> None:
    """Tell the session what a translation found so far; what was told is not told again."""
    if translation is None:
        return
    for issue, count in translation.issues.items():
        metrics.ARGUMENT_ISSUES.labels(issue.value).inc(count)
    translation.issues.clear()
    if translation.kept:
        keeper.keep(tuple(translation.kept))
        translation.kept.clear()
