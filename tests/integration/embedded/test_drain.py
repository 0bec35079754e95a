"""How everything in one process stops while an answer is on its way."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.fakes.process import RunningProcess
from tests.fakes.upstream import FakeUpstream, Fault
from tests.integration.cli.pointsman import environment
from tests.integration.embedded.acme import START_S, TOKEN, configured, served

BODY = {"model": "acme-large", "messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture
async def running(tmp_path: Path, upstream: FakeUpstream) -> AsyncIterator[RunningProcess]:
    configured(tmp_path, upstream)
    env = environment(tmp_path, POINTSMAN_BOOTSTRAP_KEY=TOKEN)
    async with served(tmp_path, "", env) as one:
        await one.wait_for_event("serving", START_S)
        yield one


@pytest.fixture
async def client(running: RunningProcess) -> AsyncIterator[httpx.AsyncClient]:
    line = await running.wait_for_event("serving", START_S)
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{line.fields['port']}",
        headers={"x-router-key": TOKEN},
        trust_env=False,
        timeout=30,
    ) as opened:
        yield opened


async def asked(client: httpx.AsyncClient, upstream: FakeUpstream) -> asyncio.Task[httpx.Response]:
    """Return a request that has reached the provider and waits for its answer."""
    task = asyncio.create_task(client.post("/v1/chat/completions", json=BODY))
    await upstream.wait_until(lambda: upstream.seen > 0, 10)
    return task


@pytest.mark.spec("OPS-112")
async def test_a_running_answer_is_finished_before_the_end(
    running: RunningProcess, client: httpx.AsyncClient, upstream: FakeUpstream
) -> None:
    upstream.script(Fault(delay=2.0))
    answer = await asked(client, upstream)
    running.send_signal(signal.SIGTERM)
    assert (await answer).status_code == 200
    assert await running.wait() == 0


async def test_a_second_signal_ends_the_wait(
    running: RunningProcess, client: httpx.AsyncClient, upstream: FakeUpstream
) -> None:
    upstream.script(Fault(delay=25.0))
    answer = await asked(client, upstream)
    running.send_signal(signal.SIGTERM)
    await running.wait_for_event("draining")
    began = time.monotonic()
    running.send_signal(signal.SIGTERM)
    assert await running.wait() == 0
    assert time.monotonic() - began < 8
    with contextlib.suppress(httpx.TransportError):
        assert (await answer).status_code >= 500
