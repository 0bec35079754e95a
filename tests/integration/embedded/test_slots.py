"""A running router whose only account takes one attempt at a time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.fakes.upstream import FakeUpstream, Fault
from tests.integration.cli.pointsman import environment
from tests.integration.embedded.acme import START_S, TOKEN, configured, served

BODY = {"model": "acme-large", "messages": [{"role": "user", "content": "Hello"}]}
ONE_AT_A_TIME = (
    '[[credentials]]\nprovider = "acme"\nlabel = "narrow"\nsecret = "canary-narrow"\n'
    "max_in_flight = 1\n"
)
BUSY_S = 0.5


@contextlib.asynccontextmanager
async def narrow(
    home: Path, upstream: FakeUpstream, **more: str
) -> AsyncIterator[httpx.AsyncClient]:
    """Give a client of a router whose account is slow and takes one attempt at a time."""
    configured(home, upstream)
    file = home / "pointsman.toml"
    file.write_text(file.read_text().replace('api_key = "canary-upstream-key"\n', ONE_AT_A_TIME))
    upstream.script(Fault(delay=BUSY_S), times=None)
    env = environment(home, POINTSMAN_BOOTSTRAP_KEY=TOKEN, POINTSMAN_LOG__FORMAT="json", **more)
    async with served(home, "", env) as process:
        port = (await process.wait_for_event("serving", START_S)).fields["port"]
        headers = {"authorization": f"Bearer {TOKEN}"}
        url = f"http://127.0.0.1:{port}/v1"
        async with httpx.AsyncClient(
            base_url=url, headers=headers, trust_env=False, timeout=30
        ) as client:
            yield client


async def at_once(client: httpx.AsyncClient, count: int) -> list[httpx.Response]:
    """Return the answers to requests made together, the least status first."""
    asked = (client.post("/chat/completions", json=BODY) for _ in range(count))
    return sorted(await asyncio.gather(*asked), key=lambda answer: answer.status_code)


@pytest.mark.spec("CRD-159")
async def test_who_finds_the_only_account_busy_waits_for_it(
    tmp_path: Path, upstream: FakeUpstream
) -> None:
    async with narrow(tmp_path, upstream) as client:
        answers = await at_once(client, 3)
    assert [answer.status_code for answer in answers] == [200, 200, 200]


@pytest.mark.spec("CRD-159")
async def test_who_would_wait_too_long_is_told_when_to_come_back(
    tmp_path: Path, upstream: FakeUpstream
) -> None:
    async with narrow(tmp_path, upstream, POINTSMAN_GATEWAY__SLOT_WAIT_SECONDS="0") as client:
        served_one, refused = await at_once(client, 2)
    assert (served_one.status_code, refused.status_code) == (200, 429)
    assert int(refused.headers["retry-after"]) >= 1
