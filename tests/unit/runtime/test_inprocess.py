"""What a call in the same process leaves behind."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import weakref
from typing import TYPE_CHECKING

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from pointsman.dispatch.v1 import dispatch_pb2_grpc as rpc

from services.runtime import host
from services.runtime.inprocess.server import InProcessServer, InProcessTransport
from tests.contract import sample

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

METHOD = "/sample.Service/Method"
BOUND = contextvars.ContextVar("BOUND", default="nobody")


class Slow:
    """Answers once it is let go; notes each time that it is cancelled."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.cancelled = asyncio.Semaphore(0)
        self.let_go = asyncio.Event()

    async def __call__(self, request: Empty, _: object) -> Empty:
        """Return the request."""
        self.began.set()
        while not self.let_go.is_set():
            try:
                await self.let_go.wait()
            except asyncio.CancelledError:
                self.cancelled.release()
        return request


def transport_to(answer: Callable[[Empty, object], Awaitable[Empty]]) -> InProcessTransport:
    """Return a transport to a server of one method."""
    server = InProcessServer()
    method: grpc.RpcMethodHandler[Empty, Empty] = grpc.unary_unary_rpc_method_handler(answer)
    server.add_registered_method_handlers("sample.Service", {"Method": method})
    return InProcessTransport(server)


async def asked_through(transport: InProcessTransport, timeout: float | None = None) -> int:
    """Ask in the running task; return how many cancellations it still has to heed."""
    await transport.unary_unary(METHOD)(Empty(), timeout=timeout, metadata=())
    task = asyncio.current_task()
    return task.cancelling() if task is not None else -1


async def test_a_call_that_is_over_goes_with_its_messages_at_once() -> None:
    """A request may hold megabytes: it must not wait for a look for garbage."""
    server = host.in_process(sample.bundle(sample.Sample()))
    stub = rpc.DispatchServiceStub(server.channel("gateway"))
    gc.disable()
    try:
        call = stub.ListUpstreamModels(sample.request("x"), timeout=5.0)
        left = weakref.ref(call)
        await call
        await asyncio.sleep(0)
        del call
        assert left() is None
    finally:
        gc.enable()


async def test_each_cancellation_of_a_call_is_taken_back_from_the_task_it_ran_in() -> None:
    slow = Slow()
    transport = transport_to(slow)
    caller = asyncio.create_task(asked_through(transport))
    await slow.began.wait()
    for _ in range(2):
        closing = asyncio.create_task(transport.close())
        await slow.cancelled.acquire()
        closing.cancel()
        await asyncio.wait([closing])
    slow.let_go.set()
    assert await caller == 0


async def test_a_call_ends_well_though_who_waited_for_its_end_has_left() -> None:
    slow = Slow()
    transport = transport_to(slow)
    caller = asyncio.create_task(asked_through(transport))
    await slow.began.wait()
    closing = asyncio.create_task(transport.close())
    await slow.cancelled.acquire()
    closing.cancel()
    await asyncio.wait([closing])
    slow.let_go.set()
    assert await caller == 0
    await asyncio.wait_for(transport.close(), 1.0)


async def test_a_deadline_that_a_handler_outlasts_leaves_nothing_in_the_callers_task() -> None:
    slow = Slow()
    caller = asyncio.create_task(asked_through(transport_to(slow), timeout=0.001))
    await slow.cancelled.acquire()
    slow.let_go.set()
    assert await caller == 0


async def test_a_caller_who_is_cancelled_after_the_deadline_of_its_call_stays_cancelled() -> None:
    is_late = asyncio.Event()
    left: list[int] = []

    async def outlasts_one(_request: Empty, _: object) -> Empty:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            is_late.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def asks() -> None:
        try:
            await asked_through(transport_to(outlasts_one), timeout=0.001)
        finally:
            task = asyncio.current_task()
            left.append(task.cancelling() if task is not None else -1)

    caller = asyncio.create_task(asks())
    await is_late.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert left == [1]


@pytest.mark.parametrize("is_at_once", [True, False])
async def test_what_is_bound_passes_neither_to_a_handler_nor_back(*, is_at_once: bool) -> None:
    seen: list[str] = []

    async def binds(request: Empty, _: object) -> Empty:
        seen.append(BOUND.get())
        BOUND.set("handler")
        await asyncio.sleep(0)
        seen.append(BOUND.get())
        return request

    BOUND.set("caller")
    call = transport_to(binds).unary_unary(METHOD)(Empty(), timeout=None, metadata=())
    if not is_at_once:
        await asyncio.sleep(0)
    await call
    assert [*seen, BOUND.get()] == ["nobody", "handler", "caller"]
