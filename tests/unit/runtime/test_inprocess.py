"""What a call in the same process leaves behind."""

from __future__ import annotations

import asyncio
import gc
import weakref

from pointsman.dispatch.v1 import dispatch_pb2_grpc as rpc

from services.runtime import host
from tests.contract import sample


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
