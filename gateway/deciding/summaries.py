"""Summaries on a switch: who writes one, what it costs, and when it is worth asking. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gateway.deciding.pinned import pin_cache
from gateway.eligibility.removals import left_alone, serving_bindings
from gateway.estimates import input_tokens_of
from gateway.model import BindingRef
from gateway.model.decision import DecisionPath, SummaryMode, SummaryOffer, SummaryQuestion
from gateway.sessions.model import CacheState
from services.domain.vocab import ModelTier
from services.domain.wire.features import features_of
from services.domain.wire.model import Role

if TYPE_CHECKING:
    from gateway.deciding.kinds import Rules
    from gateway.deciding.pinned import Memory, Moment
    from gateway.deciding.planning import Scored
    from gateway.model import Action
    from gateway.model.decision import Decision
    from gateway.sessions.model import Choice
    from services.domain.catalog import Model
    from services.domain.wire.model import Turn

SUMMARY_TOKENS = 800
"""Longest summary."""
WORTHWHILE_TOKENS = 4 * SUMMARY_TOKENS
"""Shortest history that handover summarises."""
_VENDOR = "anthropic"
WRITING_TIERS = frozenset({ModelTier.MID, ModelTier.HIGH, ModelTier.TOP})
"""Tiers of models that may write a summary."""


def summarizers(moment: Moment, preferred_model: str, needed_tokens: int) -> tuple[BindingRef, ...]:
    """Return who may write a summary: the preferred model, else the cheapest able one.

    ``needed_tokens`` must fit into its window.
    """
    models = moment.catalog.models
    preferred = models.get(preferred_model)
    alone = left_alone(moment.record)
    skilled = (each for each in models.values() if each.is_automatic and each.tier in WRITING_TIERS)
    able = sorted((each for each in skilled if each.id not in alone), key=_input_price)
    for model in (preferred, *able) if preferred is not None else able:
        for binding in serving_bindings(moment.record, model):
            if binding.context_window_tokens >= needed_tokens:
                return (BindingRef.of(binding),)
    return ()


def switch_writers(
    action: Action,
    scored: Scored,
    pin: Choice,
    moment: Moment,
    rules: Rules,
    memory: Memory,
) -> tuple[BindingRef, ...]:
    """Return who may write a summary on a switch from ``pin``; nobody where it is of no use.

    A history that was cut or rewritten already is bounded; a cold pin has nothing to lose.
    """
    mode = rules.summary_mode
    if mode is SummaryMode.NEVER or action.is_rewritten or memory.is_history_trimmed:
        return ()
    state = pin_cache(memory.session, pin, scored.passed_over, moment.now_unix_s)
    is_warm_needed = mode is SummaryMode.PLANNED
    if state is CacheState.BROKEN or (is_warm_needed and state is not CacheState.WARM):
        return ()
    return summarizers(moment, rules.summarizer_model, scored.input_tokens)


def after_trim(
    decision: Decision, action: Action, memory: Memory, moment: Moment, rules: Rules
) -> Decision:
    """Return the decision with a summary of a history that its client cut just now.

    Only where every switch is summarised too, off Anthropic, and where nothing else was done about
    the history.
    """
    binding = decision.plan.bindings[0]
    is_due = (
        rules.summary_mode is SummaryMode.ALWAYS
        and memory.is_history_trimmed
        and not action.is_rewritten
        and decision.summary is None
        and decision.path is not DecisionPath.HARD_PIN
        and binding.provider != _VENDOR
    )
    if not is_due:
        return decision
    writers = summarizers(moment, rules.compaction_model, action.input_tokens)
    question = SummaryQuestion(binding, binding, decision.scope, writers, is_of_trim=True)
    return replace(decision, summary=question) if writers else decision


def offer_of(
    action: Action, input_tokens: int, writer: BindingRef, moment: Moment
) -> SummaryOffer | None:
    """Return what a summary by ``writer`` would leave of the prompt, and its price.

    None: too little would go for it to be worth a call.
    """
    request = action.request
    tail = replace(request, turns=_last_run(request.turns))
    kept_tokens = input_tokens_of(tail, features_of(tail, 0))
    history_tokens = input_tokens - kept_tokens
    if history_tokens < WORTHWHILE_TOKENS:
        return None
    price = moment.catalog.models[writer.model_id].bindings[writer.index].price
    cost_micros = (
        history_tokens * price.input_usd_per_mtok + SUMMARY_TOKENS * price.output_usd_per_mtok
    )
    return SummaryOffer(kept_tokens + SUMMARY_TOKENS, round(cost_micros))


def _last_run(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Return the turns after the last one of the assistant."""
    start = 0
    for at, turn in enumerate(turns):
        if turn.role is Role.ASSISTANT:
            start = at + 1
    return turns[start:]


def _input_price(model: Model) -> tuple[float, str]:
    return model.bindings[0].price.input_usd_per_mtok, model.id
