"""The loop of one action, written against ports.

Read :meth:`Actions.serve` from top to bottom: what may serve, what is tried, which credential, one
dispatch, the answer. All that is decided is decided by pure rooms.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway import metrics
from gateway.course import Course
from gateway.eligibility import Policy, Question
from gateway.errors import error_of
from gateway.ledger.metered import Metered
from gateway.model import ClientGoneError, Plan
from gateway.plan import planned_bindings, requested_model
from gateway.records import Records
from gateway.relay import Relay, refuse
from services.domain.errors import RouterError
from services.domain.vocab import TurnType
from services.runtime import context as call_context

if TYPE_CHECKING:
    from gateway.model import Action, EligibilityAnswer, EligibilityRecord
    from gateway.ports import Answer, Credentials, Dispatch, Ledger, Reply
    from services.domain.catalog import Catalog, Model
    from services.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class Peers:
    """The services that an action needs."""

    credentials: Credentials
    dispatch: Dispatch


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided before dispatch: the record, and what to try under it."""

    record: EligibilityRecord
    plan: Plan
    reason: str


class Actions:
    """Serves actions; holds no state of any of them."""

    def __init__(
        self,
        peers: Peers,
        policy: Policy,
        catalog: Catalog,
        clock: Clock,
        *,
        ledger: Ledger,
        budget_s: float,
    ) -> None:
        self._peers = peers
        self._ledger = ledger
        self._records = Records(policy, catalog)
        self._catalog = catalog
        self._clock = clock
        self._providers = frozenset(policy.known_providers)
        self._budget_s = budget_s
        self._running: set[Answer] = set()

    async def serve(self, action: Action, reply: Reply) -> None:
        """Serve one action to its end: an answer, an error in the client's dialect, or nobody."""
        course = Course(action, self._clock, self._providers)
        token = call_context.current.set(_call_labels(action))
        metrics.INFLIGHT_ACTIONS.inc()
        try:
            decision = await self.decide(action)
            plan = decision.plan
            grant = await self._peers.credentials.select(
                action, plan.bindings, decision.record, [known for _, known in plan.presented]
            )
            course.fingerprint = grant.fingerprint if grant is not None else ""
            left_s = self._budget_s - course.elapsed_s()
            account = self._ledger.open(action, plan.bindings[0], grant)
            try:
                walk = self._peers.dispatch.dispatch(action, decision.record, plan, grant, left_s)
                answer = Metered(walk, account)
                relay = Relay(action, decision.reason, answer, reply, course, self._clock)
                await self._relayed(relay)
            finally:
                account.close()
        except RouterError as error:
            course.failed(error.reason.value)
            await refuse(action, reply, error_of(error, action.id))
        except (ClientGoneError, asyncio.CancelledError):
            course.client_left()
            raise
        finally:
            metrics.INFLIGHT_ACTIONS.dec()
            course.close(reply.status)
            call_context.current.reset(token)

    async def decide(self, action: Action) -> Decision:
        """Return what may serve an action and what is tried, without selecting or sending.

        Raises:
            RouterError: the model is not known, or nothing may serve it.
        """
        caller = action.caller
        model = requested_model(self._catalog, action.features.requested_model, caller.forced_model)
        known = await self._peers.credentials.eligibility(caller.installation_id, caller.presented)
        record = self._frozen(action, model, known)
        has_own = known.snapshot is not None and known.snapshot.has_tenant_credentials
        bindings = planned_bindings(
            model, record, presented=known.identities, has_tenant_credentials=has_own
        )
        planned = {binding.provider for binding in bindings}
        plan = Plan(
            bindings=bindings,
            presented=tuple(pair for pair in known.presented if pair[1].provider in planned),
            is_user_forced=bool(caller.forced_model),
            is_hard_pinned=action.turn_type is TurnType.PROBE,
            is_stream_usage_wanted=action.request.is_stream_usage_wanted,
            affinity_key=caller.session_key.hex(),
        )
        return Decision(record, plan, "forced" if caller.forced_model else "requested")

    @property
    def running_count(self) -> int:
        """Number of actions whose answer is on its way."""
        return len(self._running)

    def end_running(self) -> None:
        """Cut every running answer; each client gets its dialect's error frame."""
        for answer in tuple(self._running):
            answer.cancel()

    async def _relayed(self, relay: Relay) -> None:
        self._running.add(relay.answer)
        try:
            await relay.run()
        finally:
            self._running.discard(relay.answer)

    def _frozen(self, action: Action, model: Model, known: EligibilityAnswer) -> EligibilityRecord:
        question = Question(
            installation_id=action.caller.installation_id,
            features=action.features,
            now_unix_s=self._clock.now_unix_s(),
            snapshot=known.snapshot,
            presented=known.identities,
            is_credential_brought=bool(action.caller.presented),
            forced_model=model.id if action.caller.forced_model else "",
            is_long_context_asked=action.caller.wants_long_context,
        )
        return self._records.freeze(question)


def _call_labels(action: Action) -> tuple[tuple[str, str], ...]:
    return (
        ("traceparent", call_context.new_traceparent()),
        ("x-action-id", action.id),
        ("x-installation-id", action.caller.installation_id),
    )
