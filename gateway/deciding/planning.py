"""What the planner is asked about a pin and a fresh pick. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.deciding.pinned import pin_cache
from gateway.model import BindingRef
from gateway.model.decision import PlanQuestion, Side
from gateway.sessions.model import Choice
from gateway.sessions.risks import mean_risk
from gateway.sessions.usage import last_use_of, prefix_tokens
from services.domain.vocab import ModelTier

if TYPE_CHECKING:
    from gateway.deciding.pinned import Moment
    from gateway.model.decision import Candidate, Decision, Score, Strategy, SummaryOffer
    from gateway.sessions.model import Session
    from services.domain.catalog import Model

TELLING_TOKENS = 2_000
"""Shortest prompt whose count says how estimates miss."""
MOST_CORRECTION = 4.0
"""Factor by which an estimate is corrected at most: a count that is further away was of another
prompt."""


@dataclass(frozen=True, slots=True)
class Scored:
    """An action once it was scored: the session knows this score already."""

    session: Session
    score: Score
    fresh: Candidate
    input_tokens: int
    passed_over: tuple[str, ...] = ()
    """Credentials that would not be chosen again."""


def plan_question(
    scored: Scored, pin: Choice, moment: Moment, offer: SummaryOffer | None
) -> PlanQuestion:
    """Return the question whether to leave ``pin`` for the fresh pick.

    The warm prefix is what the last answer read and wrote, not a share of the prompt: what came
    since is not cached. Leftovers of earlier visits are not counted on. Both services price risk
    alike, or the one would undo what the other chose.
    """
    session, record, fresh = scored.session, moment.record, scored.fresh
    use = last_use_of(session, pin)
    last = session.last_use
    pinned = pin_side(scored, pin, moment)
    serving = {c.binding.model_id for c in scored.score.candidates} | {pin.model_id}
    models = (pinned.binding.model_id, fresh.binding.model_id)
    return PlanQuestion(
        pin=pinned,
        pin_cache=pin_cache(session, pin, scored.passed_over, moment.now_unix_s),
        has_completed_action=use is not None,
        fresh=_side(scored, fresh.binding, fresh.tier),
        input_tokens=scored.input_tokens,
        prefix_tokens=prefix_tokens(session, pin, scored.input_tokens),
        output_tokens=last.tokens.output if last is not None else 0,
        available_models=tuple(sorted(serving)),
        prices=tuple(
            binding for name in models for binding in moment.catalog.models[name].bindings
        ),
        offer=offer,
        risk_price_micros=scored.score.risk_price_micros,
        cost_factors=tuple(pair for pair in record.cost_factors if pair[0] in models),
        catalog_version=record.catalog_version,
        config_version=record.config_version,
        eligibility_id=record.record_id,
    )


def pin_side(scored: Scored, pin: Choice, moment: Moment) -> Side:
    """Return what is known of the pinned model for this action."""
    model = moment.catalog.models[pin.model_id]
    return _side(scored, binding_at(model, pin.provider), model.tier)


def prompt_tokens(session: Session, estimated_tokens: int) -> int:
    """Return the size of the prompt: the estimate, corrected by how the last one missed its count.

    A history that was not cut has what was last counted of it and what came since. By how much
    estimates miss, only a prompt of some length tells: in a short one all that vendors add to it
    outweighs its words.
    """
    last = session.last_use
    if last is None:
        return estimated_tokens
    counted = last.tokens.fresh + last.tokens.cached
    correction = _correction(last.estimated_tokens, counted)
    if last.history_epoch != session.history_epoch:
        return max(1, round(estimated_tokens * correction))
    if not last.estimated_tokens:
        return max(1, estimated_tokens, counted)
    grown = max(0, estimated_tokens - last.estimated_tokens)
    return max(1, counted + round(grown * correction))


def _correction(estimated_tokens: int, counted_tokens: int) -> float:
    """Return what an estimate is to be multiplied by; 1 where too little was estimated."""
    if estimated_tokens < TELLING_TOKENS or counted_tokens <= 0:
        return 1.0
    return min(MOST_CORRECTION, max(1 / MOST_CORRECTION, counted_tokens / estimated_tokens))


def choice_of(scored: Scored, decision: Decision, strategy: Strategy) -> Choice:
    """Return the pin that a fresh decision writes, with the best other model as its pair."""
    serving = decision.plan.bindings[0]
    others = (
        candidate.binding
        for candidate in scored.score.candidates
        if candidate.binding.model_id != serving.model_id
    )
    other = next(others, None)
    return Choice(
        model_id=serving.model_id,
        provider=serving.provider,
        strategy=strategy.value,
        reason=decision.reason,
        paired_model_id=other.model_id if other is not None else "",
        paired_provider=other.provider if other is not None else "",
    )


def binding_at(model: Model, provider: str) -> BindingRef:
    """Return a model's binding at a provider; its primary one where it has none there."""
    own = (binding for binding in model.bindings if binding.provider == provider)
    return BindingRef.of(next(own, model.bindings[0]))


def _side(scored: Scored, binding: BindingRef, tier: ModelTier) -> Side:
    candidate = scored.score.of(binding.model_id)
    risk = candidate.risk if candidate is not None else None
    mean = mean_risk(scored.session, binding.model_id) if risk is not None else None
    return Side(binding, tier, risk, mean)
