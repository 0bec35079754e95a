"""A real server says what it is, how it is, and ends in order."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TypeAlias

import grpc
import pytest
from grpc_channelz.v1 import channelz_pb2
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from pointsman.common.v1 import info_pb2, info_pb2_grpc
from pointsman.dispatch.v1 import dispatch_pb2 as pb
from pointsman.dispatch.v1 import dispatch_pb2_grpc as rpc
from pointsman.router.v1 import router_pb2, router_pb2_grpc

from services.domain.errors import InvalidRequestError, PeerError, Reason
from services.runtime import channel, host, status
from tests.contract import sample
from tests.contract.sample import SOON_S, Sample, eventually, failure_of, is_turned_away, reason_of
from tests.contract.transports import LOCAL, Serve, Transport, serving

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
Raw: TypeAlias = "grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]"
ROUTER = "pointsman.router.v1.RouterService"


def sockets() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("transport", [Transport.UNIX, Transport.TCP], ids=str)


def server_of(serve_result: host.Server | None) -> host.Server:
    assert serve_result is not None
    return serve_result


async def health_of(target: str, service: str) -> int:
    async with grpc.aio.insecure_channel(target) as plain:
        check = plain.unary_unary(
            "/grpc.health.v1.Health/Check",
            health_pb2.HealthCheckRequest.SerializeToString,
            health_pb2.HealthCheckResponse.FromString,
        )
        answer = await check(health_pb2.HealthCheckRequest(service=service), timeout=SOON_S)
        return int(answer.status)


@pytest.mark.spec("OPS-132")
async def test_a_server_describes_what_it_hosts(serve: Serve) -> None:
    facts = {"catalog_version": "c7", "config_version": "v9"}
    bundle = replace(sample.bundle(Sample()), info=lambda: facts)
    stub = info_pb2_grpc.InfoServiceStub((await serve(bundle)).channel())
    answer = await stub.GetInfo(info_pb2.GetInfoRequest(), timeout=SOON_S)
    (described,) = answer.services
    assert described.service == sample.SERVICE
    assert described.version == host.VERSION
    assert (described.catalog_version, described.config_version) == ("c7", "v9")
    assert len(described.proto_digest) == 64
    assert described.start_time.seconds > 0
    other = stub.GetInfo(info_pb2.GetInfoRequest(service="pointsman.x.v1.X"), timeout=SOON_S)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await other
    assert status.error_of(caught.value).reason is Reason.METHOD_NOT_IMPLEMENTED


@sockets()
@pytest.mark.spec("OPS-132")
async def test_health_is_reported_by_service_and_as_a_whole(serve: Serve) -> None:
    served = await serve(sample.bundle(Sample()))
    assert await health_of(served.target, sample.SERVICE) == SERVING
    assert await health_of(served.target, "") == SERVING
    await server_of(served.server).set_serving(is_serving=False)
    assert await health_of(served.target, sample.SERVICE) == NOT_SERVING
    assert await health_of(served.target, "") == NOT_SERVING


@sockets()
async def test_callers_turn_away_from_a_server_that_is_not_serving(serve: Serve) -> None:
    served = await serve(sample.bundle(Sample()))
    stub = rpc.DispatchServiceStub(served.channel())
    await stub.ListUpstreamModels(sample.request(), timeout=SOON_S)
    await server_of(served.server).set_serving(is_serving=False)
    await eventually(lambda: is_turned_away(stub))
    await server_of(served.server).set_serving(is_serving=True)

    async def is_served() -> bool:
        return not await is_turned_away(stub)

    await eventually(is_served)


async def reflected(target: str) -> set[str]:
    async with grpc.aio.insecure_channel(target) as plain:
        request = reflection_pb2.ServerReflectionRequest(list_services="")

        async def ask() -> AsyncIterator[reflection_pb2.ServerReflectionRequest]:
            yield request

        reflect = plain.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            reflection_pb2.ServerReflectionRequest.SerializeToString,
            reflection_pb2.ServerReflectionResponse.FromString,
        )
        async for answer in reflect(ask(), timeout=SOON_S):
            return {found.name for found in answer.list_services_response.service}
    return set()


@sockets()
@pytest.mark.spec("OPS-132")
async def test_reflection_names_every_service(serve: Serve) -> None:
    served = await serve(sample.bundle(Sample()))
    assert {sample.SERVICE, host.INFO_SERVICE, "grpc.health.v1.Health"} <= await reflected(
        served.target
    )


@sockets()
async def test_reflection_can_be_switched_off(transport: Transport) -> None:
    options = replace(LOCAL, is_reflection_on=False)
    async with serving(sample.bundle(Sample()), transport, options) as served:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await reflected(served.target)
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def channelz_code(target: str) -> grpc.StatusCode:
    async with grpc.aio.insecure_channel(target) as plain:
        list_servers = plain.unary_unary(
            "/grpc.channelz.v1.Channelz/GetServers",
            channelz_pb2.GetServersRequest.SerializeToString,
            channelz_pb2.GetServersResponse.FromString,
        )
        try:
            answer = await list_servers(channelz_pb2.GetServersRequest(), timeout=SOON_S)
        except grpc.aio.AioRpcError as error:
            return error.code()
        assert answer.server
        return grpc.StatusCode.OK


@sockets()
@pytest.mark.spec("OPS-132")
async def test_channelz_answers_on_this_machine(serve: Serve) -> None:
    served = await serve(sample.bundle(Sample()))
    assert await channelz_code(served.target) is grpc.StatusCode.OK


@pytest.mark.parametrize(
    ("listen", "is_local"),
    [
        ("127.0.0.1:7000", True),
        ("localhost:7000", True),
        ("[::1]:7000", True),
        ("unix:/run/x", True),
        ("0.0.0.0:7000", False),
        ("[::]:7000", False),
        ("10.1.2.3:7000", False),
    ],
)
def test_channelz_is_for_loopback_listeners(listen: str, is_local: bool) -> None:
    assert replace(LOCAL, listen=listen).is_local is is_local


@sockets()
async def test_an_unknown_method_is_refused_as_such(serve: Serve) -> None:
    served = await serve(sample.bundle(Sample()))
    stub = router_pb2_grpc.RouterServiceStub(served.channel())
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.ListModels(router_pb2.ListModelsRequest(), timeout=SOON_S)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


@sockets()
@pytest.mark.parametrize("raw", [b"\xff\xff\xff\xff\x0f", b"\x12\x01\xff"], ids=["cut", "no-utf-8"])
async def test_what_is_no_message_is_refused_as_the_callers_fault(serve: Serve, raw: bytes) -> None:
    served = await serve(sample.bundle(Sample()))
    async with grpc.aio.insecure_channel(served.target) as plain:
        ask: Raw = plain.unary_unary(f"/{sample.SERVICE}/ListUpstreamModels")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await ask(raw, timeout=SOON_S)
    error = status.error_of(caught.value)
    assert isinstance(error, InvalidRequestError)
    assert error.violations[0].field == "request"


async def test_a_peer_that_is_not_there_is_a_peer_error() -> None:
    nowhere = channel.connect("dns:///127.0.0.1:9", caller="gateway", service=sample.SERVICE)
    stub = rpc.DispatchServiceStub(nowhere)
    failure = await failure_of(stub.ListUpstreamModels(sample.request(), timeout=SOON_S))
    assert isinstance(status.error_of(failure), PeerError)
    await nowhere.aclose()


@sockets()
async def test_a_stopping_server_lets_running_calls_end_and_takes_no_new_ones(
    serve: Serve,
) -> None:
    entered, leave = asyncio.Event(), asyncio.Event()

    async def wait(_: sample.Request, __: sample.UnaryContext) -> sample.Response:
        entered.set()
        await leave.wait()
        return sample.response("served")

    served = await serve(sample.bundle(Sample(on_unary=wait)))
    stub = rpc.DispatchServiceStub(served.channel())
    running = stub.ListUpstreamModels(sample.request(), timeout=SOON_S)
    await entered.wait()
    stopping = asyncio.ensure_future(server_of(served.server).stop(SOON_S))
    await asyncio.sleep(0.05)
    failure = await failure_of(stub.ListUpstreamModels(sample.request(), timeout=1))
    assert isinstance(status.error_of(failure), PeerError)
    leave.set()
    assert (await running).next_page_token == "served"
    await asyncio.wait_for(stopping, SOON_S)


@sockets()
async def test_calls_that_outlast_the_grace_are_cancelled(serve: Serve) -> None:
    entered, cancelled = asyncio.Event(), asyncio.Event()

    async def wait(_: sample.Request, __: sample.UnaryContext) -> sample.Response:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return sample.response()

    served = await serve(sample.bundle(Sample(on_unary=wait)))
    stub = rpc.DispatchServiceStub(served.channel())
    running = stub.ListUpstreamModels(sample.request(), timeout=SOON_S)
    await entered.wait()
    await server_of(served.server).stop(0.05)
    assert isinstance(status.error_of(await failure_of(running)), PeerError)
    await asyncio.wait_for(cancelled.wait(), SOON_S)


class Decisions(router_pb2_grpc.RouterServiceServicer):
    """Streams decisions that never come."""

    async def Route(  # noqa: N802 - name fixed by the proto
        self,
        request: router_pb2.RouteRequest,
        context: grpc.aio.ServicerContext[router_pb2.RouteRequest, router_pb2.RouteResponse],
    ) -> router_pb2.RouteResponse:
        return router_pb2.RouteResponse()

    async def ListModels(  # noqa: N802 - name fixed by the proto
        self,
        request: router_pb2.ListModelsRequest,
        context: grpc.aio.ServicerContext[
            router_pb2.ListModelsRequest, router_pb2.ListModelsResponse
        ],
    ) -> router_pb2.ListModelsResponse:
        return router_pb2.ListModelsResponse()

    async def WatchDecisions(  # noqa: N802 - name fixed by the proto
        self,
        request: router_pb2.WatchDecisionsRequest,
        context: grpc.aio.ServicerContext[
            router_pb2.WatchDecisionsRequest, router_pb2.WatchDecisionsResponse
        ],
    ) -> AsyncIterator[router_pb2.WatchDecisionsResponse]:
        yield router_pb2.WatchDecisionsResponse()
        await asyncio.Event().wait()


def decisions() -> host.Bundle:
    def attach(server: grpc.aio.Server) -> None:
        router_pb2_grpc.add_RouterServiceServicer_to_server(Decisions(), server)

    return host.Bundle(ROUTER, attach, sample.nothing, sample.nothing)


async def test_a_watch_needs_no_deadline_and_is_outside_the_limit(serve: Serve) -> None:
    served = await serve(decisions(), replace(LOCAL, max_concurrent=1))
    stub = router_pb2_grpc.RouterServiceStub(served.channel())
    watch = stub.WatchDecisions(router_pb2.WatchDecisionsRequest())
    await watch.read()
    await stub.Route(router_pb2.RouteRequest(), timeout=SOON_S)
    watch.cancel()


@sockets()
async def test_a_watch_ends_at_once_when_the_server_stops(serve: Serve) -> None:
    served = await serve(decisions())
    stub = router_pb2_grpc.RouterServiceStub(served.channel())
    watch = stub.WatchDecisions(router_pb2.WatchDecisionsRequest())
    await watch.read()
    async with asyncio.timeout(SOON_S):
        await server_of(served.server).stop(60)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await watch.read()
    error = status.error_of(caught.value)
    assert error.reason is Reason.DRAINING
    assert isinstance(error, PeerError)


async def test_an_address_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = host.Server((sample.bundle(Sample()),), replace(LOCAL, listen=f"127.0.0.1:{port}"))
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{port}"):
            await server.start()


async def test_a_unix_folder_that_is_not_there_is_named() -> None:
    listen = "unix:/nowhere/at/all/socket"
    server = host.Server((sample.bundle(Sample()),), replace(LOCAL, listen=listen))
    with pytest.raises(OSError, match="cannot listen on unix:/nowhere"):
        await server.start()


async def test_a_large_server_limit_covers_its_largest_bundle(serve: Serve) -> None:
    served = await serve(sample.bundle(Sample(), sample.Rules(max_message_bytes=1_000_000)))
    stub = rpc.DispatchServiceStub(served.channel())
    text = "x" * 900_000
    answer = await stub.ListUpstreamModels(sample.request(text), timeout=SOON_S)
    assert answer.next_page_token == text


async def test_a_stream_without_a_deadline_is_refused_before_its_first_part(serve: Serve) -> None:
    served = await serve(sample.bundle(Sample()))
    call = rpc.DispatchServiceStub(served.channel()).Dispatch(pb.DispatchRequest())
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call.read()
    assert status.error_of(caught.value).reason is Reason.DEADLINE_REQUIRED
    unary = rpc.DispatchServiceStub(served.channel()).ListUpstreamModels(sample.request())
    assert await reason_of(unary) is Reason.DEADLINE_REQUIRED


async def test_a_failed_start_closes_what_was_opened_in_reverse() -> None:
    steps: list[str] = []

    def noting(name: str, *, is_broken: bool = False) -> host.Bundle:
        async def start() -> None:
            steps.append(f"start {name}")
            if is_broken:
                raise OSError("no store")

        async def close() -> None:
            steps.append(f"close {name}")

        return replace(sample.bundle(Sample()), start=start, aclose=close)

    bundles = [noting("a"), noting("b", is_broken=True), noting("c")]
    with pytest.raises(OSError, match="no store"):
        await host.serve(bundles, LOCAL)
    assert steps == ["start a", "start b", "close b", "close a"]
