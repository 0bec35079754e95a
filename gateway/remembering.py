"""Where sessions are kept, and what each action has of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.deciding.pinned import Memory
from gateway.sessions.model import Session
from gateway.sessions.states import keep_states
from gateway.thread import address_of
from services.domain.vocab import ModelTier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gateway.eligibility import Policy
    from gateway.model import Action, Effect, Head
    from gateway.model.decision import Decision
    from gateway.sessions.history import Shortening
    from gateway.sessions.memory import Sessions
    from gateway.sessions.ports import SessionStore
    from gateway.thread import Thread
    from services.domain.catalog import Catalog
    from services.domain.wire.model import StopReason, Usage
    from services.domain.wire.state.kept import Kept
    from services.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class Remembering:
    """A store of sessions and the memory in front of it."""

    store: SessionStore
    sessions: Sessions

    async def start(self) -> None:
        """Open the store and begin to write.

        Raises:
            RouterError: the store does not answer.
        """
        await self.store.start()
        await self.sessions.start()

    async def aclose(self) -> None:
        """Store what is pending and close the store; bounded."""
        await self.sessions.aclose()
        await self.store.aclose()


class StateThread:
    """Remembers the opaque state of vendors and nothing else; belongs to one action.

    For a client whose word decides what serves: it may name a model of another vendor, which wants
    to see its state again.
    """

    def __init__(
        self, sessions: Sessions, action: Action, clock: Clock, *, is_foreign: bool
    ) -> None:
        self._sessions = sessions
        self._clock = clock
        self._address = address_of(action, ModelTier.UNKNOWN)
        self._is_sought = is_foreign and action.features.message_count > 1
        self._is_kept = False

    async def recall(self, *, is_led: bool) -> Memory:
        """Return the session where the history may lack what it keeps, else an empty one."""
        if not self._is_sought:
            return Memory(Session(self._address))
        found = await self._sessions.recall(self._address)
        return Memory(found.session, is_known=found.is_known)

    def decided(self, decision: Decision, shortening: Shortening, sent: Action) -> None:
        """Do nothing."""

    def served(self, head: Head, usage: Usage | None, stop: StopReason | None) -> None:
        """Do nothing."""

    def affected(self, effects: Iterable[Effect | None]) -> None:
        """Do nothing."""

    def refused(self, head: Head | None) -> None:
        """Do nothing."""

    def keep(self, states: Sequence[Kept]) -> None:
        """Remember opaque state that the client may lose."""
        self._is_kept = True
        now_unix_s = self._clock.now_unix_s()
        self._sessions.change(
            self._address, lambda session: keep_states(session, states, now_unix_s)
        )

    def ended(self) -> None:
        """Do nothing."""

    async def settle(self) -> None:
        """Return when others can know of it, or after a short patience."""
        if self._is_kept:
            await self._sessions.settle(self._address)


def state_threads(
    sessions: Sessions, policy: Policy, catalog: Catalog, clock: Clock
) -> Callable[[Action], Thread]:
    """Return what remembers state alone for each action."""

    def thread_of(action: Action) -> Thread:
        is_foreign = is_model_foreign(action, policy, catalog)
        return StateThread(sessions, action, clock, is_foreign=is_foreign)

    return thread_of


def is_model_foreign(action: Action, policy: Policy, catalog: Catalog) -> bool:
    """Return whether the model that a client names may be served in another dialect."""
    model = catalog.resolve(action.caller.forced_model or action.features.requested_model)
    bindings = model.bindings if model is not None else ()
    families = {family for binding in bindings for family in policy.dialects_at(binding)}
    return not families <= {action.surface}
