"""What answers leave behind: warm caches, the models that served, the output limit. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.sessions.model import BindingUse, CacheState
from services.domain.copying import replace
from services.domain.wire.model import Text, ToolResult, ToolUse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway.sessions.model import Choice, Session
    from services.domain.wire.model import CacheMark, Request

MAX_USES = 8
SHORT_CACHE_TTL_S = 300.0
LONG_CACHE_TTL_S = 3600.0
_LONG_MARK = "1h"


def record_use(session: Session, use: BindingUse, strategy: str) -> Session:
    """Return the session after an answer that was counted.

    Says nothing of a session without a pin or with one of another strategy, and nothing where no
    token was counted. The pin's provider becomes the one that served its model. A success ends a
    row of errors.
    """
    pin = session.pin
    if pin is None or pin.choice.strategy != strategy or use.tokens.is_empty:
        return session
    if pin.choice.model_id == use.model_id and pin.choice.provider != use.provider:
        pin = replace(pin, choice=replace(pin.choice, provider=use.provider))
    served = session.last_served_model
    others = (each for each in session.uses if _binding(each) != _binding(use))
    uses = sorted((use, *others), key=lambda each: each.ended_unix_s, reverse=True)
    return replace(
        session,
        pin=pin,
        uses=tuple(uses)[:MAX_USES],
        has_ever_switched=session.has_ever_switched or served not in ("", use.model_id),
        last_output_limit_unix_s=(
            use.ended_unix_s if use.is_output_limited else session.last_output_limit_unix_s
        ),
        strikes=session.strikes.without_counts(),
        last_seen_unix_s=max(session.last_seen_unix_s, use.ended_unix_s),
    )


def is_model_switched(session: Session, model_id: str, *, is_history_known: bool) -> bool:
    """Return whether signed reasoning in the history may belong to another model."""
    is_other = session.last_served_model not in ("", model_id)
    return is_other or session.has_ever_switched or not is_history_known


def is_saturated(session: Session) -> bool:
    """Return whether the latest answer stopped at its output limit."""
    return session.last_use is not None and session.last_use.is_output_limited


def last_use_of(session: Session, choice: Choice) -> BindingUse | None:
    """Return the latest answer of a choice's model at its provider, through any credential."""
    for use in session.uses:
        if (use.model_id, use.provider) == (choice.model_id, choice.provider):
            return use
    return None


def cache_state(session: Session, choice: Choice, now_unix_s: float) -> CacheState:
    """Return how warm the cache of a choice is.

    The clock runs from the start of the last call; at exactly its end the cache is cold. An answer
    that neither read nor wrote the cache left none.
    """
    use = last_use_of(session, choice)
    if use is None:
        return CacheState.COLD
    if use.history_epoch != session.history_epoch:
        return CacheState.BROKEN
    is_over = now_unix_s - use.started_unix_s >= use.cache_ttl_s
    return CacheState.COLD if is_over or not use.tokens.cached else CacheState.WARM


def prefix_tokens(session: Session, choice: Choice, input_tokens: int) -> int | None:
    """Return how many tokens of the prompt the cache of a choice holds; None: not known.

    A history that was cut leaves a known 0.
    """
    use = last_use_of(session, choice)
    if use is None:
        return None
    if use.history_epoch != session.history_epoch:
        return 0
    return min(use.tokens.cached, input_tokens)


def cache_ttl_s(request: Request, *, has_long_cache: bool) -> float:
    """Return how long a provider keeps the prefix of a request.

    ``has_long_cache``: the provider honours marks of an hour. Only a request that asks has it.
    """
    is_long = has_long_cache and any(mark.ttl == _LONG_MARK for mark in cache_marks(request))
    return LONG_CACHE_TTL_S if is_long else SHORT_CACHE_TTL_S


def cache_marks(request: Request) -> Iterator[CacheMark]:
    """Return the cache breakpoints of a request."""
    holders = (
        *request.system,
        *request.tools,
        *(
            block
            for turn in request.turns
            for block in turn.blocks
            if isinstance(block, Text | ToolUse | ToolResult)
        ),
    )
    return (holder.cache for holder in holders if holder.cache is not None)


def _binding(use: BindingUse) -> tuple[str, str, str]:
    return use.model_id, use.provider, use.fingerprint
