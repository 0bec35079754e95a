"""What an action is believed to cost, by the price rule of bills: both can be compared. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.deciding.pinned import pin_cache
from gateway.deciding.planning import prompt_tokens
from gateway.model.decision import Belief
from gateway.sessions.model import CacheState, Choice
from gateway.sessions.usage import LONG_CACHE_TTL_S, cache_marks, last_use_of, prefix_tokens
from services.domain.pricing import cost_of, price_of
from services.domain.wire.model import Usage

if TYPE_CHECKING:
    from gateway.deciding.pinned import Moment
    from gateway.model import Action, Plan
    from gateway.sessions.model import BindingUse, Session


def believed(
    action: Action, plan: Plan, session: Session, moment: Moment, passed_over: tuple[str, ...]
) -> Belief | None:
    """Return what the first binding of a plan is believed to use; None: its price is not known.

    ``passed_over`` are credentials that would not be chosen again.
    """
    binding = plan.bindings[0]
    price = price_of(moment.catalog, binding.model_id, binding.provider, binding.index)
    if price is None:
        return None
    usage = _usage(action, session, _reused(session, moment, plan, passed_over), plan)
    return Belief(binding, usage, cost_of(usage, price))


def _reused(
    session: Session, moment: Moment, plan: Plan, passed_over: tuple[str, ...]
) -> Choice | None:
    """Return the choice whose cache can be read; None: nothing is warm."""
    binding = plan.bindings[0]
    choice = Choice(binding.model_id, binding.provider, moment.strategy)
    state = pin_cache(session, choice, passed_over, moment.now_unix_s)
    return choice if state is CacheState.WARM else None


def _usage(action: Action, session: Session, warm: Choice | None, plan: Plan) -> Usage:
    tokens = prompt_tokens(session, action.input_tokens)
    read = (prefix_tokens(session, warm, tokens) or 0) if warm is not None else 0
    binding = plan.bindings[0]
    choice = Choice(binding.model_id, binding.provider, "")
    use = last_use_of(session, choice)
    written = round((tokens - read) * _written_share(action, use))
    is_long = use is not None and use.cache_ttl_s >= LONG_CACHE_TTL_S
    last = session.last_use
    return Usage(
        fresh_input=tokens - read - written,
        cache_read=read,
        cache_write=written,
        cache_write_1h=written if is_long else 0,
        output=last.tokens.output if last is not None else 0,
    )


def _written_share(action: Action, use: BindingUse | None) -> float:
    """Return the share of the prompt's new part that is written to a cache.

    As the last answer of the binding had it; before there is one, what the request marks.
    """
    new = use.tokens.fresh + use.tokens.cache_write if use is not None else 0
    if use is None or new == 0:
        return 1.0 if any(cache_marks(action.request)) else 0.0
    return use.tokens.cache_write / new
