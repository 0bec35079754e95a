"""Single faults of a provider's transport and streams, and a caller that leaves."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import time
from base64 import b64encode
from dataclasses import dataclass, replace

import pytest

from services.dispatch.adapters.unpacking import MAX_PIECE_BYTES
from services.dispatch.model.enums import AttemptOutcome, EndKind, UsageSource
from services.dispatch.model.limits import Pace, WatchLimits
from services.dispatch.model.outcome import Tail
from services.dispatch.model.plan import HeaderPairs
from services.dispatch.ports import UpstreamRequest
from services.dispatch.server.walk import Walk
from services.domain.vocab import FailureClass, WireFamily
from tests.fakes.upstream import Ending, Fault
from tests.integration.dispatch.harness import ANTHROPIC, CHAT, QUICK, SHORT, standing, throttled

FAMILIES = pytest.mark.parametrize("family", [ANTHROPIC, CHAT])


@FAMILIES
async def test_a_connection_that_drops_before_headers_is_retried(family: WireFamily) -> None:
    async with standing(family) as stand:
        stand.providers["p1"][0].script(Fault(drop=True))
        answer = await stand.run(stand.order(family=family))
        assert answer.missed[0].record.failure_class is FailureClass.TRANSPORT
        assert answer.missed[0].record.http_status is None
        assert answer.tail.record.outcome is AttemptOutcome.SERVED


async def test_a_provider_that_is_not_there_is_a_transport_fault() -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        stand.endpoints = {
            "p1": replace(stand.stage().endpoints["p1"], base_url="http://127.0.0.1:1")
        }
        answer = await stand.run(stand.order())
        assert answer.missed[0].record.failure_class is FailureClass.TRANSPORT
        assert answer.head.plan_index == 1


@pytest.mark.spec("DSP-180")
@FAMILIES
async def test_silence_before_headers_ends_in_time_and_the_next_binding_answers(
    family: WireFamily,
) -> None:
    async with standing(family, family) as stand:
        stand.providers["p1"][0].script(Fault(delay=20), times=None)
        began_s = time.monotonic()
        answer = await stand.run(stand.order(family=family))
        assert time.monotonic() - began_s < 2
        assert answer.missed[0].record.failure_class is FailureClass.HEADER_TIMEOUT
        assert answer.head.plan_index == 1
        assert len(stand.providers["p1"][0].requests) == 1


@pytest.mark.spec("DSP-32")
async def test_a_series_that_outlasts_its_clock_is_not_retried() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.budget = replace(QUICK, same_binding_s=0.2)
        stand.providers["p1"][0].script(Fault(delay=20), times=None)
        answer = await stand.run(stand.order())
        assert answer.unserved.fault.failure_class is FailureClass.HEADER_TIMEOUT
        assert len(answer.unserved.records) == 1


@FAMILIES
async def test_a_late_first_output_is_a_stall_and_nothing_was_sent(family: WireFamily) -> None:
    async with standing(family, family) as stand:
        stand.limits = replace(SHORT, idle_s=5)
        stand.providers["p1"][0].script(Fault(first_delay=20), times=None)
        answer = await stand.run(stand.order(family=family))
        assert answer.missed[0].record.failure_class is FailureClass.STALL
        assert answer.head.plan_index == 1
        assert answer.tail.record.outcome is AttemptOutcome.SERVED


@FAMILIES
@pytest.mark.parametrize("end", ["cut_after", "end_after"])
async def test_a_stream_without_its_end_is_never_a_clean_end(family: WireFamily, end: str) -> None:
    async with standing(family) as stand:
        fault = Fault(cut_after=6) if end == "cut_after" else Fault(end_after=6)
        stand.providers["p1"][0].script(replace(fault, chunks=12, chunk_delay=0.005))
        answer = await stand.run(stand.order(family=family))
        tail = answer.tail
        assert tail.record.outcome is AttemptOutcome.BROKEN
        assert tail.broken is not None
        assert tail.broken.http_status == 502
        assert tail.record.measured is not None
        assert tail.record.measured.source is not UsageSource.REPORTED
        assert stand.credentials.endings[-1].kind is EndKind.FAILED


@pytest.mark.spec("DSP-181", "DSP-184", "DSP-185")
@FAMILIES
async def test_silence_in_the_middle_ends_with_the_cause_named(family: WireFamily) -> None:
    async with standing(family) as stand:
        fake = stand.providers["p1"][0]
        fake.script(Fault(stall_after=6, stall=20, chunks=12))
        began_s = time.monotonic()
        answer = await stand.run(stand.order(family=family))
        assert 0.2 < time.monotonic() - began_s < 2
        assert answer.tail.broken is not None
        assert answer.tail.broken.http_status == 504
        assert "byte_idle" in answer.tail.broken.message
        assert answer.tail.record.failure_class is FailureClass.STALL
        await fake.wait_until(lambda: fake.aborted == 1)
        answer = await stand.run(stand.order(family=family))
        assert answer.tail.record.outcome is AttemptOutcome.SERVED


@FAMILIES
async def test_one_event_that_is_no_json_passes_and_the_tap_survives(family: WireFamily) -> None:
    async with standing(family) as stand:
        stand.providers["p1"][0].script(Fault(bad_json=True))
        answer = await stand.run(stand.order(family=family))
        assert answer.tail.record.outcome is AttemptOutcome.SERVED
        assert answer.tail.record.measured is not None
        assert answer.tail.record.measured.source is UsageSource.REPORTED


async def test_a_chat_stream_that_finished_needs_no_end_mark() -> None:
    async with standing(CHAT) as stand:
        whole = await stand.run(stand.order(family=CHAT))
        count = whole.chunks.count(b"\n\n")
        stand.providers["p1"][0].script(Fault(end_after=count - 1))
        answer = await stand.run(stand.order(family=CHAT))
        assert b"[DONE]" not in answer.chunks
        assert answer.tail.record.outcome is AttemptOutcome.SERVED
        assert answer.tail.record.measured == whole.tail.record.measured


async def test_a_connection_left_open_after_the_end_is_not_waited_for() -> None:
    async with standing(CHAT) as stand:
        stand.limits = WatchLimits(linger_s=0.1)
        whole = await stand.run(stand.order(family=CHAT))
        count = whole.chunks.count(b"\n\n")
        stand.providers["p1"][0].script(Fault(stall_after=count - 1, stall=20))
        began_s = time.monotonic()
        answer = await stand.run(stand.order(family=CHAT))
        assert time.monotonic() - began_s < 2
        assert answer.tail.record.outcome is AttemptOutcome.SERVED


async def test_an_answer_that_came_at_once_is_not_waited_for_either() -> None:
    async with standing(CHAT) as stand:
        whole = (await stand.run(stand.order(family=CHAT))).chunks
        stage = replace(stand.stage(), upstream=OpenEnd(whole))
        limits = dict.fromkeys(WireFamily, WatchLimits(linger_s=0.1))
        walk = Walk(
            replace(stage, limits=limits),
            stand.order(family=CHAT),
            jitter=lambda: 0.0,
            time_left_s=lambda: None,
        )
        async with asyncio.timeout(2):
            parts = [part async for part in walk.parts()]
        assert isinstance(parts[-1], Tail)
        assert parts[-1].broken is None


@dataclass
class OpenEnd:
    """A provider that sends a stream at once and never closes."""

    body: bytes
    http_status: int = 200
    headers: HeaderPairs = (("content-type", "text/event-stream"),)

    async def open(self, _: UpstreamRequest) -> OpenEnd:
        return self

    is_all_here = False

    async def read(self) -> bytes | None:
        if self.body:
            body, self.body = self.body, b""
            return body
        await asyncio.Event().wait()
        return None

    async def aclose(self) -> None:
        return


@pytest.mark.spec("DSP-126")
@FAMILIES
async def test_an_empty_stream_is_retried(family: WireFamily) -> None:
    async with standing(family) as stand:
        stand.providers["p1"][0].script(Fault(end_after=0))
        answer = await stand.run(stand.order(family=family))
        assert answer.missed[0].record.failure_class is FailureClass.STREAM_EMPTY
        assert stand.credentials.endings[0].kind is EndKind.EMPTY_STREAM
        assert answer.tail.record.outcome is AttemptOutcome.SERVED


@pytest.mark.spec("DSP-126", "DSP-134")
async def test_bookkeeping_alone_does_not_commit() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.providers["p1"][0].script(Fault(end_after=1))
        answer = await stand.run(stand.order())
        assert answer.missed[0].record.failure_class is FailureClass.STREAM_INCOMPLETE
        assert answer.chunks.count(b"event: message_start") == 1


@pytest.mark.spec("DSP-134")
async def test_bookkeeping_is_let_go_when_it_was_held_long_enough() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.limits = replace(SHORT, idle_s=5, first_output_s=5, hold_s=0.1)
        stand.providers["p1"][0].script(Fault(stall_after=1, stall=0.5))
        answer = await stand.run(stand.order())
        assert answer.tail.pre_commit_s < 0.4
        assert answer.tail.record.outcome is AttemptOutcome.SERVED
        fresh = await stand.run(stand.order())
        assert answer.chunks == fresh.chunks


@pytest.mark.spec("DSP-182")
async def test_bytes_without_output_stall_in_the_end() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.limits = replace(SHORT, idle_s=0.3, first_output_s=0.5, hold_s=5)
        pings = b'event: ping\ndata: {"type": "ping"}\n\n' * 60
        fault = Fault(body=pings, content_type="text/event-stream", chunk_delay=0.05)
        stand.providers["p1"][0].script(fault, times=None)
        stand.budget = replace(QUICK, same_binding_retries=0)
        answer = await stand.run(stand.order())
        assert answer.unserved.fault.failure_class is FailureClass.STALL
        assert "output_idle" in answer.unserved.fault.message


@pytest.mark.spec("DSP-183", "DSP-185")
@FAMILIES
async def test_a_stream_that_only_drips_is_ended_and_one_that_flows_is_not(
    family: WireFamily,
) -> None:
    async with standing(family) as stand:
        fake = stand.providers["p1"][0]
        stand.limits = replace(SHORT, pace=Pace(window_s=0.15, warm_up_s=0.05, floor=8))
        fake.script(Fault(chunks=40, chunk_delay=0.05))
        began_s = time.monotonic()
        answer = await stand.run(stand.order(family=family))
        assert time.monotonic() - began_s < 1.5
        assert answer.tail.broken is not None
        assert answer.tail.broken.http_status == 504
        assert "slow" in answer.tail.broken.message
        assert answer.tail.record.failure_class is FailureClass.STALL
        fake.script(Fault(chunks=120, chunk_delay=0.002))
        assert (await stand.run(stand.order(family=family))).tail.broken is None


@pytest.mark.spec("DSP-137")
@FAMILIES
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault(bad_json=True), FailureClass.BAD_RESPONSE),
        (Fault(cut_after=1), FailureClass.STREAM_INCOMPLETE),
        (Fault(body=b""), FailureClass.STREAM_EMPTY),
        (Fault(body=b"{}", content_type="text/event-stream"), FailureClass.BAD_RESPONSE),
    ],
)
async def test_a_whole_body_is_validated_before_anything_is_sent(
    family: WireFamily, fault: Fault, expected: FailureClass
) -> None:
    async with standing(family, family) as stand:
        stand.providers["p1"][0].script(fault)
        answer = await stand.run(stand.order(family=family, is_stream=False))
        assert answer.missed[0].record.failure_class is expected
        assert answer.head.plan_index == 1
        assert answer.head.body_bytes == len(answer.chunks)


@pytest.mark.spec("DSP-186")
async def test_redirects_are_not_followed() -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        first, second = (fake for fake, _ in stand.providers.values())
        first.script(Fault(status=302, headers={"location": second.base_url}))
        answer = await stand.run(stand.order())
        assert answer.missed[0].record.failure_class is FailureClass.TRANSPORT
        assert len(second.requests) == 1
        assert second.requests[0].method == "POST"


async def test_a_credentials_proxy_is_gone_through_and_no_other() -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        aim, proxy = (fake for fake, _ in stand.providers.values())
        stand.credentials.proxies = {"p1": proxy.base_url}
        answer = await stand.run(stand.order("p1"))
        assert answer.tail.record.outcome is AttemptOutcome.SERVED
        assert not aim.requests
        assert proxy.requests[0].headers["host"] == aim.base_url.removeprefix("http://")
        assert "proxy-authorization" not in proxy.requests[0].headers


async def test_a_proxys_user_and_password_go_to_the_proxy_alone() -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        aim, proxy = (fake for fake, _ in stand.providers.values())
        host = proxy.base_url.removeprefix("http://")
        stand.credentials.proxies = {"p1": f"http://user:p%40ss@{host}"}
        for _ in range(2):
            await stand.run(stand.order("p1"))
        assert not aim.requests
        for told in (request.headers for request in proxy.requests):
            assert told["proxy-authorization"] == f"Basic {b64encode(b'user:p@ss').decode()}"
            assert told["host"] == aim.base_url.removeprefix("http://")


async def test_a_header_that_cannot_be_sent_is_a_transport_fault() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.credentials.keys = {"p1": ["bad\r\nx-more: 1"]}
        answer = await stand.run(stand.order())
        assert answer.unserved.fault.failure_class is FailureClass.TRANSPORT
        assert not stand.providers["p1"][0].requests


async def test_a_compressed_answer_is_unpacked() -> None:
    async with standing(CHAT) as stand:
        plain = await stand.run(stand.order(family=CHAT, is_stream=False))
        packed = gzip.compress(plain.chunks)
        fault = Fault(
            body=packed, headers={"content-encoding": "gzip"}, content_type="application/json"
        )
        stand.providers["p1"][0].script(fault)
        answer = await stand.run(stand.order(family=CHAT, is_stream=False))
        assert answer.chunks == plain.chunks


async def test_a_small_body_that_unpacks_to_very_much_is_unpacked_little_by_little() -> None:
    async with standing(CHAT) as stand:
        size = 8 * MAX_PIECE_BYTES
        stand.providers["p1"][0].script(
            Fault(
                body=gzip.compress(b"x" * size),
                headers={"content-encoding": "gzip"},
                content_type="text/plain",
            )
        )
        url = stand.providers["p1"][0].base_url + "/v1/chat/completions"
        body = stand.order(family=CHAT, is_stream=False).body
        request = UpstreamRequest("p1", url, (("content-type", "application/json"),), body)
        async with contextlib.aclosing(await stand.upstream.open(request)) as answer:
            pieces = []
            while piece := await answer.read():
                pieces.append(len(piece))
        assert sum(pieces) == size
        assert max(pieces) == MAX_PIECE_BYTES


async def test_what_follows_the_end_of_a_packed_body_is_not_read_on_and_on() -> None:
    """It would be gathered, and gone over again with every read."""
    size = 64 * 1024 * 1024
    async with standing(CHAT) as stand:
        fake = stand.providers["p1"][0]
        fake.script(
            Fault(
                body=gzip.compress(b"all") + b"\0" * size,
                headers={"content-encoding": "gzip"},
                content_type="text/plain",
            )
        )
        url = fake.base_url + "/v1/chat/completions"
        body = stand.order(family=CHAT, is_stream=False).body
        request = UpstreamRequest("p1", url, (("content-type", "application/json"),), body)
        async with contextlib.aclosing(await stand.upstream.open(request)) as answer:
            assert await answer.read() == b"all"
            assert await answer.read() is None
        await fake.wait_until(lambda: fake.requests[0].ending is Ending.CLIENT_ABORTED)


@pytest.mark.spec("DSP-120")
async def test_error_bodies_are_kept_up_to_64_kib() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.providers["p1"][0].script(Fault(status=400, body=b"x" * 200_000))
        answer = await stand.run(stand.order())
        assert len(answer.unserved.fault.body) == 64 * 1024
        assert answer.unserved.fault.is_body_truncated


async def test_chunks_are_the_upstreams_bytes_within_64_kib() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.providers["p1"][0].script(Fault(oversize=300_000))
        answer = await stand.run(stand.order())
        sizes = [len(part) for part in answer.parts if isinstance(part, bytes)]
        assert all(1 <= size <= 64 * 1024 for size in sizes)
        assert answer.tail.sent_bytes == sum(sizes) == len(answer.chunks)


@pytest.mark.spec("DSP-3", "DSP-191", "DSP-192")
@FAMILIES
async def test_a_caller_that_leaves_closes_the_upstream_within_a_second(
    family: WireFamily,
) -> None:
    async with standing(family) as stand:
        fake = stand.providers["p1"][0]
        stand.limits = WatchLimits()
        fake.script(Fault(chunks=200, chunk_delay=0.05))
        task = asyncio.create_task(stand.run(stand.order(family=family)))
        await fake.wait_until(lambda: fake.open_streams == 1)
        await asyncio.sleep(0.2)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await fake.wait_until(lambda: fake.aborted == 1, timeout=1.0)
        assert fake.requests[0].ending is Ending.CLIENT_ABORTED
        assert [row.kind for row in stand.credentials.endings] == [EndKind.CALLER_GONE]


@pytest.mark.spec("DSP-3")
async def test_a_caller_that_leaves_before_headers_closes_the_upstream() -> None:
    async with standing(ANTHROPIC) as stand:
        fake = stand.providers["p1"][0]
        stand.header_timeout_s = 30
        fake.script(Fault(delay=20))
        task = asyncio.create_task(stand.run(stand.order()))
        await fake.wait_until(lambda: len(fake.requests) == 1)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await fake.wait_until(lambda: fake.aborted == 1, timeout=1.0)


@pytest.mark.spec("DSP-3", "DSP-190")
async def test_a_caller_that_leaves_during_a_wait_starts_no_further_attempt() -> None:
    async with standing(ANTHROPIC) as stand:
        fake = stand.providers["p1"][0]
        fake.script(Fault(status=429, retry_after=5), times=None)
        task = asyncio.create_task(stand.run(stand.order(change=throttled)))
        await fake.wait_until(
            lambda: fake.requests[-1:] != [] and fake.requests[0].ended is not None
        )
        await asyncio.sleep(0.05)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.05)
        assert len(fake.requests) == 1


async def test_a_reader_that_is_slow_is_not_the_upstreams_silence() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.providers["p1"][0].script(Fault(chunks=8, chunk_delay=0.05))
        seen = []
        async with contextlib.aclosing(stand.walk(stand.order()).parts()) as parts:
            async for part in parts:
                seen.append(part)
                if len(seen) == 3:
                    await asyncio.sleep(0.8)
        assert seen[-1].record.outcome is AttemptOutcome.SERVED  # type: ignore[union-attr]  # the tail
