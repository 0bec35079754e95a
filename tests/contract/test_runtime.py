"""The plumbing promises the same in process, on a Unix socket and over TCP."""

from __future__ import annotations

from pointsman.dispatch.v1 import dispatch_pb2 as pb
from pointsman.dispatch.v1 import dispatch_pb2_grpc as rpc

from tests.contract import sample
from tests.contract.sample import Sample
from tests.contract.transports import Serve

SOON_S = 5.0


async def test_a_unary_call_is_answered(serve: Serve) -> None:
    served = await serve(sample.bundle(Sample()))
    stub = rpc.DispatchServiceStub(served.channel())
    answer = await stub.ListUpstreamModels(sample.request("hello"), timeout=SOON_S)
    assert answer.next_page_token == "hello"


async def test_a_stream_arrives_in_order(serve: Serve) -> None:
    served = await serve(sample.bundle(Sample()))
    stub = rpc.DispatchServiceStub(served.channel())
    call = stub.Dispatch(pb.DispatchRequest(), timeout=SOON_S)
    assert [message.chunk async for message in call] == [b"0", b"1", b"2"]
