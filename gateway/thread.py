"""One action's dealings with its session: what it finds, what it leaves, in memory at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gateway.deciding.pinned import Memory
from gateway.model import EffectKind
from gateway.model.decision import DecisionPath
from gateway.rescues import DEFAULT_RULES, off_vendor
from gateway.session_key import role_of
from gateway.sessions.history import is_trimmed, observe_history, shortened
from gateway.sessions.model import (
    Address,
    BindingUse,
    Choice,
    History,
    Round,
    Session,
    TokenCounts,
)
from gateway.sessions.pins import write_pin
from gateway.sessions.risks import record_risks
from gateway.sessions.rounds import is_stuck, record_round
from gateway.sessions.sizes import correct_estimate
from gateway.sessions.states import keep_states
from gateway.sessions.strikes import apply_effect, begin_probe, end_probe
from gateway.sessions.threads import recall_thread
from gateway.sessions.usage import cache_ttl_s, record_use
from gateway.turns.loops import progress_digest
from services.domain.copying import replace
from services.domain.vocab import ModelTier, TurnType, WireFamily
from services.domain.wire.model import StopReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gateway.model import Action, Effect, Head
    from gateway.model.decision import Decision
    from gateway.rescues import RescueRules
    from gateway.sessions.entry import Transition
    from gateway.sessions.history import Shortening
    from gateway.sessions.memory import Sessions
    from services.domain.catalog import Catalog
    from services.domain.wire.model import Usage
    from services.domain.wire.state.kept import Kept
    from services.runtime.clock import Clock

REPIN_REASON = "cyber-refusal-repin"


class Thread(Protocol):
    """What the loop of an action does with a session."""

    async def recall(self, *, is_led: bool) -> Memory:
        """Return what is remembered. ``is_led``: the session has a say in what serves."""
        ...

    def decided(self, decision: Decision, shortening: Shortening, sent: Action) -> None:
        """Remember a decision, and how the history of ``sent``, which goes out, was shortened."""
        ...

    def served(self, head: Head, usage: Usage | None, stop: StopReason | None) -> None:
        """Remember an answer that ended well; what is told twice counts once."""
        ...

    def affected(self, effects: Iterable[Effect | None]) -> None:
        """Remember what attempts say of models; None says nothing."""
        ...

    def refused(self, head: Head | None) -> None:
        """Remember that a vendor refused for reasons of policy; ``head``: what answered."""
        ...

    def keep(self, states: Sequence[Kept]) -> None:
        """Remember opaque state that the client may lose."""
        ...

    def ended(self) -> None:
        """Hold no model back any longer that this action was to find out about."""
        ...

    async def settle(self) -> None:
        """Return when others can know of it, or after a short patience."""
        ...


class SessionThread:
    """Belongs to one action."""

    def __init__(
        self,
        sessions: Sessions,
        action: Action,
        catalog: Catalog,
        strategy: str,
        clock: Clock,
        rules: RescueRules = DEFAULT_RULES,
    ) -> None:
        self._sessions = sessions
        self._action = action
        self._address = address_in(catalog, action)
        self._strategy = strategy
        self._clock = clock
        self._rules = rules
        self._decision: Decision | None = None
        self._began_unix_s = clock.now_unix_s()
        self._basis_epoch = 0
        self._history_epoch = 0
        self._sent = action
        self._is_remembered = False
        self._is_served = False
        self._is_state_kept = False
        self._probed = ""
        """The model that this action is to find out about, alone of its session; empty: none."""
        self._known_progress = b""

    async def recall(self, *, is_led: bool) -> Memory:
        """Return what is remembered, this action's history counted in.

        A thread that is new, and led, may go on with what the client's last one learned.
        """
        found = await self._sessions.recall(self._address)
        is_new = found.is_known and found.session.history is None
        is_own = self._action.turn_type is not TurnType.SUB_AGENT_DISPATCH
        if is_led and is_new and is_own:
            conversation = self._action.caller.conversation_key
            found = await recall_thread(
                self._sessions, found, self._address, conversation, self._history
            )
        self._basis_epoch = found.session.pin_epoch
        return Memory(
            session=observe_history(found.session, self._history),
            is_known=found.is_known,
            is_history_trimmed=is_trimmed(found.session, self._history),
            is_stuck=is_stuck(found.session, self._progress, self._began_unix_s),
        )

    def decided(self, decision: Decision, shortening: Shortening, sent: Action) -> None:
        """Remember history, risks and pin; of no conversation only how it was shortened."""
        pin = decision.pin
        self._decision = decision
        self._sent = sent
        self._is_remembered = pin is not None or decision.path is DecisionPath.FORCED
        if pin is None:
            if shortening.is_something:
                self._keep(lambda session: shortened(session, shortening))
            return

        def transition(session: Session) -> Session:
            session = observe_history(session, self._history)
            session = record_risks(session, self._action.id, decision.risks)
            if decision.escalation:
                session = replace(session, escalation=session.escalation or decision.escalation)
            session = shortened(session, shortening)
            free, session = session, begin_probe(session, pin.model_id, self._began_unix_s)
            self._probed = pin.model_id if session is not free else ""
            return write_pin(session, pin, self._began_unix_s, basis_epoch=self._basis_epoch)

        self._keep(transition)

    def _keep(self, transition: Transition) -> None:
        changed = self._sessions.change(self._address, transition, is_last=False)
        self._history_epoch = changed.history_epoch

    def served(self, head: Head, usage: Usage | None, stop: StopReason | None) -> None:
        """Remember what an answer left in the cache of the binding that served."""
        if not self._is_remembered or self._is_served or usage is None:
            return
        self._is_served = True
        use = BindingUse(
            model_id=head.binding.model_id,
            provider=head.binding.provider,
            fingerprint=head.fingerprint,
            tokens=TokenCounts(
                fresh=usage.fresh_input,
                cache_read=usage.cache_read or 0,
                cache_write=usage.cache_write or 0,
                output=usage.output,
            ),
            started_unix_s=self._began_unix_s,
            ended_unix_s=self._clock.now_unix_s(),
            cache_ttl_s=cache_ttl_s(
                self._action.request, has_long_cache=head.wire_family is WireFamily.ANTHROPIC
            ),
            history_epoch=self._history_epoch,
            estimated_tokens=self._sent.input_tokens,
            is_output_limited=stop is StopReason.MAX_TOKENS,
        )
        self._sessions.change(self._address, lambda session: self._after(session, use))

    def _after(self, session: Session, use: BindingUse) -> Session:
        session = end_probe(record_use(session, use, self._strategy), use.model_id)
        if not self._action.caller.session_key:
            # Strangers who open alike, as tests of one prompt do, share such a session.
            return session
        made = Round(self._progress, use.model_id, use.provider, self._began_unix_s)
        return record_round(session, made)

    def affected(self, effects: Iterable[Effect | None]) -> None:
        """Remember what attempts say of models.

        Of forced and hard-pinned actions only how long their prompts are.
        """
        is_pinned = self._decision is not None and self._decision.pin is not None
        for effect in filter(None, effects):
            is_of_size = effect.kind is EffectKind.CORRECT_ESTIMATE and self._is_remembered
            if is_pinned or is_of_size:
                self._sessions.change(self._address, self._effected(effect))

    def _effected(self, effect: Effect) -> Transition:
        if effect.kind is EffectKind.CORRECT_ESTIMATE:
            estimated, window = self._sent.features.overflow_tokens, self._window_of(effect)
            return lambda session: correct_estimate(session, estimated, window)
        now_unix_s, cooldown_s = self._clock.now_unix_s(), self._rules.cooldown_s
        return lambda session: apply_effect(session, effect, now_unix_s, cooldown_s)

    def _window_of(self, effect: Effect) -> int:
        """Return the window of the target that an effect is about; 0: it was not planned."""
        plan = self._decision.plan if self._decision is not None else None
        if plan is None:
            return 0
        targets = (plan.bindings, *(rescue.bindings for rescue in plan.rescues))
        return max(
            (
                binding.context_window_tokens
                for bindings in targets
                for binding in bindings
                if (binding.model_id, binding.provider) == (effect.model_id, effect.provider)
            ),
            default=0,
        )

    def refused(self, head: Head | None) -> None:
        """Pin the session to another vendor than the one that refused, where one is known."""
        decision = self._decision
        pin = decision.pin if decision is not None else None
        if decision is None or pin is None or not self._rules.is_repin_on:
            return
        is_rescued = head is not None and head.binding.model_id != pin.model_id
        binding = head.binding if head is not None and is_rescued else off_vendor(decision)
        if binding is None:
            return
        choice = Choice(binding.model_id, binding.provider, self._strategy, REPIN_REASON)
        now_unix_s = self._clock.now_unix_s()
        self._sessions.change(
            self._address,
            lambda session: write_pin(session, choice, now_unix_s, basis_epoch=session.pin_epoch),
        )

    def keep(self, states: Sequence[Kept]) -> None:
        """Remember opaque state that the client may lose, whatever else is remembered."""
        self._is_state_kept = True
        now_unix_s = self._clock.now_unix_s()
        self._sessions.change(
            self._address,
            lambda session: keep_states(session, states, now_unix_s),
            is_last=not self._is_remembered,
        )

    def ended(self) -> None:
        """Let others ask a model of which this action found out nothing: its client may have left.

        What it did find out has ended the probe already.
        """
        probed, self._probed = self._probed, ""
        if probed and not self._is_served:
            self._sessions.change(self._address, lambda session: end_probe(session, probed))

    async def settle(self) -> None:
        """Return when others can know of it, or after a short patience."""
        if self._is_remembered or self._is_state_kept:
            await self._sessions.settle(self._address)

    @property
    def _progress(self) -> bytes:
        if not self._known_progress:
            self._known_progress = progress_digest(self._action.request, self._action.features)
        return self._known_progress

    @property
    def _history(self) -> History:
        features = self._action.features
        return History(features.message_count, features.tool_call_count, self._began_unix_s)


def address_in(catalog: Catalog, action: Action) -> Address:
    """Return where the session of an action is kept."""
    requested = catalog.resolve(action.features.requested_model)
    return address_of(action, requested.tier if requested is not None else ModelTier.UNKNOWN)


def address_of(action: Action, tier: ModelTier) -> Address:
    """Return where the session of an action is kept, for a requested model of that tier."""
    caller = action.caller
    return Address(caller.thread_key, role_of(tier), caller.installation_id)
