"""What a decision on one action stands on: who may serve it, and how a choice becomes a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.model import Plan
from gateway.model.decision import CredentialScope, Decision, DecisionPath
from gateway.plan import planned_bindings
from gateway.session_key import affinity_hint
from gateway.sessions.usage import is_model_switched
from services.domain.copying import replace
from services.domain.wire.openai_responses import stored_field

if TYPE_CHECKING:
    from gateway.deciding.pinned import Memory
    from gateway.model import Action, EligibilityAnswer, EligibilityRecord
    from gateway.sessions.model import Choice
    from services.domain.catalog import Model


@dataclass(frozen=True, slots=True)
class Ground:
    """One action, what credentials know of its caller, and the record frozen from both."""

    action: Action
    known: EligibilityAnswer
    record: EligibilityRecord

    @property
    def scope(self) -> CredentialScope:
        """Whose credentials the action runs on, before anything is decided."""
        return self._scope(is_presented=bool(self.known.presented))

    @property
    def has_tenant_credentials(self) -> bool:
        """Whether the installation has credentials of its own."""
        snapshot = self.known.snapshot
        return snapshot is not None and snapshot.has_tenant_credentials

    @property
    def passed_over(self) -> tuple[str, ...]:
        """Credentials that would not be chosen again for what they served."""
        return self.known.snapshot.passed_over if self.known.snapshot is not None else ()

    def decision(
        self,
        model: Model,
        path: DecisionPath,
        reason: str,
        *,
        provider: str = "",
        pin: Choice | None = None,
    ) -> Decision:
        """Return the decision for ``model``, ``provider`` first where that may serve.

        ``pin`` is what the session is pinned to from now on; None: its pin stays as it is.

        Raises:
            RouterError: nothing may serve the model.
        """
        caller = self.action.caller
        bindings = planned_bindings(
            model,
            self.record,
            presented=self.known.identities,
            has_tenant_credentials=self.has_tenant_credentials,
            first=provider,
            needs=self.action.features.requirements,
            stored=stored_field(self.action.request),
        )
        presented = self.known.presented
        if presented:
            planned = {binding.provider for binding in bindings}
            presented = tuple(pair for pair in presented if pair[1].provider in planned)
        plan = Plan(
            bindings=bindings,
            presented=presented,
            is_user_forced=bool(caller.forced_model),
            is_hard_pinned=path is DecisionPath.HARD_PIN,
            is_stream_usage_wanted=self.action.request.is_stream_usage_wanted,
            affinity_key=affinity_hint(caller.session_key),
        )
        scope = self._scope(is_presented=bool(presented))
        return Decision(self.record, plan, reason, path, scope, pin)

    def _scope(self, *, is_presented: bool) -> CredentialScope:
        if is_presented:
            return CredentialScope.CALLER
        is_tenants = self.has_tenant_credentials
        return CredentialScope.TENANT if is_tenants else CredentialScope.DEPLOYMENT


def marked_if_switched(decision: Decision, memory: Memory) -> Decision:
    """Return a decision that says so where signed reasoning may belong to another model."""
    chosen = decision.plan.bindings[0].model_id
    if not is_model_switched(memory.session, chosen, is_history_known=memory.is_known):
        return decision
    return replace(decision, plan=replace(decision.plan, is_model_switched=True))
