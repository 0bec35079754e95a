"""A pool that is stated anew reaches the store as soon as that takes it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from structlog.testing import capture_logs

from services.credentials.model import CredentialSpec, Origin, Secrets
from services.credentials.policy.declared import Declared
from services.credentials.server.redeclaring import RETRY_S, Redeclarer
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialKind
from tests.fakes.clock import FakeClock

Pool = tuple[Declared, ...]


def pool(label: str) -> Pool:
    """Return a pool of one account."""
    spec = CredentialSpec(provider="acme", kind=CredentialKind.API_KEY, label=label)
    return (Declared(spec, Secrets(value="s"), Origin.POOL),)


class Vault:
    """Takes pools, but for as long as it is away."""

    def __init__(self) -> None:
        self.is_away = False
        self.tries = 0
        self.held: list[Pool] = []

    async def declare(self, wanted: Pool) -> None:
        """Hold a pool."""
        self.tries += 1
        if self.is_away:
            raise RouterError(Reason.STORE_UNAVAILABLE, "the store is away")
        self.held.append(wanted)


@contextlib.asynccontextmanager
async def running(vault: Vault, clock: FakeClock) -> AsyncIterator[Redeclarer]:
    """Give what brings pools to a vault."""
    redeclarer = Redeclarer(vault, clock)
    task = asyncio.create_task(redeclarer.run())
    yield redeclarer
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def settle() -> None:
    """Let everything run that can."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.spec("OPS-99")
async def test_the_pool_that_was_stated_last_is_stored_once_the_store_is_back() -> None:
    vault, clock = Vault(), FakeClock()
    async with running(vault, clock) as redeclarer:
        redeclarer.want(pool("a"))
        await settle()
        assert vault.held == [pool("a")]
        vault.is_away = True
        with capture_logs() as lines:
            redeclarer.want(pool("b"))
            await settle()
            redeclarer.want(pool("c"))
            await clock.pass_time(RETRY_S)
        assert [line["event"] for line in lines] == ["pool_not_reconciled"]
        assert vault.tries == 3
        vault.is_away = False
        clock.advance(RETRY_S)
        await settle()
        assert vault.held == [pool("a"), pool("c")]
        clock.advance(RETRY_S)
        await settle()
        assert vault.tries == 4
