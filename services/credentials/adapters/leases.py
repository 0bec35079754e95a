"""Who may refresh the tokens of which credential, as statements by the store's own clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from services.credentials.adapters.tables import refreshes
from services.credentials.model import Lease

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

FREED = 0.0
"""End of a lease that was given back."""
DOUBTED = 1.0
"""End, long ago, of one whose holder was perhaps answered, and does not come back with that."""
_SQLITE_NOW: sa.ColumnElement[float] = sa.literal_column(
    "((julianday('now') - 2440587.5) * 86400.0)", sa.Double
)
_POSTGRES_NOW: sa.ColumnElement[float] = sa.literal_column(
    "extract(epoch from clock_timestamp())::double precision", sa.Double
)


def now_of(connection: AsyncConnection) -> sa.ColumnElement[float]:
    """Return the time by the store's own clock."""
    return _SQLITE_NOW if _is_sqlite(connection) else _POSTGRES_NOW


async def take(connection: AsyncConnection, credential_id: str, ttl_s: float) -> Lease | None:
    """Return the right to refresh a credential; None: another process has it.

    Raises:
        IntegrityError: the credential is gone.
    """
    now = now_of(connection)
    known = refreshes.c.credential_id == credential_id
    # Locked: who gives it back at this moment is heard before the lease is taken.
    looked = sa.select(refreshes.c.expire_unix_s).where(known).with_for_update()
    earlier = (await connection.execute(looked)).scalar()
    kind = sqlite if _is_sqlite(connection) else postgresql
    wanted = kind.insert(refreshes).values(
        credential_id=credential_id, fence=1, expire_unix_s=now + ttl_s
    )
    taken = wanted.on_conflict_do_update(
        index_elements=[refreshes.c.credential_id],
        set_={"fence": refreshes.c.fence + 1, "expire_unix_s": now + ttl_s},
        where=refreshes.c.expire_unix_s <= now,
    )
    row = (await connection.execute(taken.returning(refreshes.c.fence))).first()
    if row is None:
        return None
    is_doubtful = earlier not in (None, FREED)
    is_orphaned = is_doubtful and earlier != DOUBTED
    return Lease(credential_id, int(row[0]), is_orphaned=is_orphaned, is_doubtful=is_doubtful)


async def extend(connection: AsyncConnection, lease: Lease, ttl_s: float) -> bool:
    """Return whether a lease is still held, and now lasts for so long from now."""
    now = now_of(connection)
    still = sa.and_(_is_of(lease), refreshes.c.expire_unix_s > now)
    done = await connection.execute(
        sa.update(refreshes).where(still).values(expire_unix_s=now + ttl_s)
    )
    return done.rowcount == 1


async def free(connection: AsyncConnection, lease: Lease, *, is_doubtful: bool) -> None:
    """Give a lease back; one that lapsed frees nothing that was given since."""
    freed = sa.update(refreshes).where(_is_of(lease))
    await connection.execute(freed.values(expire_unix_s=DOUBTED if is_doubtful else FREED))


async def lapse_all(connection: AsyncConnection) -> None:
    """Let every lease that was not given back come to its end now: nobody has one any more."""
    held = sa.update(refreshes).where(refreshes.c.expire_unix_s != FREED)
    await connection.execute(held.values(expire_unix_s=DOUBTED))


def _is_sqlite(connection: AsyncConnection) -> bool:
    return connection.dialect.name == "sqlite"


def _is_of(lease: Lease) -> sa.ColumnElement[bool]:
    return sa.and_(
        refreshes.c.credential_id == lease.credential_id, refreshes.c.fence == lease.fence
    )
