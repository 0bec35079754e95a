"""A client that leaves, at whatever moment, ends its request to the provider within a second."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from services.domain.vocab import WireFamily
from tests.e2e.deployments import Deployment
from tests.e2e.faults import asked
from tests.e2e.settings import CHAT, MESSAGES, Wishes
from tests.e2e.streams import JSON
from tests.fakes.upstream import Ending, FakeUpstream, Fault

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.spec("XLT-147", "DSP-3", "DSP-190"),
]

BACKOFF_SECONDS = 1.0
WISHES = Wishes(dispatch=f"backoff_base_ms = {int(BACKOFF_SECONDS * 1000)}")
AT_MOST_SECONDS = 1.0

by_streaming = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
by_pair = pytest.mark.parametrize(
    ("dialect", "model"),
    [
        (WireFamily.ANTHROPIC, MESSAGES),
        (WireFamily.OPENAI_CHAT, MESSAGES),
        (WireFamily.OPENAI_RESPONSES, CHAT),
        (WireFamily.GEMINI, CHAT),
    ],
    ids=["same-family", "chat-translated", "responses-translated", "gemini-translated"],
)


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def clean(provider: FakeUpstream) -> AsyncIterator[None]:
    provider.clear()
    yield
    assert provider.open_streams == 0


@by_pair
@by_streaming
async def test_while_the_provider_has_sent_no_headers(
    deployment: Deployment,
    provider: FakeUpstream,
    dialect: WireFamily,
    model: str,
    *,
    streamed: bool,
) -> None:
    provider.script(Fault(delay=30))
    async with leaving(deployment, dialect, model, streamed=streamed):
        await provider.wait_until(lambda: provider.seen == 1)
    await _until_aborted(provider)


@by_pair
@by_streaming
async def test_in_the_middle_of_an_answer(
    deployment: Deployment,
    provider: FakeUpstream,
    dialect: WireFamily,
    model: str,
    *,
    streamed: bool,
) -> None:
    provider.script(Fault(chunks=8, stall_after=6, stall=30))
    async with leaving(deployment, dialect, model, streamed=streamed):
        await provider.wait_until(lambda: provider.seen == 1)
        await asyncio.sleep(0.3)
    await _until_aborted(provider)


@pytest.mark.parametrize("model", [MESSAGES, CHAT])
async def test_a_stream_that_flows_stops(
    deployment: Deployment, provider: FakeUpstream, model: str
) -> None:
    provider.script(Fault(chunks=300, chunk_delay=0.05))
    path, content = asked(WireFamily.ANTHROPIC, model, is_stream=True)
    async with (
        deployment.client() as client,
        client.stream("POST", path, content=content, headers=JSON) as response,
    ):
        async for _ in response.aiter_raw():
            break
    await _until_aborted(provider)
    (request,) = provider.requests
    assert request.events < 100


@by_streaming
async def test_between_two_attempts(
    deployment: Deployment, provider: FakeUpstream, *, streamed: bool
) -> None:
    provider.script(Fault(status=503), times=None)
    async with leaving(deployment, WireFamily.ANTHROPIC, MESSAGES, streamed=streamed):
        await provider.wait_until(lambda: provider.seen == 1)
        await asyncio.sleep(BACKOFF_SECONDS / 3)
    await asyncio.sleep(BACKOFF_SECONDS * 1.3)
    assert provider.seen == 1


@contextlib.asynccontextmanager
async def leaving(
    deployment: Deployment, dialect: WireFamily, model: str, *, streamed: bool
) -> AsyncIterator[None]:
    """Ask inside, leave at the end, and see that the log tells of it."""
    path, content = asked(dialect, model, is_stream=streamed)
    name = f"leaving-{uuid.uuid4().hex}"
    async with deployment.client(**{"x-request-id": name}) as client:
        asking = asyncio.ensure_future(client.post(path, content=content, headers=JSON))
        try:
            yield
            assert not asking.done()
        finally:
            asking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asking
    gateway = deployment.process(deployment.parts[-1])
    await gateway.wait_for_event("action", AT_MOST_SECONDS, request_id=name, outcome="client_gone")


async def _until_aborted(provider: FakeUpstream) -> None:
    await provider.wait_until(lambda: provider.aborted == 1, AT_MOST_SECONDS)
    (request,) = provider.requests
    assert request.ending is Ending.CLIENT_ABORTED
