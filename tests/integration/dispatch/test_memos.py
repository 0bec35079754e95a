"""What one replica learns of an endpoint, the others know: through a real Valkey, or not at all."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from services.dispatch.adapters.memos import NEWS, SPACE, ValkeyMemos
from services.dispatch.policy.lessons import RESPONSES_API, Lesson
from services.dispatch.server.memos import MAX_MEMOS, TTL_S, Memos
from services.domain.vocab import WireFamily
from services.runtime.clock import SystemClock
from services.runtime.valkey import connect
from tests.fakes.clock import FakeClock
from tests.fakes.upstream import Fault, Match
from tests.fakes.valkey import running_valkey
from tests.integration.dispatch.harness import CHAT, standing

RESPONSES = WireFamily.OPENAI_RESPONSES
PLACE = ("http://endpoint/v1", "m")


@contextlib.asynccontextmanager
async def replica(url: str, clock: FakeClock | None = None) -> AsyncIterator[Memos]:
    """Give the memos of one replica."""
    shared = ValkeyMemos(url)
    memos = Memos(clock or SystemClock(), shared)
    shared.start(memos.hear)
    try:
        yield memos
    finally:
        await shared.aclose()


async def known(memos: Memos, *features: str) -> None:
    """Return when memos hold these features of the place, and nothing else."""
    async with asyncio.timeout(10):
        while memos.given_up(*PLACE) != set(features):  # noqa: ASYNC110 - memos tell nobody
            await asyncio.sleep(0.01)


@pytest.mark.spec("DSP-142")
async def test_what_one_replica_learns_the_others_know_and_those_that_come_later(
    valkey_url: str,
) -> None:
    async with replica(valkey_url) as first, replica(valkey_url) as second:
        first.learn(*PLACE, Lesson(RESPONSES_API, is_of_model=False))
        second.learn(*PLACE, Lesson("top_k"))
        await known(first, RESPONSES_API, "top_k")
        await known(second, RESPONSES_API, "top_k")
        async with replica(valkey_url) as late:
            await known(late, RESPONSES_API, "top_k")
            assert late.given_up("http://endpoint/v1", "other") == {RESPONSES_API}
            assert not late.given_up("http://elsewhere/v1", "m")


@pytest.mark.spec("DSP-142")
async def test_a_memo_ends_for_all_and_its_life_begins_where_it_was_learned(
    valkey_url: str,
) -> None:
    clock = FakeClock()
    async with replica(valkey_url) as first:
        first.learn(*PLACE, Lesson("top_k"))
        async with replica(valkey_url, clock) as late:
            await known(late, "top_k")
            clock.advance(TTL_S)
            assert not late.given_up(*PLACE)
    client = connect(valkey_url, 1.0)
    try:
        assert 0 < await client.pttl(SPACE) <= 2 * TTL_S * 1000
        kept = await client.zrange(SPACE, 0, -1)
        assert len(kept) == 1
        assert "endpoint" not in kept[0]
    finally:
        await client.aclose()


async def test_what_is_no_memo_is_passed_over(valkey_url: str) -> None:
    async with replica(valkey_url) as memos:
        memos.learn(*PLACE, Lesson("top_k"))
        client = connect(valkey_url, 1.0)
        try:
            for junk in ("", "nonsense", "[]", '["[]", 1]', '["[\\"p\\",\\"model\\"]", 1000]'):
                await client.publish(NEWS, junk)
        finally:
            await client.aclose()
        async with replica(valkey_url) as other:
            await known(other, "top_k")
        assert memos.given_up(*PLACE) == {"top_k"}


@pytest.mark.spec("DSP-142")
async def test_without_the_server_each_replica_learns_alone_and_tells_when_it_is_back() -> None:
    with running_valkey() as server:
        url = server.url
    async with replica(url) as first, replica(url) as second:
        first.learn(*PLACE, Lesson("top_k"))
        await known(first, "top_k")
        await asyncio.sleep(0.1)
        assert not second.given_up(*PLACE)
        with running_valkey(int(url.rpartition(":")[2].partition("/")[0])):
            await known(second, "top_k")
            await known(first, "top_k")


@pytest.mark.spec("DSP-142")
async def test_no_more_is_kept_than_has_room(valkey_url: str) -> None:
    client = connect(valkey_url, 1.0)
    try:
        rows = {f'["{number}","top_k"]': 10**15 + number for number in range(MAX_MEMOS + 5)}
        await client.zadd(SPACE, rows)
        async with replica(valkey_url) as memos:
            memos.learn(*PLACE, Lesson("top_k"))
            async with asyncio.timeout(10):
                while await client.zcard(SPACE) > MAX_MEMOS:  # noqa: ASYNC110 - it tells nobody
                    await asyncio.sleep(0.01)
    finally:
        await client.aclose()


@pytest.mark.spec("DSP-143", "DSP-142")
async def test_an_endpoint_without_responses_is_asked_on_chat_by_every_replica(
    valkey_url: str,
) -> None:
    async with (
        standing(RESPONSES) as stand,
        replica(valkey_url) as first,
        replica(valkey_url) as second,
    ):
        fake = stand.providers["p1"][0]
        gone = Fault(status=404, body={"detail": "Not Found"})
        fake.script(gone, times=None, match=Match(path="responses"))
        stand.memos = first
        answer = await stand.run(stand.order(family=CHAT))
        assert answer.tail.dropped_feature == RESPONSES_API
        place = (fake.base_url + "/v1", "acme-large")
        async with asyncio.timeout(10):
            while not second.given_up(*place):  # noqa: ASYNC110 - memos tell nobody
                await asyncio.sleep(0.01)
        stand.memos = second
        await stand.run(stand.order(family=CHAT))
        paths = [request.path for request in fake.requests]
        assert paths == ["/v1/responses", "/v1/chat/completions", "/v1/chat/completions"]
