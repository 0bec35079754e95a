"""Work of credentials that nobody waits for: a fault that ends it is told at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import structlog

from services.credentials.adapters.alone import Alone
from services.credentials.adapters.cipher import AesGcmCipher
from services.credentials.adapters.store_sql import SqlStore
from services.credentials.adapters.token_files import NoTokenFiles
from services.credentials.adapters.token_http import HttpTokenEndpoint
from services.credentials.model import Secrets, TokenClient, TokenReply, TokenRequest
from services.credentials.ports import Shared, TokenEndpoint
from services.credentials.server import Options, Service
from services.domain.vocab import CredentialKind
from tests.fakes.clock import FakeClock
from tests.integration.credentials.cluster import KEY, OPTIONS, account, running

KIND = CredentialKind.CLAUDE_OAUTH


class Deaf(Alone):
    """Fails in a way that nobody foresaw as soon as others are listened to."""

    async def announcements(self) -> AsyncIterator[int]:
        raise LookupError("unforeseen")
        yield 0


class Broken(HttpTokenEndpoint):
    """Fails in a way that nobody foresaw when it is asked for tokens."""

    async def ask(self, request: TokenRequest) -> TokenReply:
        raise LookupError("unforeseen")


def service(
    home: Path,
    options: Options = OPTIONS,
    shared: Shared | None = None,
    endpoint: TokenEndpoint | None = None,
) -> Service:
    return Service(
        SqlStore(f"sqlite:///{home}/credentials.db"),
        AesGcmCipher((KEY,)),
        options,
        FakeClock(),
        shared or Alone(),
        endpoint or HttpTokenEndpoint(),
        NoTokenFiles(),
    )


async def test_a_loop_that_ends_by_a_fault_is_told_and_not_ready(tmp_path: Path) -> None:
    with structlog.testing.capture_logs() as lines:
        async with running(service(tmp_path, shared=Deaf())) as (one,):
            await asyncio.sleep(0.05)
            assert one.readiness() == {"store": True, "upkeep": False, "clock": True}
    (line,) = (line for line in lines if line["log_level"] == "error")
    assert (line["event"], line["task"]) == ("background_ended", "credentials-listening")


async def test_a_refresh_that_ends_by_a_fault_is_told_though_nobody_waits_for_it(
    tmp_path: Path,
) -> None:
    ending = Secrets("access-1", "R1", expire_unix_s=FakeClock().now_unix_s() + 60)
    options = replace(
        OPTIONS,
        declared=(replace(account("a", kind=KIND), secrets=ending),),
        token_urls={KIND: "http://vendor.invalid"},
        token_clients={KIND: TokenClient("client", "")},
    )
    async with running(service(tmp_path, options, endpoint=Broken())) as (one,):
        with structlog.testing.capture_logs() as lines:
            await one.refresher.look()
            await one.refresher.settled()
            await asyncio.sleep(0)
    (line,) = (line for line in lines if line["log_level"] == "error")
    assert (line["event"], line["task"]) == ("background_ended", "token-refresh")
