"""Calls end the same way in process, on a Unix socket and over TCP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import grpc
import pytest
from pointsman.dispatch.v1 import dispatch_pb2 as pb
from pointsman.dispatch.v1 import dispatch_pb2_grpc as rpc

from services.domain.errors import PeerError, Reason
from services.runtime import status
from tests.contract import sample
from tests.contract.sample import SOON_S, Sample, failure_of, read_part, stub_of
from tests.contract.transports import Serve

pytestmark = pytest.mark.spec("OPS-3")
SHORT_S = 0.1
CHUNK = bytes(64 * 1024)


@dataclass
class Watched:
    """Handlers that wait, and what happened to them."""

    entered: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    sent: int = 0

    async def wait(self, _: sample.Request, __: sample.UnaryContext) -> sample.Response:
        self.entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return sample.response()

    async def flood(
        self, _: pb.DispatchRequest, __: sample.StreamContext
    ) -> AsyncIterator[pb.DispatchResponse]:
        self.entered.set()
        try:
            while True:
                yield sample.part(CHUNK)
                self.sent += 1
        finally:
            self.closed.set()

    async def send_one_then_wait(
        self, _: pb.DispatchRequest, __: sample.StreamContext
    ) -> AsyncIterator[pb.DispatchResponse]:
        try:
            yield sample.part(b"first")
            self.entered.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        finally:
            self.closed.set()


def still_cancelling() -> int:
    """Return how many cancellations of the running task are not over."""
    task = asyncio.current_task()
    assert task is not None
    return task.cancelling()


async def in_time(event: asyncio.Event) -> None:
    async with asyncio.timeout(SOON_S):
        await event.wait()


async def test_a_unary_call_is_answered(serve: Serve) -> None:
    stub = await stub_of(serve, Sample())
    answer = await stub.ListUpstreamModels(sample.request("hello"), timeout=SOON_S)
    assert answer.next_page_token == "hello"


async def test_a_stream_arrives_in_order(serve: Serve) -> None:
    async def send_many(
        _: pb.DispatchRequest, __: sample.StreamContext
    ) -> AsyncIterator[pb.DispatchResponse]:
        for number in range(300):
            yield sample.part(str(number).encode())

    stub = await stub_of(serve, Sample(on_stream=send_many))
    call = stub.Dispatch(pb.DispatchRequest(), timeout=SOON_S)
    assert [int(message.chunk) async for message in call] == list(range(300))


async def test_a_call_without_a_deadline_is_refused(serve: Serve) -> None:
    stub = await stub_of(serve, Sample())
    error = status.error_of(await failure_of(stub.ListUpstreamModels(sample.request())))
    assert error.reason is Reason.DEADLINE_REQUIRED
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        [_ async for _ in stub.Dispatch(pb.DispatchRequest())]
    assert status.error_of(caught.value).reason is Reason.DEADLINE_REQUIRED


async def test_a_handler_sees_what_is_left_of_the_deadline(serve: Serve) -> None:
    left_s: list[float] = []

    async def look(_: sample.Request, context: sample.UnaryContext) -> sample.Response:
        left_s.append(context.time_remaining())
        return sample.response()

    stub = await stub_of(serve, Sample(on_unary=look))
    await stub.ListUpstreamModels(sample.request(), timeout=SOON_S)
    assert 0 < left_s[0] <= SOON_S + 0.1  # the wire rounds up, and clocks differ


async def test_a_late_unary_call_ends_on_both_sides(serve: Serve) -> None:
    watched = Watched()
    stub = await stub_of(serve, Sample(on_unary=watched.wait))
    failure = await failure_of(stub.ListUpstreamModels(sample.request(), timeout=SHORT_S))
    assert failure.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert isinstance(status.error_of(failure), PeerError)
    await in_time(watched.cancelled)


async def test_a_late_stream_keeps_what_came_and_ends_on_both_sides(serve: Serve) -> None:
    watched = Watched()
    stub = await stub_of(serve, Sample(on_stream=watched.send_one_then_wait))
    call = stub.Dispatch(pb.DispatchRequest(), timeout=SHORT_S)
    assert (await read_part(call)).chunk == b"first"
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call.read()
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    await in_time(watched.cancelled)


async def test_cancelling_a_unary_call_cancels_its_handler(serve: Serve) -> None:
    watched = Watched()
    stub = await stub_of(serve, Sample(on_unary=watched.wait))
    call = stub.ListUpstreamModels(sample.request(), timeout=SOON_S)
    await in_time(watched.entered)
    assert call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await in_time(watched.cancelled)


async def test_a_caller_whose_task_is_cancelled_cancels_the_handler(serve: Serve) -> None:
    watched = Watched()
    stub = await stub_of(serve, Sample(on_unary=watched.wait))

    async def ask() -> None:
        await stub.ListUpstreamModels(sample.request(), timeout=SOON_S)

    asking = asyncio.ensure_future(ask())
    await in_time(watched.entered)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await in_time(watched.cancelled)


async def test_a_call_can_be_cancelled_while_it_is_awaited(serve: Serve) -> None:
    watched = Watched()
    stub = await stub_of(serve, Sample(on_unary=watched.wait))
    call = stub.ListUpstreamModels(sample.request(), timeout=SOON_S)

    async def ask() -> int:
        with pytest.raises(asyncio.CancelledError):
            await call
        return still_cancelling()

    asking = asyncio.ensure_future(ask())
    await in_time(watched.entered)
    assert call.cancel()
    assert await asking == 0
    await in_time(watched.cancelled)
    assert call.done()


async def test_a_caller_who_has_less_time_than_its_call_goes_on(serve: Serve) -> None:
    watched = Watched()
    stub = await stub_of(serve, Sample(on_unary=watched.wait))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(SHORT_S):
            await stub.ListUpstreamModels(sample.request(), timeout=SOON_S)
    await in_time(watched.cancelled)
    assert still_cancelling() == 0


async def test_a_late_call_ends_before_what_its_caller_has_more_time_for(serve: Serve) -> None:
    watched = Watched()
    stub = await stub_of(serve, Sample(on_unary=watched.wait))
    async with asyncio.timeout(SOON_S):
        failure = await failure_of(stub.ListUpstreamModels(sample.request(), timeout=SHORT_S))
        assert failure.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert still_cancelling() == 0
        await asyncio.sleep(0)


async def test_cancelling_half_a_stream_cancels_its_handler(serve: Serve) -> None:
    watched = Watched()
    stub = await stub_of(serve, Sample(on_stream=watched.send_one_then_wait))
    call = stub.Dispatch(pb.DispatchRequest(), timeout=SOON_S)
    assert (await read_part(call)).chunk == b"first"
    await in_time(watched.entered)
    assert call.cancel()
    await in_time(watched.cancelled)
    await in_time(watched.closed)


async def test_a_reader_that_breaks_off_and_cancels_ends_the_handler(serve: Serve) -> None:
    watched = Watched()
    stub = await stub_of(serve, Sample(on_stream=watched.send_one_then_wait))

    call = stub.Dispatch(pb.DispatchRequest(), timeout=60)
    async for message in call:
        assert message.chunk == b"first"
        break
    call.cancel()
    await in_time(watched.closed)


async def test_cancelling_a_handler_that_waits_for_its_reader_closes_it(serve: Serve) -> None:
    watched = Watched()
    stub = await stub_of(serve, Sample(on_stream=watched.flood))
    call = stub.Dispatch(pb.DispatchRequest(), timeout=SOON_S)
    await call.read()
    await asyncio.sleep(SHORT_S)
    call.cancel()
    await in_time(watched.closed)


async def test_a_stream_does_not_run_far_ahead_of_its_reader(serve: Serve) -> None:
    watched = Watched()
    stub = await stub_of(serve, Sample(on_stream=watched.flood))
    call = stub.Dispatch(pb.DispatchRequest(), timeout=SOON_S)
    await call.read()
    await asyncio.sleep(2 * SHORT_S)
    ahead = watched.sent
    await asyncio.sleep(2 * SHORT_S)
    assert watched.sent == ahead
    assert ahead * len(CHUNK) <= 16 * 1024 * 1024
    call.cancel()


async def test_closing_a_channel_ends_the_calls_on_it(serve: Serve) -> None:
    watched = Watched()
    served = await serve(sample.bundle(Sample(on_unary=watched.wait)))
    channel = served.channel()
    call = rpc.DispatchServiceStub(channel).ListUpstreamModels(sample.request(), timeout=SOON_S)
    await in_time(watched.entered)
    await channel.aclose()
    with pytest.raises(asyncio.CancelledError):
        await call
    await in_time(watched.cancelled)


async def test_closing_a_channel_ends_the_calls_that_are_awaited(serve: Serve) -> None:
    watched = Watched()
    served = await serve(sample.bundle(Sample(on_unary=watched.wait)))
    channel = served.channel()
    stub = rpc.DispatchServiceStub(channel)

    async def ask() -> int:
        with pytest.raises(asyncio.CancelledError):
            await stub.ListUpstreamModels(sample.request(), timeout=SOON_S)
        return still_cancelling()

    asking = asyncio.ensure_future(ask())
    await in_time(watched.entered)
    await channel.aclose()
    assert await asking == 0
    await in_time(watched.cancelled)
