"""Silence of a provider: filled while it may end, told to the client as an error in the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from services.domain.vocab import WireFamily
from tests.e2e.deployments import Deployment
from tests.e2e.settings import CHAT, MESSAGES, Wishes
from tests.e2e.streams import streaming
from tests.fakes.upstream import FakeUpstream, Fault

pytestmark = pytest.mark.asyncio(loop_scope="module")

PING_SECONDS = 0.2
IDLE_SECONDS = 1.5
STALL_SECONDS = 1.0
WISHES = Wishes(
    gateway=f"sse_keepalive_interval_seconds = {PING_SECONDS}",
    dispatch=(
        f"sse_idle_timeout_seconds = {IDLE_SECONDS}\noutput_stall_timeout_seconds = {STALL_SECONDS}"
    ),
)
PINGS = {
    WireFamily.ANTHROPIC: b"event: ping\n",
    WireFamily.OPENAI_CHAT: b": keepalive\n",
}
TALK = 9
"""Events after which both dialects have said something."""

by_pair = pytest.mark.parametrize(
    ("dialect", "model"),
    [(dialect, model) for dialect in PINGS for model in (MESSAGES, CHAT)],
)


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def clean(provider: FakeUpstream) -> AsyncIterator[None]:
    provider.clear()
    yield
    assert provider.open_streams == 0


@pytest.mark.spec("XLT-35", "XLT-145")
@by_pair
async def test_a_long_pause_between_two_words_is_filled(
    embedded: Deployment, provider: FakeUpstream, dialect: WireFamily, model: str
) -> None:
    """B-103, B-112: clients give up on streams that show no sign of life."""
    provider.script(Fault(chunks=8, stall_after=TALK, stall=0.9))
    async with streaming(embedded, dialect, model) as stream:
        await stream.read_to_end()
    assert stream.is_whole
    assert bytes(stream.raw).count(PINGS[dialect]) >= 3


@pytest.mark.spec("XLT-35", "XLT-145", "DSP-133", "DSP-135")
@by_pair
async def test_nothing_is_sent_before_the_first_word_so_that_a_fault_keeps_its_status(
    embedded: Deployment, provider: FakeUpstream, dialect: WireFamily, model: str
) -> None:
    """B-112: a ping would commit the stream."""
    provider.script(*[Fault(status=400, delay=0.7, error_type="invalid_request_error")])
    async with streaming(embedded, dialect, model) as stream:
        assert stream.response.status_code == 400
        await stream.read_to_end()
    assert PINGS[dialect].strip() not in stream.raw


@pytest.mark.spec("XLT-36", "XLT-146")
@by_pair
async def test_pings_do_not_hide_a_provider_that_is_dead(
    embedded: Deployment, provider: FakeUpstream, dialect: WireFamily, model: str
) -> None:
    """B-104: one error ends the stream, and no ping comes after it."""
    provider.script(Fault(chunks=8, stall_after=TALK, stall=60))
    async with asyncio.timeout(10), streaming(embedded, dialect, model) as stream:
        await stream.read_to_end()
    assert stream.error is not None
    frames = bytes(stream.raw).split(b"\n\n")
    pings = [at for at, frame in enumerate(frames) if PINGS[dialect].strip() in frame]
    assert pings
    assert b'"error"' in frames[-2]
    assert max(pings) < len(frames) - 2


@pytest.mark.spec("XLT-146", "XLT-147")
async def test_a_provider_that_only_pings_is_dead_too(
    embedded: Deployment, provider: FakeUpstream
) -> None:
    """B-104: pings of the provider are no progress."""
    start = (
        'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message",'
        '"role":"assistant","model":"x","content":[],"usage":{"input_tokens":1}}}\n\n'
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":'
        '{"type":"text_delta","text":"hi"}}\n\n'
    )
    pings = 'event: ping\ndata: {"type":"ping"}\n\n' * 200
    fault = Fault(body=start + pings, content_type="text/event-stream", chunk_delay=0.1)
    provider.script(fault)
    async with (
        asyncio.timeout(10),
        streaming(embedded, WireFamily.OPENAI_CHAT, MESSAGES) as stream,
    ):
        await stream.read_to_end()
    assert stream.error is not None
    assert b"hi" in stream.raw
