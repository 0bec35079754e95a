"""Clients of every dialect that leave, in every state of an action: nothing goes on upstream."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from services.domain.vocab import WireFamily
from tests.e2e.deployments import Deployment
from tests.e2e.families import model_of
from tests.e2e.faults import asked
from tests.fakes.upstream import Ending, FakeUpstream, Fault

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.spec("XLT-147", "DSP-3", "DSP-190", "DSP-191"),
]

AT_MOST_SECONDS = 1.0
FIRST_BACKOFF_SECONDS = 0.25
FAMILIES = tuple(WireFamily)
PAIRS = [(client, FAMILIES[(at + off) % 4]) for at, client in enumerate(FAMILIES) for off in (0, 1)]
"""Each dialect at a provider of its own, and at one of another."""

by_streaming = pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def clean(provider: FakeUpstream) -> AsyncIterator[None]:
    provider.clear()
    yield
    assert provider.open_streams == 0


@by_streaming
async def test_while_no_headers_have_come(
    families: Deployment, provider: FakeUpstream, is_stream: bool
) -> None:
    provider.script(Fault(delay=30), times=None)
    async with leaving(families, provider, is_stream=is_stream):
        pass
    await all_aborted(provider)


@by_streaming
async def test_while_an_answer_comes(
    families: Deployment, provider: FakeUpstream, is_stream: bool
) -> None:
    provider.script(Fault(chunks=8, stall_after=6, stall=30), times=None)
    async with leaving(families, provider, is_stream=is_stream):
        await asyncio.sleep(0.3)
    await all_aborted(provider)


@by_streaming
async def test_while_the_router_waits_to_try_again(
    families: Deployment, provider: FakeUpstream, is_stream: bool
) -> None:
    provider.script(Fault(status=503), times=None)
    async with leaving(families, provider, is_stream=is_stream):
        pass
    await asyncio.sleep(0.1)  # for what is on its way
    asked_before = provider.seen
    await asyncio.sleep(FIRST_BACKOFF_SECONDS * 2)
    assert provider.seen == asked_before


async def test_afterwards_everybody_is_served(families: Deployment, provider: FakeUpstream) -> None:
    async with families.client() as client:
        for family in FAMILIES:
            path, body = asked(family, model_of(family), is_stream=False)
            headers = {"content-type": "application/json"}
            answer = await client.post(path, content=body, headers=headers)
            assert answer.status_code == 200


@contextlib.asynccontextmanager
async def leaving(
    deployment: Deployment, provider: FakeUpstream, *, is_stream: bool
) -> AsyncIterator[None]:
    """Let every pair ask; once the provider has heard of all, go on inside; then all leave."""
    async with deployment.client() as client:
        asking = []
        for family, upstream in PAIRS:
            path, body = asked(family, model_of(upstream), is_stream=is_stream)
            headers = {"content-type": "application/json"}
            posting = client.post(path, content=body, headers=headers)
            asking.append(asyncio.ensure_future(posting))
        try:
            await provider.wait_until(lambda: provider.seen >= len(PAIRS))
            yield
            assert not any(each.done() for each in asking)
        finally:
            for each in asking:
                each.cancel()
            await asyncio.wait(asking)


async def all_aborted(provider: FakeUpstream) -> None:
    await provider.wait_until(lambda: provider.aborted == len(PAIRS), AT_MOST_SECONDS)
    assert provider.seen == len(PAIRS)
    assert {request.ending for request in provider.requests} == {Ending.CLIENT_ABORTED}
