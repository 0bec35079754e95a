"""What sessions need from outside: a place where they outlive the process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.sessions.model import Address, Session

    Place = tuple[bytes, str]  # a session's key and role


class SessionStore(Protocol):
    """Sessions by key and role. Every method may raise RouterError STORE_UNAVAILABLE."""

    async def start(self) -> None:
        """Open the store and see that its tables are those of this program."""
        ...

    async def aclose(self) -> None:
        """Close the store."""
        ...

    async def load(self, address: Address, known: Session | None = None) -> Session | None:
        """Return the session, of whichever installation it was first stored for.

        None: it was never stored. One that cannot be read is empty and has its version. ``known``,
        as it was stored or loaded before, is returned itself while no other version is stored.
        """
        ...

    async def save(self, session: Session) -> Session | None:
        """Store a session over its own version and return it with the next one.

        None, and nothing is stored: somebody else stored another version meanwhile. The
        installation of a stored session never changes.
        """
        ...

    async def save_all(self, sessions: Sequence[Session]) -> Sequence[Session] | None:
        """Store each of several sessions over its own version, and return them with the next ones.

        None, and nothing is stored: another version of one of them is.
        """
        ...

    async def consume(self, address: Address, now_unix_s: float) -> Session | None:
        """Remove and return a session that is not over yet; of callers at once one gets it."""
        ...

    async def recent(self, ended_after_unix_s: float, limit: int) -> Sequence[Session]:
        """Return sessions that end or ended after then, the last to end first."""
        ...

    async def places(self, limit: int) -> Sequence[Place]:
        """Return where sessions are stored, in no order."""
        ...

    async def sweep(self, before_unix_s: float) -> int:
        """Remove the sessions that were over before then; returns how many."""
        ...
