"""What the gateway needs from outside, as protocols: credentials, dispatch, keys, the client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gateway.model import (
        Action,
        BindingRef,
        EligibilityAnswer,
        EligibilityRecord,
        Grant,
        InstallationId,
        Part,
        Plan,
        Presented,
        PresentedIdentity,
        RouterKey,
        Scope,
    )


class Credentials(Protocol):
    """What can serve, and which credential does."""

    async def eligibility(
        self, installation_id: InstallationId, presented: Sequence[Presented]
    ) -> EligibilityAnswer:
        """Return what can serve; without a snapshot when credentials cannot be asked.

        Raises:
            RouterError: credentials refused the question.
        """
        ...

    async def select(
        self,
        action: Action,
        bindings: Sequence[BindingRef],
        record: EligibilityRecord,
        presented: Sequence[PresentedIdentity],
        max_wait_s: float = 0.0,
    ) -> Grant | None:
        """Return a grant for the first binding that can have one; None: nobody answered.

        Where all credentials are at their limits it waits that long for one that is not.

        Raises:
            RouterError: nothing can be had, with the reason and the wait where one is known.
        """
        ...


class Answer(Protocol):
    """The parts of one dispatched action, in order; read by one reader."""

    async def read(self) -> Part | None:
        """Return the next part, or None after the last.

        Raises:
            RouterError: a service of ours failed, or the answer was cut by :meth:`cancel`.
        """
        ...

    def cancel(self) -> None:
        """End the walk; the upstream request is aborted within a second."""
        ...


class Dispatch(Protocol):
    """Runs attempts against providers."""

    def dispatch(
        self,
        action: Action,
        record: EligibilityRecord,
        plan: Plan,
        grant: Grant | None,
        budget_s: float,
    ) -> Answer:
        """Start the one walk of ``action`` and return its answer."""
        ...

    async def count_tokens(
        self, action: Action, record: EligibilityRecord | None, binding: BindingRef | None
    ) -> int | None:
        """Return the tokens of the action's body; None: nobody answered."""
        ...


class KeyStore(Protocol):
    """Installations and their router keys; the truth about both."""

    async def start(self) -> None:
        """Open the store and see that its tables are those of this program.

        Raises:
            DatabaseError: it cannot be used; the message names it and the fix.
        """
        ...

    async def aclose(self) -> None:
        """Close the store."""
        ...

    async def default_installation(self) -> InstallationId:
        """Return the installation ``default``, made on the first call ever."""
        ...

    async def has_installation(self, installation_id: InstallationId) -> bool:
        """Return whether there is such an installation."""
        ...

    async def find(self, digest: str) -> RouterKey | None:
        """Return the key of a token's digest, live or not.

        Raises:
            DatabaseError: the store does not answer.
        """
        ...

    async def has_keys(self) -> bool:
        """Return whether any key was ever made."""
        ...

    async def add(self, key: RouterKey) -> bool:
        """Store a key; returns false when its digest is stored already."""
        ...

    async def list_keys(self, installation_id: InstallationId) -> Sequence[RouterKey]:
        """Return all keys of an installation, oldest first."""
        ...

    async def spent(self, installation_id: InstallationId) -> Mapping[str, int]:
        """Return what keys of an installation were charged, in micro-USD by id; others: nothing."""
        ...

    async def revoke(self, installation_id: InstallationId, key_id: str, now_unix_s: float) -> bool:
        """End a live key; returns false when there is none of that id."""
        ...

    async def rotate(
        self,
        installation_id: InstallationId,
        key_id: str,
        successor: RouterKey,
        *,
        retire_unix_s: float,
        now_unix_s: float,
    ) -> RouterKey | None:
        """Replace a live key in one transaction and return the successor with its name and scope.

        The old token works until ``retire_unix_s``. Returns None when there is no such live key or
        it has a successor already.
        """
        ...


class Background(Protocol):
    """Something that runs beside the actions, for as long as the gateway does."""

    def start(self) -> None:
        """Begin."""
        ...

    async def aclose(self) -> None:
        """End."""
        ...


class Keys(Protocol):
    """Says who a token belongs to."""

    async def authenticate(self, token: str, scope: Scope) -> RouterKey:
        """Return the live key of ``token``.

        Raises:
            RouterError: ROUTER_KEY_INVALID, or STORE_UNAVAILABLE when it cannot be looked up.
        """
        ...


class Reply(Protocol):
    """The client's end of one action. Nothing is sent before the first call."""

    @property
    def has_begun(self) -> bool:
        """Whether a status went out: no other answer can be given."""
        ...

    @property
    def status(self) -> int:
        """The status that went out; 0: none."""
        ...

    def keep_alive(self, frame: Callable[[], bytes]) -> None:
        """Write what ``frame`` returns into silences of the stream that is to begin."""
        ...

    async def whole(self, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> None:
        """Send a complete answer."""
        ...

    async def begin(self, status: int, headers: Sequence[tuple[str, str]]) -> None:
        """Send status and headers of a stream."""
        ...

    async def write(self, data: bytes) -> None:
        """Send bytes of a stream; waits while the client takes none.

        Raises:
            ClientGoneError: the client does not read any more.
        """
        ...

    async def end(self) -> None:
        """End a stream."""
        ...
