"""Which model serves an action and what is tried for it, without selecting or sending."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway import metrics
from gateway.deciding.belief import believed
from gateway.deciding.forcing import FORCED_REASON, yielding_layer
from gateway.deciding.issuers import bound_to, has_provider, issuer_gone
from gateway.deciding.pinned import Moment
from gateway.eligibility import Question
from gateway.eligibility.records import Records
from gateway.eligibility.spent_plans import without_spent_plans
from gateway.ground import Ground, marked_if_switched
from gateway.model.decision import DecisionPath
from gateway.plan import requested_model
from gateway.rescues import DEFAULT_RULES, with_rescues
from services.domain.copying import replace
from services.domain.wire.requirements import unmet

if TYPE_CHECKING:
    from gateway.deciding.pinned import Memory
    from gateway.eligibility import Policy
    from gateway.model import Action, BindingRef, EligibilityAnswer, EligibilityRecord
    from gateway.model.decision import Belief, Decision
    from gateway.ports import Credentials
    from gateway.rescues import RescueRules
    from gateway.routing import Routing
    from services.domain.catalog import Catalog
    from services.domain.vocab import ModelTier
    from services.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class Sources:
    """What decisions are made from, on live traffic as in explanations."""

    credentials: Credentials
    policy: Policy
    catalog: Catalog
    clock: Clock


@dataclass(frozen=True, slots=True)
class Countable:
    """Where the tokens of an action can be counted."""

    record: EligibilityRecord
    binding: BindingRef


class Decider:
    """Decides; without ``routing`` the client's word does."""

    def __init__(
        self,
        sources: Sources,
        routing: Routing | None = None,
        rescues: RescueRules = DEFAULT_RULES,
    ) -> None:
        self._credentials = sources.credentials
        self._policy = sources.policy
        self._records = Records(sources.policy, sources.catalog)
        self._catalog = sources.catalog
        self._clock = sources.clock
        self._routing = routing
        self._rescues = rescues

    async def ground(self, action: Action) -> Ground:
        """Return who may serve an action, frozen for all later stages.

        Raises:
            RouterError: a forced model is not known, or credentials refuse the question.
        """
        caller = action.caller
        if caller.forced_model:
            requested_model(self._catalog, "", caller.forced_model)
        known = await self._credentials.eligibility(caller.installation_id, caller.presented)
        known = without_spent_plans(known, action.issuer)
        ground = Ground(action, known, self._frozen(action, known))
        issuer = action.issuer
        if issuer is not None and not has_provider(ground.record, issuer.provider):
            raise issuer_gone(issuer.provider)
        return ground

    def regrounded(self, ground: Ground, action: Action) -> Ground:
        """Return the ground of the same action with another body."""
        return replace(ground, action=action, record=self._frozen(action, ground.known))

    def unsized(self, ground: Ground) -> Moment:
        """Return what could serve an action if its prompt were of no size."""
        return self._moment(self._frozen(_unsized(ground.action), ground.known))

    async def decide(self, ground: Ground, memory: Memory) -> Decision:
        """Return what serves an action, and what may rescue it.

        Raises:
            RouterError: the model is not known, nothing may serve, or nobody can say what should.
        """
        decision = await self._decided(ground, memory)
        decision = self._with_effort(ground.action, decision)
        self._report_unmet(ground.action, decision)
        moment = self._moment(ground.record)
        return with_rescues(decision, ground, memory.session, moment, self._rescues)

    def believed(
        self, ground: Ground, action: Action, decision: Decision, memory: Memory
    ) -> Belief | None:
        """Return what a decided action is believed to cost; None: its price is not known.

        ``action`` is what goes out, perhaps with a summary that was not sent before.
        """
        moment = self._moment(ground.record)
        session = memory.session
        if action is not ground.action:
            session = replace(session, history_epoch=session.history_epoch + 1)
        return believed(action, decision.plan, session, moment, ground.passed_over)

    def _with_effort(self, action: Action, decision: Decision) -> Decision:
        """Return a decision with the effort that the caller forces, by header or by name."""
        named = action.caller.forced_model or action.features.requested_model
        effort = action.caller.forced_effort or self._catalog.effort_of(named)
        return replace(decision, plan=replace(decision.plan, effort=effort)) if effort else decision

    def _report_unmet(self, action: Action, decision: Decision) -> None:
        """Count the needs that the chosen target meets by halves, so that they can be enforced."""
        needs, chosen = action.features.requirements, decision.plan.bindings[0]
        model = self._catalog.models.get(chosen.model_id)
        rows = [row for row in model.bindings if row.index == chosen.index] if model else []
        if not needs or model is None or not rows:
            return
        source, dialects = action.request.family, self._policy.dialects_at(rows[0])
        lost = [unmet(needs, source, dialect, model.facts) for dialect in dialects]
        for need in min(lost, key=len, default=()):
            metrics.REQUIREMENTS_UNMET.labels(need.value).inc()

    async def _decided(self, ground: Ground, memory: Memory) -> Decision:
        caller = ground.action.caller
        if not caller.forced_model:
            return await self._unforced(ground, memory)
        model = requested_model(self._catalog, "", caller.forced_model)
        if caller.is_forced_by_session and (layer := yielding_layer(ground.record, model)):
            decision = await self._unforced(ground, memory, within=model.tier)
            reason = f"forced_yielded_{layer.value}"
            return replace(decision, reason=reason, pin=None, summary=None)
        reason = FORCED_REASON if caller.is_forced_by_session else "forced"
        decision = ground.decision(model, DecisionPath.FORCED, reason)
        return decision if self._routing is None else marked_if_switched(decision, memory)

    async def _unforced(
        self, ground: Ground, memory: Memory, *, within: ModelTier | None = None
    ) -> Decision:
        if self._routing is not None:
            return await self._routing.decide(ground, memory, within)
        model = requested_model(self._catalog, ground.action.features.requested_model, "")
        return ground.decision(model, DecisionPath.REQUESTED, "requested")

    def is_session_led(self, action: Action) -> bool:
        """Return whether the session of an action has a say in what serves it."""
        if self._routing is None or action.caller.forced_model:
            return False
        return self._routing.is_session_led(action)

    async def countable(self, action: Action) -> Countable:
        """Return where the tokens of an action can be counted: at the model that is named.

        Whether the prompt fits is not asked: that is what its count tells.

        Raises:
            RouterError: nobody serves that model.
        """
        forced = action.caller.forced_model
        model = requested_model(self._catalog, action.features.requested_model, forced)
        ground = await self.ground(_unsized(action))
        decision = ground.decision(model, DecisionPath.REQUESTED, "requested")
        return Countable(ground.record, decision.plan.bindings[0])

    def _moment(self, record: EligibilityRecord) -> Moment:
        return Moment(self._catalog, record, "", self._clock.now_unix_s())

    def _frozen(self, action: Action, known: EligibilityAnswer) -> EligibilityRecord:
        forced = action.caller.forced_model
        model = self._catalog.resolve(forced) if forced else None
        features, overflow_tokens = action.features, action.overflow_tokens
        if overflow_tokens != features.overflow_tokens:
            features = replace(features, overflow_tokens=overflow_tokens)
        question = Question(
            installation_id=action.caller.installation_id,
            features=features,
            now_unix_s=self._clock.now_unix_s(),
            snapshot=known.snapshot,
            family=action.request.family,
            presented=known.identities,
            suppressed_plans=known.suppressed_plans,
            is_credential_brought=bool(action.caller.presented),
            forced_model=model.id if model is not None else "",
            is_long_context_asked=action.caller.wants_long_context,
        )
        record = self._records.freeze(question)
        return bound_to(record, action.issuer.provider) if action.issuer is not None else record


def _unsized(action: Action) -> Action:
    return replace(action, features=replace(action.features, overflow_tokens=0))
