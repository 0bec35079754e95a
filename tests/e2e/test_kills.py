"""Services die under load; clients are told, sessions go on where they can, nothing hangs."""

from __future__ import annotations

import asyncio
import signal
import time
import uuid
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from services.domain.vocab import WireFamily
from tests.e2e import streams
from tests.e2e.conversations import DIALECTS
from tests.e2e.deployments import ALL, GATEWAY, Deployment
from tests.e2e.settings import CHAT, MESSAGES, UNKEYED, Wishes
from tests.e2e.streams import Stream
from tests.fakes.upstream import FakeUpstream, Fault

pytestmark = pytest.mark.asyncio(loop_scope="module")

SLOW = Fault(chunks=30, chunk_delay=0.1)
BRIEF = Fault(chunks=15, chunk_delay=0.1)
SOON_SECONDS = 2.0
BACK_SECONDS = 10.0
NOTICED_SECONDS = 40.0
"""Until a peer that keeps its connections and says nothing is given up."""

ONE_AT_A_TIME = UNKEYED
"""Here its provider has a key after all, which takes one attempt at a time."""

by_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.value)


@pytest.fixture(scope="module")
def wishes(provider: FakeUpstream) -> Wishes:
    limited = (
        f'[providers.fireworks]\nbase_url = "{provider.base_url}/v1"\n'
        '[[credentials]]\nprovider = "fireworks"\nsecret = "key"\nmax_in_flight = 1\n'
    )
    return Wishes(tables=limited)


@pytest_asyncio.fixture(loop_scope="module")
async def fleet(apart: Deployment, provider: FakeUpstream) -> AsyncIterator[Deployment]:
    """Give the deployment with every part running, warmed by one action."""
    await apart.ensure_running()
    provider.clear()
    await _until_served(apart)
    provider.clear()
    yield apart
    assert provider.open_streams == 0


@pytest.mark.spec("XLT-36", "DSP-2", "DSP-150", "DSP-151")
@pytest.mark.parametrize(
    ("dialect", "model"),
    [
        (WireFamily.ANTHROPIC, MESSAGES),
        (WireFamily.ANTHROPIC, CHAT),
        (WireFamily.OPENAI_CHAT, CHAT),
    ],
    ids=["messages", "messages-translated", "chat"],
)
async def test_a_stream_whose_dispatch_dies_ends_with_an_error_frame(
    fleet: Deployment, provider: FakeUpstream, dialect: WireFamily, model: str
) -> None:
    provider.script(SLOW)
    async with streams.streaming(fleet, dialect, model) as stream:
        await stream.read_frames(4)
        await fleet.kill("dispatch")
        async with asyncio.timeout(SOON_SECONDS):
            await stream.read_to_end()
    assert stream.error is not None
    assert stream.error["message"]
    assert b"[DONE]" not in stream.raw
    assert b"message_stop" not in stream.raw
    await provider.wait_until(lambda: provider.open_streams == 0, SOON_SECONDS)
    assert provider.aborted == 1

    await fleet.start("dispatch")
    assert (await _until_served(fleet, dialect, model)).status_code == 200


@pytest.mark.slow
async def test_a_stream_whose_dispatch_falls_silent_ends_with_an_error_frame(
    fleet: Deployment, provider: FakeUpstream
) -> None:
    provider.script(SLOW)
    async with streams.streaming(fleet, WireFamily.ANTHROPIC, MESSAGES) as stream:
        await stream.read_frames(4)
        fleet.process("dispatch").send_signal(signal.SIGSTOP)
        async with asyncio.timeout(NOTICED_SECONDS):
            await stream.read_to_end()
    assert stream.error is not None
    await fleet.kill("dispatch")


async def test_under_load_every_client_is_told_when_dispatch_dies(
    fleet: Deployment, provider: FakeUpstream
) -> None:
    provider.script(SLOW, times=None)
    pairs = [(dialect, model) for dialect in DIALECTS for model in (MESSAGES, CHAT)] * 4
    async with asyncio.TaskGroup() as clients:
        asked = [clients.create_task(_read_all(fleet, *pair)) for pair in pairs]
        await provider.wait_until(lambda: provider.open_streams == len(pairs), BACK_SECONDS)
        await asyncio.sleep(0.5)
        await fleet.kill("dispatch")
    for stream in asked:
        assert stream.result().error is not None
    await provider.wait_until(lambda: provider.open_streams == 0, SOON_SECONDS)
    assert provider.seen == provider.aborted == len(pairs)


@pytest.mark.spec("DSP-165")
async def test_without_dispatch_clients_are_told_to_come_back(
    fleet: Deployment, provider: FakeUpstream
) -> None:
    await fleet.kill("dispatch")
    for dialect in (*DIALECTS, *DIALECTS):
        started = time.monotonic()
        answer = await streams.ask(fleet, dialect, MESSAGES)
        assert time.monotonic() - started < SOON_SECONDS
        _assert_unavailable(answer, dialect)
    assert provider.requests == []


