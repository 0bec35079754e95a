"""Decides under the strategy ``cluster``: the scorer picks, the planner keeps or leaves a pin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway import metrics
from gateway.deciding import hard_pins, pinned
from gateway.deciding.client_compactions import compaction_model
from gateway.deciding.escalating import ESCALATION_REASON, escalation_of
from gateway.deciding.forcing import outside
from gateway.deciding.kinds import Choosing, choosing, hard_pin_of, is_sticky
from gateway.deciding.passthrough import (
    CLASSIFIER_REASON,
    CONVERSATION_REASON,
    covered_classifier,
    covered_conversation,
    passed,
)
from gateway.deciding.pinned import Moment
from gateway.deciding.planning import Scored, binding_at, choice_of, plan_question, prompt_tokens
from gateway.deciding.prompt import prompt_of
from gateway.deciding.refusals import NOTHING_ROUTABLE, explained, unavailable, unpinnable
from gateway.deciding.summaries import after_trim, offer_of, switch_writers
from gateway.ground import marked_if_switched
from gateway.model.decision import DecisionPath, SummaryMode, SummaryQuestion
from gateway.sessions.model import Choice
from gateway.sessions.risks import record_risks
from gateway.turns.loops import Loop, loop_of
from services.domain.copying import replace
from services.domain.errors import PeerError, RouterError
from services.domain.vocab import TurnType
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from gateway.deciding.kinds import Rules
    from gateway.deciding.passthrough import Covered
    from gateway.deciding.pinned import Memory
    from gateway.deciding.ports import Planner, Scorer
    from gateway.ground import Ground
    from gateway.model import Action, BindingRef
    from gateway.model.decision import Candidate, Decision
    from gateway.sessions.model import Session
    from services.domain.catalog import Catalog, Model
    from services.domain.vocab import ModelTier
    from services.runtime.clock import Clock

_log = get_logger("gateway")


@dataclass(frozen=True, slots=True)
class _Case:
    """One action with its session as this action finds it."""

    ground: Ground
    memory: Memory
    moment: Moment
    within: ModelTier | None = None
    """The only tier to choose from, while some model of it may serve; None: any."""

    @property
    def session(self) -> Session:
        return self.memory.session


class Routing:
    """Decides; holds no state of any action."""

    def __init__(
        self, scorer: Scorer, planner: Planner, catalog: Catalog, clock: Clock, rules: Rules
    ) -> None:
        self._scorer = scorer
        self._planner = planner
        self._catalog = catalog
        self._clock = clock
        self._rules = rules

    async def decide(
        self, ground: Ground, memory: Memory, within: ModelTier | None = None
    ) -> Decision:
        """Return what serves an action of this session, and what the session is pinned to.

        ``within`` is the only tier to choose from, while some model of it may serve; None: any.

        Raises:
            RouterError: nothing may serve, or nobody can say what should.
        """
        now_unix_s = self._clock.now_unix_s()
        moment = Moment(self._catalog, ground.record, self._rules.strategy.value, now_unix_s)
        decision = await self._chosen(_Case(ground, memory, moment, within))
        decision = after_trim(decision, ground.action, memory, moment, self._rules)
        return marked_if_switched(decision, memory)

    def is_session_led(self, action: Action) -> bool:
        """Return whether the session of an action has a say in what serves it."""
        return choosing(action.turn_type, self._rules) is Choosing.SCORER_AND_PIN

    async def _chosen(self, case: _Case) -> Decision:
        turn_type = case.ground.action.turn_type
        match choosing(turn_type, self._rules):
            case Choosing.HARD_PIN:
                return await self._hard_pinned(case)
            case Choosing.SESSION:
                return await self._of_session(case)
            case Choosing.SCORER:
                is_classifier = turn_type is TurnType.CLASSIFIER
                covered = covered_classifier(case.ground, case.moment) if is_classifier else None
                if covered is not None:
                    return passed(case.ground, covered, CLASSIFIER_REASON)
                return await self._scored(case, None)
            case Choosing.SCORER_AND_PIN:
                if case.within is not None:
                    return await self._scored(case, None)
                return await self._of_conversation(case)

    async def _of_conversation(self, case: _Case) -> Decision:
        """Return what serves an action of a conversation, which its pin has a say in."""
        pin = pinned.usable_pin(case.session, case.moment)
        if pin is not None and pin.reason == ESCALATION_REASON:
            return self._on_pin(case, pin, DecisionPath.ESCALATION, ESCALATION_REASON)
        escalation, strong = self._loop(case, pin)
        if strong is not None:
            return self._escalated(case, strong, escalation)
        decision = await self._unescalated(case, pin)
        return replace(decision, escalation=escalation) if escalation else decision

    async def _unescalated(self, case: _Case, pin: Choice | None) -> Decision:
        if pin is not None and _is_continued(case):
            return self._on_pin(case, pin, DecisionPath.STICKY, "continuation")
        covered = self._covered(case)
        if covered is not None:
            return passed(case.ground, covered, CONVERSATION_REASON)
        if pin is not None and is_sticky(case.ground.action.turn_type, self._rules):
            return self._on_pin(case, pin, DecisionPath.STICKY, "sticky")
        return await self._scored(case, pin, is_pinning=True)

    def _covered(self, case: _Case) -> Covered | None:
        """Return what a plan of the caller's covers; the pin is not touched by it."""
        below = self._rules.passthrough_below_ratio
        covered = covered_conversation(case.ground, case.moment, below) if below else None
        if covered and covered.model.id in pinned.unwanted_models(case.session, case.moment):
            return None
        return covered

    def _loop(self, case: _Case, pin: Choice | None) -> tuple[str, Model | None]:
        """Return what is done about the first loop of a session, and the model to escalate to."""
        if case.session.escalation:
            return "", None
        action = case.ground.action
        loop = loop_of(action.request, action.features, is_stuck=case.memory.is_stuck)
        if loop is Loop.NONE:
            return "", None
        escalation, strong = escalation_of(case.session, pin, case.moment, self._rules)
        metrics.LOOPS.labels(loop.value, escalation.value).inc()
        _log.info("loop_seen", action_id=action.id, kind=loop.value, escalation=escalation.value)
        return escalation.value, strong

    def _escalated(self, case: _Case, strong: Model, escalation: str) -> Decision:
        decision = case.ground.decision(strong, DecisionPath.ESCALATION, ESCALATION_REASON)
        serving, strategy = decision.plan.bindings[0], self._rules.strategy.value
        pin = Choice(serving.model_id, serving.provider, strategy, ESCALATION_REASON)
        return replace(decision, pin=pin, escalation=escalation)

    async def _hard_pinned(self, case: _Case) -> Decision:
        """Return the operator's model for this kind of action, else the fastest or cheapest."""
        ground, moment = case.ground, case.moment
        fixed = hard_pin_of(ground.action.turn_type, self._rules)
        if fixed is not None:
            if not hard_pins.may_pick(fixed[0], moment):
                _log.info("hard_pin_excluded", model=fixed[0], action_id=ground.action.id)
            binding = hard_pins.fixed_binding(fixed, moment)
        else:
            found = await self._scorer.fastest(ground.action, ground.record)
            if found is None or not hard_pins.may_pick(found.model_id, moment):
                found = hard_pins.cheapest_binding(moment, ground.action.features)
            if found is None:
                raise unpinnable(ground.action, ground.record, self._catalog)
            binding = found
        return self._hard(case, binding)

    async def _of_session(self, case: _Case) -> Decision:
        """Return the session's family, for an action about its whole history."""
        if self._rules.hard_pin is not None:
            return await self._hard_pinned(case)
        pin, wanted = pinned.usable_pin(case.session, case.moment), self._rules.compaction_model
        model = compaction_model(case.ground.action, case.session, pin, case.moment, wanted)
        if model is not None:
            provider = pin.provider if pin is not None and pin.model_id == model.id else ""
            return self._hard(case, binding_at(model, provider))
        return await self._scored(case, None)

    def _hard(self, case: _Case, binding: BindingRef) -> Decision:
        model = self._catalog.models[binding.model_id]
        reason = f"hard_pin_{case.ground.action.turn_type.value}"
        return case.ground.decision(model, DecisionPath.HARD_PIN, reason, provider=binding.provider)

    async def _scored(
        self, case: _Case, pin: Choice | None, *, is_pinning: bool = False
    ) -> Decision:
        """Return the decision of the scorer, and of the planner where there is a pin."""
        action, record = case.ground.action, case.ground.record
        try:
            answer = await self._scorer.score(action, record, prompt_of(action.request))
            score = pinned.servable(answer, case.moment)
        except PeerError as error:
            metrics.DEGRADED.labels("scorer").inc()
            if pin is None:
                raise unavailable() from error
            return self._on_pin(case, pin, DecisionPath.DEGRADED, "scorer_unavailable_pin")
        except RouterError as refusal:
            unjudged = self._unjudged(case, refusal)
            if unjudged is not None:
                return unjudged
            raise explained(refusal, action, record, self._catalog) from None
        unwanted = pinned.unwanted_models(case.session, case.moment)
        fresh = pinned.fresh_pick(score, unwanted | outside(score, case.within, case.moment))
        if not is_pinning:
            return self._fresh(case, fresh, DecisionPath.SCORED, score.reason)
        scored = Scored(
            session=record_risks(case.session, action.id, score.risks),
            score=score,
            fresh=fresh,
            input_tokens=prompt_tokens(case.session, action.input_tokens),
            passed_over=case.ground.passed_over,
        )
        decision = await self._pinning(case, scored, pin)
        return replace(decision, score=score, risks=score.risks)

    def _unjudged(self, case: _Case, refusal: RouterError) -> Decision | None:
        """Return the decision for the model that is asked for, where nothing else can serve.

        A model without a tier is no candidate; it serves those who name it.
        """
        asked = self._catalog.resolve(case.ground.action.features.requested_model)
        is_named = asked is not None and case.moment.may_serve(asked.id)
        if asked is None or not is_named or refusal.reason not in NOTHING_ROUTABLE:
            return None
        return case.ground.decision(asked, DecisionPath.REQUESTED, "requested_unscored")

    async def _pinning(self, case: _Case, scored: Scored, pin: Choice | None) -> Decision:
        """Return what the session is pinned to from now on."""
        fresh = scored.fresh
        if pin is None:
            kept = pinned.reanchored(
                case.session, fresh, case.moment, is_history_trimmed=case.memory.is_history_trimmed
            )
            if kept is not None:
                return self._on_pin(case, kept, DecisionPath.REANCHOR, "reanchored")
            decision = self._fresh(case, fresh, DecisionPath.SCORED, scored.score.reason)
            return replace(decision, pin=choice_of(scored, decision, self._rules.strategy))
        if pin.model_id == fresh.binding.model_id:
            return self._on_pin(case, pin, DecisionPath.STAY, "stay_same_model")
        return await self._planned(case, scored, pin)

    async def _planned(self, case: _Case, scored: Scored, pin: Choice) -> Decision:
        """Return the planner's decision; without one the pin stays."""
        action, rules = case.ground.action, self._rules
        writers = switch_writers(action, scored, pin, case.moment, rules, case.memory)
        offer = None
        if writers and rules.summary_mode is SummaryMode.PLANNED:
            offer = offer_of(action, scored.input_tokens, writers[0], case.moment)
        question = plan_question(scored, pin, case.moment, offer)
        answer = await self._planner.plan(action, question)
        if answer is None:
            metrics.DEGRADED.labels("planner").inc()
            return self._on_pin(case, pin, DecisionPath.DEGRADED, "planner_unavailable_pin")
        if not answer.is_switch:
            stay = self._on_pin(case, pin, DecisionPath.STAY, f"stay_{answer.label}")
            return replace(stay, answer=answer)
        reason = f"switch_{answer.label}"
        decision = self._fresh(case, scored.fresh, DecisionPath.SWITCH, reason)
        summary = None
        is_wanted = self._rules.summary_mode is SummaryMode.ALWAYS or answer.is_summary_chosen
        if writers and is_wanted:
            summary = SummaryQuestion(
                from_binding=question.pin.binding,
                to_binding=decision.plan.bindings[0],
                scope=decision.scope,
                summarizers=writers,
            )
        choice = choice_of(scored, decision, self._rules.strategy)
        return replace(decision, pin=choice, summary=summary, answer=answer)

    def _on_pin(self, case: _Case, pin: Choice, path: DecisionPath, reason: str) -> Decision:
        model = self._catalog.models[pin.model_id]
        if pin.paired_model_id or pin.paired_provider:
            pin = replace(pin, paired_model_id="", paired_provider="")
        return case.ground.decision(model, path, reason, provider=pin.provider, pin=pin)

    def _fresh(self, case: _Case, fresh: Candidate, path: DecisionPath, reason: str) -> Decision:
        model = self._catalog.models.get(fresh.binding.model_id)
        if model is None:
            raise unavailable()
        return case.ground.decision(model, path, reason, provider=fresh.binding.provider)


def _is_continued(case: _Case) -> bool:
    return case.memory.is_continued and case.ground.action.turn_type is TurnType.MAIN_LOOP
