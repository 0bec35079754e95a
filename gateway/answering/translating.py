"""What a translated answer leaves behind: state for the session's ledger, and counts of faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gateway import metrics
from services.domain.wire.translation import AnswerTranslation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.vocab import WireFamily
    from services.domain.wire.model import RenderContext, Response
    from services.domain.wire.state.kept import Kept


class Keeper(Protocol):
    """What a session hears of the state that came with an answer."""

    def keep(self, states: Sequence[Kept]) -> None:
        """Remember opaque state that the client may lose."""
        ...


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
