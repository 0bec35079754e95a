"""How a call ended is told as its caller saw it, and a watch ends between its writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty

from services.runtime import metrics
from services.runtime.admission import Admission
from services.runtime.inprocess.context import InProcessContext
from services.runtime.inprocess.server import InProcessServer
from services.runtime.interceptors import ServerEdge


class Leaving(InProcessContext):
    """What is seen of a caller who leaves ``left_s`` before the end of its ``given_s``."""

    def __init__(self, given_s: float, left_s: float) -> None:
        super().__init__(None, (), self._discard)
        self.left_s = given_s
        self._at_the_end_s = left_s

    async def _discard(self, message: object) -> None:
        """Take nothing."""

    def time_remaining(self) -> Any:
        return self.left_s

    async def wait(self, request: Empty, _: object) -> Empty:
        """Be the handler that the caller leaves."""
        self.left_s = self._at_the_end_s
        await asyncio.Event().wait()
        return request


async def code_of(caller: Leaving) -> str:
    """Return the code that the call of ``caller`` is counted under."""

    server = InProcessServer([ServerEdge(Admission("sample", is_logged=False))])
    waits: grpc.RpcMethodHandler[Empty, Empty] = grpc.unary_unary_rpc_method_handler(caller.wait)
    server.add_registered_method_handlers("sample.Service", {"Waits": waits})
    handler = await server.handler("/sample.Service/Waits", ())
    assert handler is not None
    rows = {c: metrics.RPC_HANDLED.labels("Waits", c) for c in ("CANCELLED", "DEADLINE_EXCEEDED")}
    before = {code: row.value for code, row in rows.items()}
    call = asyncio.create_task(handler.unary_unary(Empty(), caller))
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])
    (code,) = (code for code, row in rows.items() if row.value > before[code])
    return code


@pytest.mark.parametrize(("given_s", "left_s"), [(0.2, 0.0), (0.2, 0.001), (90.0, 0.09)])
async def test_a_deadline_that_is_the_callers_by_a_hair_is_told_as_one(
    given_s: float, left_s: float
) -> None:
    """Its own is rounded up on the way to us, so that ours comes later."""
    assert await code_of(Leaving(given_s, left_s)) == "DEADLINE_EXCEEDED"


@pytest.mark.parametrize(("given_s", "left_s"), [(0.2, 0.1), (90.0, 2.0)])
async def test_who_leaves_before_its_deadline_is_told_as_such(
    given_s: float, left_s: float
) -> None:
    assert await code_of(Leaving(given_s, left_s)) == "CANCELLED"


class Writing(InProcessContext):
    """What a watch sees of its caller while a write to it runs; notes what happens in turn."""

    def __init__(self) -> None:
        super().__init__(None, (), self._take)
        self.began, self.let_go = asyncio.Event(), asyncio.Event()
        self.seen: list[str] = []

    async def _take(self, message: object) -> None:
        self.began.set()
        await self.let_go.wait()
        self.seen.append("written")

    async def abort_with_status(self, status: Any) -> Any:
        self.seen.append(status.code.name)
        await super().abort_with_status(status)


async def test_a_watch_that_is_told_to_end_writes_to_its_end_first() -> None:
    """A real server sends no status beside a running write: the stop would wait."""

    async def watch(request: Empty, _: object) -> AsyncIterator[Empty]:
        yield request

    rules, caller = Admission("sample", is_logged=False), Writing()
    server = InProcessServer([ServerEdge(rules)])
    watches: grpc.RpcMethodHandler[Empty, Empty] = grpc.unary_stream_rpc_method_handler(watch)
    server.add_registered_method_handlers("sample.Service", {"WatchAll": watches})
    handler = await server.handler("/sample.Service/WatchAll", ())
    assert handler is not None
    call = asyncio.create_task(handler.unary_stream(Empty(), caller))
    await caller.began.wait()
    rules.drain()
    await asyncio.sleep(0)
    caller.let_go.set()
    await asyncio.wait([call])
    assert caller.seen == ["written", "UNAVAILABLE"]
