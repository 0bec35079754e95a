"""What the credentials service needs from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from services.credentials.model import (
        AuditEntry,
        Kept,
        Lease,
        Record,
        Sealed,
        Secrets,
        Slot,
        Stored,
        TokenReply,
        TokenRequest,
    )


class Store(Protocol):
    """Keeps credentials, their marks and the audit log; each write is one transaction.

    Every write raises the revision by one. Every method raises RouterError STORE_UNAVAILABLE when
    the database is down or late.
    """

    async def start(self) -> None:
        """Make sure that the tables are there.

        Raises:
            DatabaseError: the database cannot be used, or must be migrated first.
        """
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...

    async def load(self) -> Stored:
        """Return everything; a row that cannot be read comes as a quarantined credential."""
        ...

    async def changes(self, since: int) -> Stored | None:
        """Return what changed after a revision; None: that is forgotten, load all."""
        ...

    async def revision(self) -> int:
        """Return the number of writes so far."""
        ...

    async def now_unix_s(self) -> float:
        """Return the time by the store's own clock, by which leases end."""
        ...

    async def insert(self, records: Sequence[Record], audit: AuditEntry | None) -> int | None:
        """Store new credentials in one step and return the revision after it.

        None: an id or an idempotency key is taken, and nothing was written.
        """
        ...

    async def replace(
        self, record: Record, expected_state_version: int, audit: AuditEntry | None
    ) -> int:
        """Store the whole record, marks included, in place of the expected version.

        Raises:
            RouterError: VERSION_CONFLICT when another version is stored, or none.
        """
        ...

    async def delete(
        self, credential_id: str, expected_state_version: int, audit: AuditEntry | None
    ) -> int | None:
        """Remove a credential with its marks and return the revision after it.

        0 as the expected version: whatever is stored. None: it was not there.

        Raises:
            RouterError: VERSION_CONFLICT when another version is stored.
        """
        ...

    async def deployment_key(self, name: str, fresh: Sealed) -> Sealed:
        """Return the sealed key of that name; ``fresh`` becomes it when there is none yet."""
        ...

    async def replace_deployment_key(self, name: str, expected: Sealed, fresh: Sealed) -> None:
        """Store a deployment's key sealed anew; where another one is stored that stays."""
        ...

    async def take_lease(self, credential_id: str, ttl_s: float) -> Lease | None:
        """Return the right to refresh a credential, by the store's own clock.

        None: another process has it, or the credential is gone.
        """
        ...

    async def extend_lease(self, lease: Lease, ttl_s: float) -> bool:
        """Return whether a lease is still held, and now lasts for so long from now."""
        ...

    async def free_lease(self, lease: Lease, *, is_doubtful: bool = False) -> None:
        """Give a lease back; one that lapsed frees nothing that was given since.

        ``is_doubtful``: the next holder is told that the token may have been spent.
        """
        ...


class TokenEndpoint(Protocol):
    """Asks vendors for new tokens."""

    async def ask(self, request: TokenRequest) -> TokenReply:
        """Return what was said; never raises for a vendor that is down or late."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...


class TokenJournal(Protocol):
    """Keeps new tokens, sealed, from the moment they come until the store has them."""

    async def keep(self, kept: Kept) -> None:
        """Keep a pair so that it outlives this process; an earlier one of the account goes.

        Raises:
            OSError: it cannot be kept.
        """
        ...

    async def kept(self) -> tuple[Kept, ...]:
        """Return what is kept.

        Raises:
            OSError: it cannot be read.
        """
        ...

    async def drop(self, credential_id: str) -> None:
        """Forget the pair of an account.

        Raises:
            OSError: it cannot be removed.
        """
        ...


class Cipher(Protocol):
    """Seals secrets so that only this deployment, and only the same row, can open them."""

    async def start(self) -> None:
        """Make the keys ready.

        Raises:
            OSError: a key file cannot be read or made.
        """
        ...

    @property
    def key_id(self) -> str:
        """Return the public name of the first key."""
        ...

    def seal(self, plain: bytes, context: str) -> Sealed:
        """Return ``plain`` encrypted under the first key, bound to ``context``."""
        ...

    def open(self, sealed: Sealed, context: str) -> bytes | None:
        """Return what was sealed; None: no key opens it, or it is another context's."""
        ...

    def seal_secrets(self, secrets: Secrets, credential_id: str, provider: str) -> Sealed:
        """Return the secrets of one credential, sealed for its row."""
        ...

    def open_secrets(self, sealed: Sealed, credential_id: str, provider: str) -> Secrets | None:
        """Return the secrets of one credential; None: they cannot be read."""
        ...


class Shared(Protocol):
    """What replicas share beside the store: it may be lost at any time, and then each goes on by
    itself. No method raises when it is down; nothing secret goes there.
    """

    @property
    def is_alone(self) -> bool:
        """Whether nothing is shared: there is one replica, or what they share is down."""
        ...

    @property
    def replica_count(self) -> int:
        """Replicas that were there when they could last be counted, this one among them; 0: they
        never could be."""
        ...

    async def meet(self) -> bool:
        """Tell the others that this replica is there, and count them.

        True: slots that it took may not be known any more, so they are to be renewed now.
        """
        ...

    async def start(self, space: str) -> None:
        """Begin to use it; names of one deployment are apart from those of others by ``space``."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...

    async def announce(self, revision: int) -> bool:
        """Tell the others that the store was written; false: they could not be told."""
        ...

    def announcements(self) -> AsyncIterator[int]:
        """Yield revisions as others announce them, until cancelled."""
        ...

    async def bound(self, key: str, credential_id: str, ttl_s: float) -> str:
        """Return the credential that a session is bound to; the given one where it had none."""
        ...

    async def rebind(self, key: str, credential_id: str, ttl_s: float) -> None:
        """Bind a session anew, or for longer."""
        ...

    async def take(self, slot: Slot, ttl_s: float) -> bool:
        """Return whether a slot was free over all replicas, and is now taken for a while."""
        ...

    async def renew(self, slot: Slot, ttl_s: float) -> None:
        """Keep the slot of an attempt that runs; where it was lost it is counted again."""
        ...

    async def free(self, slot: Slot) -> None:
        """Give a slot back; one that lapsed frees nothing that was taken since."""
        ...
