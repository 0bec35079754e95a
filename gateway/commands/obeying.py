"""Obeys commands: forces a model on a conversation, lets it go, takes feedback.

What is forced belongs to all threads of a client's session, so that it is kept with the
conversation, in a row of its own. Actions of clients that may command read it before their
thread's, and beside that one what a command left for one action; others read neither.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gateway import metrics
from gateway.commands.model import MARK, Command, CommandKind
from gateway.commands.naming import Named, named
from gateway.deciding.forcing import FORCED_REASON
from gateway.eligibility.removals import removal_of
from gateway.model import Layer
from gateway.session_key import log_label, next_role
from gateway.sessions.model import Address, Choice
from gateway.sessions.pins import clear_pin, live_pin, write_pin
from gateway.thread import address_in
from gateway.turns.marks import CODEX
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from gateway.decider import Decider
    from gateway.model import Action
    from gateway.sessions.memory import Sessions
    from gateway.sessions.model import Session
    from services.domain.catalog import Catalog
    from services.runtime.clock import Clock

FORCED_ROLE = "forced"
"""Role of the row that says what a conversation is forced to."""
_MAX_SHOWN = 100
_log = get_logger("gateway")


class Commands:
    """Holds no state of any action."""

    def __init__(
        self, sessions: Sessions, decider: Decider, catalog: Catalog, clock: Clock, strategy: str
    ) -> None:
        self._sessions = sessions
        self._decider = decider
        self._catalog = catalog
        self._clock = clock
        self._strategy = strategy

    async def obeyed(self, action: Action) -> str | None:
        """Obey the command of an action; return what to answer, None: go on with the action.

        Raises:
            RouterError: credentials refuse to say what may serve.
        """
        command = action.command
        if command is None:
            return None
        metrics.COMMANDS.labels(command.kind.name.lower()).inc()
        match command.kind:
            case CommandKind.FORCE:
                refusal, told = await self._forced(action, command)
            case CommandKind.UNFORCE:
                refusal, told = "", self._let_go(action)
            case CommandKind.FEEDBACK:
                refusal, told = "", self._took(action, command)
        await self._keep_once(action)
        return MARK + (refusal or told) if refusal or command.is_alone else None

    async def with_forced(self, action: Action) -> Action:
        """Return an action with the model that its conversation is forced to, if it is."""
        if not action.may_command or action.caller.forced_model:
            return action
        pin = (await self._sessions.recall(_forced_address(action))).session.pin
        if pin is None or not pin.is_forced or pin.choice.model_id not in self._catalog.models:
            return action
        effort = action.caller.forced_effort or pin.choice.effort
        caller = replace(
            action.caller,
            forced_model=pin.choice.model_id,
            forced_effort=effort,
            is_forced_by_session=True,
        )
        return replace(action, caller=caller)

    async def continued(self, action: Action) -> bool:
        """Return whether a command went before, after which a pin is kept once; asked once only."""
        if not action.may_command or action.caller.forced_model:
            return False
        address = self._next_address(action)
        kept = (await self._sessions.recall(address)).session.pin
        if kept is None or not kept.is_live_at(self._clock.now_unix_s()):
            return False
        return await self._sessions.consume(address) is not None

    async def _forced(self, action: Action, command: Command) -> tuple[str, str]:
        """Return why a model is not forced, and what to answer when it is."""
        name = command.argument
        found = named(name, self._catalog)
        if found is None:
            near = self._catalog.nearest(name)
            hint = f" Did you mean {', '.join(near)}?" if near else ""
            return f"unknown model {name[:_MAX_SHOWN]!r}; nothing is changed.{hint}", ""
        model_id = found.model.id
        ground = await self._decider.ground(action)
        removals = [
            removal_of(ground.record, model_id, binding.provider)
            for binding in found.model.bindings
        ]
        if None not in removals:
            layer = removals[0] or Layer.NO_CREDENTIAL
            return f"{model_id} may not serve here ({layer.value}); nothing is changed.", ""
        self._pin(action, found)
        sign = "$" if action.caller.client_app == CODEX else "/"
        return "", f"{model_id} serves this conversation from now on; {sign}unforce-model ends it."

    def _pin(self, action: Action, found: Named) -> None:
        now_unix_s = self._clock.now_unix_s()
        model = found.model
        choice = Choice(
            model.id,
            model.bindings[0].provider,
            self._strategy,
            FORCED_REASON,
            effort=found.effort,
        )
        self._sessions.change(
            _forced_address(action),
            lambda session: write_pin(
                session, choice, now_unix_s, basis_epoch=session.pin_epoch, is_forced=True
            ),
        )

    def _let_go(self, action: Action) -> str:
        now_unix_s = self._clock.now_unix_s()

        def transition(session: Session) -> Session:
            return clear_pin(session, "unforced", now_unix_s)

        self._sessions.change(_forced_address(action), transition)
        return "no model is forced on this conversation any more."

    def _took(self, action: Action, command: Command) -> str:
        verdict = {"+": "good", "-": "bad"}.get(command.argument, "unsaid")
        metrics.FEEDBACK.labels(verdict).inc()
        label = log_label(action.caller.thread_key)
        _log.info("feedback", action_id=action.id, session_hash=label, verdict=verdict)
        return "thank you, noted."

    async def _keep_once(self, action: Action) -> None:
        """See to it that the thread's own pin serves its next action, whatever a scorer says."""
        thread = address_in(self._catalog, action)
        now_unix_s = self._clock.now_unix_s()
        pin = live_pin((await self._sessions.recall(thread)).session, self._strategy, now_unix_s)
        if pin is None or pin.is_forced:
            return
        choice = pin.choice
        self._sessions.change(
            self._next_address(action),
            lambda session: write_pin(session, choice, now_unix_s, basis_epoch=session.pin_epoch),
        )

    def _next_address(self, action: Action) -> Address:
        thread = address_in(self._catalog, action)
        return replace(thread, role=next_role(thread.role))


def _forced_address(action: Action) -> Address:
    caller = action.caller
    return Address(caller.conversation_key, FORCED_ROLE, caller.installation_id)