@pytest.mark.spec("CRD-158")
async def test_attempts_that_dispatch_is_lost_with_keep_no_slot(
    fleet: Deployment, provider: FakeUpstream
) -> None:
    provider.script(SLOW)
    async with streams.streaming(fleet, WireFamily.OPENAI_CHAT, ONE_AT_A_TIME) as stream:
        await stream.read_frames(4)
        await fleet.kill("dispatch")
        await stream.read_to_end()
    for _ in range(2):
        away = await streams.ask(fleet, WireFamily.OPENAI_CHAT, ONE_AT_A_TIME)
        _assert_unavailable(away, WireFamily.OPENAI_CHAT)
    await fleet.start("dispatch")
    served = await _until_served(fleet, WireFamily.OPENAI_CHAT, ONE_AT_A_TIME)
    assert served.status_code == 200, served.text


@by_dialect
async def test_without_credentials_a_session_goes_on_with_its_last_secret(
    fleet: Deployment, provider: FakeUpstream, dialect: WireFamily
) -> None:
    session = {"x-session-id": f"known-{dialect.value}"}
    assert (await streams.ask(fleet, dialect, MESSAGES, **session)).status_code == 200
    await fleet.kill("credentials")
    again = await streams.ask(fleet, dialect, MESSAGES, **session)
    assert again.status_code == 200
    assert [request.key for request in provider.requests] == ["key-of-anthropic"] * 2

    unknown = await streams.ask(fleet, dialect, MESSAGES, **{"x-session-id": "unknown"})
    _assert_unavailable(unknown, dialect)
    elsewhere = await streams.ask(fleet, dialect, CHAT, **session)
    _assert_unavailable(elsewhere, dialect)
    assert len(provider.requests) == 2

    await fleet.start("credentials")
    served = await _until_served(fleet, dialect)
    assert served.status_code == 200


async def test_a_stream_outlives_credentials(fleet: Deployment, provider: FakeUpstream) -> None:
    provider.script(BRIEF)
    async with streams.streaming(fleet, WireFamily.ANTHROPIC, MESSAGES) as stream:
        await stream.read_frames(4)
        await fleet.kill("credentials")
        await stream.read_to_end()
    assert stream.is_whole


@pytest.mark.spec("OPS-112")
@pytest.mark.parametrize("part", [GATEWAY, "dispatch", "credentials"])
async def test_a_part_that_is_asked_to_stop_lets_a_stream_end(
    fleet: Deployment, provider: FakeUpstream, part: str
) -> None:
    await _assert_stops_politely(fleet, provider, part)


@pytest.mark.spec("OPS-112")
async def test_one_process_that_is_asked_to_stop_lets_a_stream_end(
    embedded: Deployment, provider: FakeUpstream
) -> None:
    await embedded.ensure_running()
    provider.clear()
    await _assert_stops_politely(embedded, provider, ALL)


async def _read_all(deployment: Deployment, dialect: WireFamily, model: str) -> Stream:
    async with (
        asyncio.timeout(BACK_SECONDS),
        streams.streaming(deployment, dialect, model) as stream,
    ):
        await stream.read_to_end()
        return stream


async def _assert_stops_politely(deployment: Deployment, provider: FakeUpstream, part: str) -> None:
    provider.script(BRIEF)
    async with streams.streaming(deployment, WireFamily.ANTHROPIC, MESSAGES) as stream:
        await stream.read_frames(4)
        deployment.process(part).send_signal(signal.SIGTERM)
        await stream.read_to_end()
    assert stream.is_whole
    await deployment.see_off(part)
    assert provider.aborted == 0


def _assert_unavailable(answer: httpx.Response, dialect: WireFamily) -> None:
    assert answer.status_code == 503, answer.text
    assert int(answer.headers["retry-after"]) >= 1
    error = answer.json()["error"]
    assert error["message"]
    if dialect is WireFamily.ANTHROPIC:
        assert answer.json()["type"] == "error"


async def _until_served(
    deployment: Deployment,
    dialect: WireFamily = WireFamily.ANTHROPIC,
    model: str = MESSAGES,
) -> httpx.Response:
    """Ask until it is not 503 any more, as a client does; each time as a new session."""

    deadline = time.monotonic() + BACK_SECONDS
    while True:
        session = {"x-session-id": uuid.uuid4().hex}
        answer = await streams.ask(deployment, dialect, model, **session)
        if answer.status_code != 503 or time.monotonic() > deadline:
            return answer
        await asyncio.sleep(0.2)
