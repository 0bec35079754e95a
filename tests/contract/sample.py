"""A small real service for the tests of the plumbing: each call does what the test says.

It speaks DispatchService, which has a unary method and a stream with texts and bytes in them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import grpc
import pytest
from pointsman.dispatch.v1 import dispatch_pb2 as pb
from pointsman.dispatch.v1 import dispatch_pb2_grpc as rpc

from services.domain.errors import PeerError, Reason, RouterError
from services.runtime import host, status
from tests.contract.transports import Serve

SERVICE = "pointsman.dispatch.v1.DispatchService"
UNARY = f"/{SERVICE}/ListUpstreamModels"
STREAM = f"/{SERVICE}/Dispatch"
SOON_S = 5.0

Request = pb.ListUpstreamModelsRequest
Response = pb.ListUpstreamModelsResponse
UnaryContext = grpc.aio.ServicerContext[Request, Response]
StreamContext = grpc.aio.ServicerContext[pb.DispatchRequest, pb.DispatchResponse]
CountContext = grpc.aio.ServicerContext[pb.CountTokensRequest, pb.CountTokensResponse]
StreamCall = grpc.aio.UnaryStreamCall[pb.DispatchRequest, pb.DispatchResponse]
UnaryCall = grpc.aio.UnaryUnaryCall[Request, Response]
OnUnary = Callable[[Request, UnaryContext], Awaitable[Response]]
OnStream = Callable[[pb.DispatchRequest, StreamContext], AsyncIterator[pb.DispatchResponse]]

if TYPE_CHECKING:
    Stub = rpc.DispatchServiceAsyncStub  # exists for type checkers only


def request(text: str = "") -> Request:
    """Return a request of the unary method that carries `text`."""
    return Request(page_token=text)


def response(text: str = "") -> Response:
    """Return a response of the unary method that carries `text`."""
    return Response(next_page_token=text)


def part(content: bytes) -> pb.DispatchResponse:
    """Return a message of the stream that carries `content`."""
    return pb.DispatchResponse(chunk=content)


async def echo(request: Request, _: UnaryContext) -> Response:
    """Answer what was asked."""
    return response(request.page_token)


async def count(_: pb.DispatchRequest, __: StreamContext) -> AsyncIterator[pb.DispatchResponse]:
    """Send three numbers."""
    for number in range(3):
        yield part(str(number).encode())


@dataclass
class Sample(rpc.DispatchServiceServicer):
    """The servicer."""

    on_unary: OnUnary = echo
    on_stream: OnStream = count

    async def ListUpstreamModels(self, request: Request, context: UnaryContext) -> Response:  # noqa: N802 - name fixed by the proto
        """Do what the test says."""
        return await self.on_unary(request, context)

    async def CountTokens(  # noqa: N802 - name fixed by the proto
        self, request: pb.CountTokensRequest, context: CountContext
    ) -> pb.CountTokensResponse:
        """Refuse: the tests use two methods."""
        raise RouterError(Reason.METHOD_NOT_IMPLEMENTED, "not part of the sample")

    async def Dispatch(  # noqa: N802 - name fixed by the proto
        self, request: pb.DispatchRequest, context: StreamContext
    ) -> AsyncIterator[pb.DispatchResponse]:
        """Do what the test says."""
        async for message in self.on_stream(request, context):
            yield message


async def nothing() -> None:
    """Open or close nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the bundle allows."""

    allowed_callers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    secret_methods: frozenset[str] = frozenset()
    max_message_bytes: int = 256 * 1024


def bundle(sample: Sample, rules: Rules | None = None) -> host.Bundle:
    """Return a bundle of `sample`."""
    rules = rules or Rules()
    return host.Bundle(
        full_name=SERVICE,
        attach=lambda server: rpc.add_DispatchServiceServicer_to_server(sample, server),
        start=nothing,
        aclose=nothing,
        allowed_callers=rules.allowed_callers,
        secret_methods=rules.secret_methods,
        max_message_bytes=rules.max_message_bytes,
    )


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    """Return once `holds`; fails after :data:`SOON_S`."""
    async with asyncio.timeout(SOON_S):
        while not await holds():  # noqa: ASYNC110 - states of another process send no events
            await asyncio.sleep(0.02)


async def is_turned_away(stub: Stub) -> bool:
    """Return whether a call fails as it does when no replica is serving."""
    try:
        await stub.ListUpstreamModels(request(), timeout=SOON_S)
    except grpc.aio.AioRpcError as error:
        return isinstance(status.error_of(error), PeerError)
    return False


async def stub_of(serve: Serve, sample: Sample, rules: Rules | None = None) -> Stub:
    """Serve `sample` and return a stub of it."""
    return rpc.DispatchServiceStub((await serve(bundle(sample, rules))).channel())


async def failure_of(call: UnaryCall) -> grpc.aio.AioRpcError:
    """Return what a call ends with."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value


async def reason_of(call: UnaryCall) -> Reason:
    """Return the reason that a call ends with."""
    return status.error_of(await failure_of(call)).reason


async def read_part(call: StreamCall) -> pb.DispatchResponse:
    """Return the next part of a stream that has not ended."""
    message = await call.read()
    assert isinstance(message, pb.DispatchResponse)
    return message
