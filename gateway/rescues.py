"""Which targets beside the planned bindings an action may be rescued to. Pure.

Dispatch never adds a target of its own: what is listed here survived the eligibility record and the
session's strikes. Which fault opens which target is dispatch's to know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.deciding.hard_pins import by_price
from gateway.eligibility.removals import left_alone, serving_bindings
from gateway.eligibility.spent_plans import has_paying_key
from gateway.model import BindingRef, DecisionPath, Rescue, RescueCause
from gateway.model.decision import CredentialScope
from gateway.sessions.strikes import cooldown_ends, struck_for_life
from services.domain.copying import replace
from services.domain.vocab import CredentialKind
from services.domain.wire.openai_responses import stored_field

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gateway.deciding.pinned import Moment
    from gateway.ground import Ground
    from gateway.model import Plan
    from gateway.model.decision import Decision
    from gateway.sessions.model import Session
    from services.domain.catalog import Model

MAX_SIBLINGS = 4
"""Offered of each kind; a walk tries three targets at most."""
CYBER_VENDOR = "openai"
"""The vendor whose models refuse for reasons of cyber security."""

_PLAN_CAUSES: Mapping[CredentialKind, RescueCause] = {
    CredentialKind.CLAUDE_OAUTH: RescueCause.CLAUDE_PLAN,
    CredentialKind.CODEX_OAUTH: RescueCause.CODEX_PLAN,
}


@dataclass(frozen=True, slots=True)
class RescueRules:
    """How the deployment wants failures to be rescued."""

    is_sibling_on: bool = True
    is_cyber_on: bool = True
    cyber_model: str = ""
    """Serves what an OpenAI model refuses where the session has no runner-up."""
    baseline_model: str = ""
    """Serves where the client names no model of the catalog; empty: none."""
    is_throttle_wait_on: bool = True
    is_transient_cooling_on: bool = False
    is_overload_struck: bool = False
    is_repin_on: bool = True
    """Whether a session leaves the vendor that refused it for reasons of policy."""
    cooldown_s: float = 45.0
    """How long a throttled model rests in a session."""


DEFAULT_RULES = RescueRules()


def with_rescues(
    decision: Decision, ground: Ground, session: Session, moment: Moment, rules: RescueRules
) -> Decision:
    """Return the decision with what its plan may be rescued to.

    Bindings at providers that overloads have disabled for the session go last.
    """
    plan = _with_disabled_last(decision.plan, session)
    candidates = _Candidates(decision, plan, ground, session, moment, rules)
    return replace(
        decision,
        plan=replace(
            plan,
            rescues=candidates.all(),
            is_cyber_retry_enabled=rules.is_cyber_on and not plan.is_user_forced,
            is_throttle_wait_enabled=rules.is_throttle_wait_on,
            is_transient_cooling_enabled=rules.is_transient_cooling_on,
            is_overload_struck=rules.is_overload_struck,
        ),
    )


def is_of_cyber_vendor(model: Model) -> bool:
    """Return whether a model is one of the vendor that refuses for reasons of cyber security."""
    return any(binding.provider == CYBER_VENDOR for binding in model.bindings)


def off_vendor(decision: Decision) -> BindingRef | None:
    """Return where a session goes whose vendor refused it; None: nowhere that is known."""
    for cause in (RescueCause.CYBER_REFUSAL, RescueCause.SIBLING):
        for rescue in decision.plan.rescues:
            if rescue.cause is cause and rescue.is_other_provider:
                return rescue.bindings[0]
    return None


def is_of_outage(rescue: Rescue) -> bool:
    """Return whether a target serves when no binding of the plan can be had."""
    return rescue.cause in (RescueCause.BASELINE, RescueCause.SIBLING)


def _with_disabled_last(plan: Plan, session: Session) -> Plan:
    disabled = frozenset(session.strikes.disabled_providers)
    if not disabled:
        return plan
    ordered = sorted(plan.bindings, key=lambda binding: binding.provider in disabled)
    return replace(plan, bindings=tuple(ordered))


class _Candidates:
    """The targets of one decision, rescue by rescue."""

    def __init__(
        self,
        decision: Decision,
        plan: Plan,
        ground: Ground,
        session: Session,
        moment: Moment,
        rules: RescueRules,
    ) -> None:
        self._decision = decision
        self._plan = plan
        self._ground = ground
        self._session = session
        self._moment = moment
        self._rules = rules
        self._planned = moment.catalog.models[plan.bindings[0].model_id]
        self._providers = {binding.provider for binding in plan.bindings}
        self._struck = struck_for_life(session) | left_alone(decision.record)
        self._cooling = cooldown_ends(session, moment.now_unix_s)
        self._permitted: dict[str, tuple[BindingRef, ...]] = {}
        self._pool = self._others()

    def all(self) -> tuple[Rescue, ...]:
        """Return them all; only those of the same model where another purse must not pay."""
        found = self._plans()
        is_bound = self._decision.scope is not CredentialScope.DEPLOYMENT
        if is_bound and not self._decision.record.is_gateway_exclusive:
            return tuple(found)
        if stored_field(self._ground.action.request):
            return tuple(found)
        plan = self._plan
        if not plan.is_user_forced:
            if self._rules.is_cyber_on and not plan.is_hard_pinned:
                found += self._cyber()
            found += self._baseline()
        found += self._larger_windows()
        if self._rules.is_sibling_on:
            found += self._siblings()
        return tuple(found)

    def _plans(self) -> list[Rescue]:
        """Return the paid key of the same binding, where the caller's plan goes first."""
        binding = self._plan.bindings[0]
        kinds = {
            known.kind for _, known in self._plan.presented if known.provider == binding.provider
        }
        return [
            Rescue(cause, (binding,))
            for kind, cause in _PLAN_CAUSES.items()
            if kind in kinds and self._is_paid(binding)
        ]

    def _is_paid(self, binding: BindingRef) -> bool:
        return has_paying_key(self._decision.record.enabled_providers, binding.provider)

    def _cyber(self) -> list[Rescue]:
        if not is_of_cyber_vendor(self._planned):
            return []
        pins = (self._decision.pin, self._session.pin.choice if self._session.pin else None)
        pair = next((pin.paired_model_id for pin in pins if pin and pin.paired_model_id), "")
        known = map(self._moment.catalog.models.get, dict.fromkeys((pair, self._rules.cyber_model)))
        return [
            self._to(model, RescueCause.CYBER_REFUSAL, bindings)
            for model in known
            if model is not None
            and not is_of_cyber_vendor(model)
            and (bindings := self._bindings_of(model))
        ]

    def _baseline(self) -> list[Rescue]:
        """Return the model that the client named, at its own vendor."""
        catalog = self._moment.catalog
        named = catalog.resolve(self._ground.action.features.requested_model)
        model = named or catalog.models.get(self._rules.baseline_model)
        if model is None or model.id == self._planned.id or not model.bindings:
            return []
        vendor = model.bindings[0].provider
        if vendor == self._plan.bindings[0].provider:
            return []
        at_vendor = tuple(row for row in self._bindings_of(model) if row.provider == vendor)
        return [self._to(model, RescueCause.BASELINE, at_vendor)] if at_vendor else []

    def _larger_windows(self) -> list[Rescue]:
        window = max(row.context_window_tokens for row in self._plan.bindings)
        found: list[Rescue] = []
        for model in (self._planned, *self._pool):
            bindings = self._bindings_of(model)
            larger = [row for row in bindings if row.context_window_tokens > window]
            if larger:
                found.append(self._to(model, RescueCause.LARGER_WINDOW, tuple(larger)))
        return found

    def _siblings(self) -> list[Rescue]:
        return [
            self._to(model, RescueCause.SIBLING, self._bindings_of(model)) for model in self._pool
        ]

    def _others(self) -> list[Model]:
        """Return the other models that may stand in, best first."""
        models = self._moment.catalog.models
        able: list[Model] = []
        for name in dict.fromkeys(self._names()):
            model = models.get(name)
            if model is not None and model.id != self._planned.id and self._bindings_of(model):
                able.append(model)
            if len(able) == MAX_SIBLINGS:
                break
        return able

    def _names(self) -> Iterable[str]:
        decision = self._decision
        if decision.score is not None:
            return [row.binding.model_id for row in decision.score.candidates]
        named = list(self._planned.fallbacks)
        if decision.path in (DecisionPath.STICKY, DecisionPath.DEGRADED):
            pin = self._session.pin
            named += [pin.choice.paired_model_id] if pin is not None else []
            named += [use.model_id for use in self._session.uses]
        elif decision.path is DecisionPath.HARD_PIN:
            named += [row.id for row in by_price(self._moment, self._ground.action.features)]
        return named

    def _bindings_of(self, model: Model) -> tuple[BindingRef, ...]:
        """Return where a model may serve; nowhere where it is not to be picked by itself.

        So it is with a strike for life, and with what the deployment excludes.
        """
        if model.id in self._struck and model.id != self._planned.id:
            return ()
        bindings = self._permitted.get(model.id)
        if bindings is None:
            rows = serving_bindings(self._decision.record, model)
            bindings = tuple(map(BindingRef.of, rows))
            self._permitted[model.id] = bindings
        return bindings

    def _to(self, model: Model, cause: RescueCause, bindings: tuple[BindingRef, ...]) -> Rescue:
        """Return a target: where a model may serve, or some of it."""
        is_other = self._bindings_of(model)[0].provider not in self._providers
        return Rescue(cause, bindings, self._cooling.get(model.id), is_other)
