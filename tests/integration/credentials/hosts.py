"""Machines on which processes of the service come and go over one store."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa

from services.credentials.adapters.alone import Alone
from services.credentials.adapters.cipher import AesGcmCipher
from services.credentials.adapters.store_sql import SCHEMA, SqlStore
from services.credentials.adapters.token_files import TokenFiles
from services.credentials.adapters.token_http import HttpTokenEndpoint
from services.credentials.model import (
    AuditEntry,
    CredentialSpec,
    Origin,
    Record,
    Secrets,
    TokenClient,
    version_conflict,
)
from services.credentials.policy.declared import Declared
from services.credentials.server import Options, Service
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialKind
from services.runtime import database
from tests.fakes.clock import FakeClock
from tests.fakes.tokens import TokenIssuer
from tests.integration.credentials.cluster import KEY, OPTIONS, named

CLAUDE = CredentialKind.CLAUDE_OAUTH


class Fallible(SqlStore):
    """A store that takes no records while it is told so."""

    is_broken = False
    is_silent = False
    """Whether it does not even say so."""
    is_away = False
    """Whether it cannot be read."""
    overtaken = 0
    """How many more writes are told that another one was faster."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.writes: list[Record] = []
        """Records that came, whether or not they were taken."""

    async def revision(self) -> int:
        """Return the revision, or say that the store is down."""
        if self.is_away:
            raise RouterError(Reason.STORE_UNAVAILABLE, "the store is away")
        return await super().revision()

    async def replace(
        self, record: Record, expected_state_version: int, audit: AuditEntry | None
    ) -> int:
        """Store a record, or say that the store is down."""
        self.writes.append(record)
        if self.is_silent:
            await asyncio.Event().wait()
        if self.is_broken:
            raise RouterError(Reason.STORE_UNAVAILABLE, "the store is away")
        if self.overtaken:
            self.overtaken -= 1
            raise version_conflict()
        return await super().replace(record, expected_state_version, audit)


class Host:
    """A machine on which processes of the service come and go."""

    def __init__(
        self,
        url: str,
        issuer: TokenIssuer,
        folder: Path,
        orphan_wait_s: float,
        keys: tuple[bytes, ...] = (KEY,),
        sync: Callable[[int], None] = os.fsync,
    ) -> None:
        self.store = Fallible(url)
        self.clock = FakeClock()
        now = self.clock.now_unix_s()
        secrets = Secrets("access-1", "R1", expire_unix_s=now + 60)
        pool = (Declared(CredentialSpec("anthropic", CLAUDE, label="a"), secrets, Origin.POOL),)
        options = Options(
            families=OPTIONS.families,
            declared=pool,
            token_urls={CLAUDE: issuer.url},
            token_clients={CLAUDE: TokenClient("client")},
            poll_s=0,
            orphan_wait_s=orphan_wait_s,
        )
        self.files = TokenFiles(folder, sync)
        self.service = Service(
            self.store,
            AesGcmCipher(keys),
            options,
            self.clock,
            Alone(),
            HttpTokenEndpoint(),
            self.files,
        )

    def tokens(self) -> tuple[str, str]:
        """Return the pair that this process sends."""
        secrets = self.service.vault.secrets_of(named(self.service, "a").id)
        return secrets.value, secrets.refresh_token

    async def look(self) -> None:
        """Return when what is due was done."""
        await self.service.refresher.look()
        await self.service.refresher.settled()


async def lapse_leases(url: str) -> None:
    """Let the leases of all who are silent come to their end."""
    engine = database.open_engine(url, schema=SCHEMA)
    async with engine.begin() as connection:
        await connection.execute(
            sa.text("UPDATE refreshes SET expire_unix_s = 2 WHERE expire_unix_s > 1")
        )
    await engine.dispose()
