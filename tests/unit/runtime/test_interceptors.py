"""How a call ended is told as its caller saw it."""

from __future__ import annotations

import asyncio
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
