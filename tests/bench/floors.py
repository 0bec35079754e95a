"""The smallest servers of a given make-up: what no gateway of that make-up can be below.

`python -m tests.bench.floors proxy UPSTREAM_PORT`: one aiohttp server, one aiohttp client.
`python -m tests.bench.floors hop UPSTREAM_PORT`: a gRPC service that asks the provider and streams.
`python -m tests.bench.floors answer`: a gRPC service of one unary call.
`python -m tests.bench.floors edge HOP_PORT [ANSWER_PORT …]`: an aiohttp server before that service,
which first asks each of the others in turn.

Messages are raw bytes, without protobuf: the floor of the transport alone.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Coroutine

import aiohttp
import grpc.aio
from aiohttp import web

from tests.bench.programs import BODY_LIMIT_BYTES, announce, run, serve_http

HOP_METHOD = "/bench.Hop/Go"
ANSWER_METHOD = "/bench.Answer/Go"
ANSWER_BYTES = 256
JSON = {"Content-Type": "application/json"}
EVENT_STREAM = "text/event-stream"
GRPC_OPTIONS = (
    ("grpc.max_receive_message_length", BODY_LIMIT_BYTES),
    ("grpc.max_send_message_length", BODY_LIMIT_BYTES),
)


async def proxy(upstream_port: int) -> None:
    """Serve the bare reverse proxy."""
    async with _session() as session:

        async def forward(request: web.Request) -> web.StreamResponse:
            url = f"http://127.0.0.1:{upstream_port}{request.path_qs}"
            body = await request.read()
            async with session.post(url, data=body, headers=JSON) as answer:
                if answer.content_type != EVENT_STREAM:
                    whole = await answer.read()
                    return web.Response(status=answer.status, body=whole, headers=JSON)
                response = await _opened_stream(request)
                async for data in answer.content.iter_any():
                    await response.write(data)
                await response.write_eof()
                return response

        await serve_http(forward)


async def hop(upstream_port: int) -> None:
    """Serve the one stream hop: a request is the path, a newline and the body."""
    async with _session() as session:

        async def go(
            request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]
        ) -> AsyncIterator[bytes]:
            path, body = request.split(b"\n", 1)
            url = f"http://127.0.0.1:{upstream_port}{path.decode()}"
            async with session.post(url, data=body, headers=JSON) as answer:
                yield answer.content_type.encode()
                if answer.content_type != EVENT_STREAM:
                    yield await answer.read()
                    return
                async for data in answer.content.iter_any():
                    yield data

        await _serve(HOP_METHOD, grpc.unary_stream_rpc_method_handler(go))


async def answer() -> None:
    """Serve the one unary call."""
    said = bytes(ANSWER_BYTES)

    async def go(request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        return said

    await _serve(ANSWER_METHOD, grpc.unary_unary_rpc_method_handler(go))


async def edge(hop_port: int, *answer_ports: int) -> None:
    """Serve the HTTP edge before the hop."""
    async with contextlib.AsyncExitStack() as stack:

        async def channel_to(port: int) -> grpc.aio.Channel:
            channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=GRPC_OPTIONS)
            return await stack.enter_async_context(channel)

        asks: list[grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]] = [
            (await channel_to(port)).unary_unary(ANSWER_METHOD) for port in answer_ports
        ]
        hop = await channel_to(hop_port)
        go: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = hop.unary_stream(HOP_METHOD)

        async def forward(request: web.Request) -> web.StreamResponse:
            asked = request.path_qs.encode() + b"\n" + await request.read()
            for ask in asks:
                await ask(asked, timeout=60)
            call = go(asked, timeout=60)
            content_type = await _next(call)
            if content_type != EVENT_STREAM.encode():
                return web.Response(body=await _next(call), headers=JSON)
            response = await _opened_stream(request)
            while data := await _next(call):
                await response.write(data)
            await response.write_eof()
            return response

        await serve_http(forward)


async def _next(call: grpc.aio.UnaryStreamCall[bytes, bytes]) -> bytes:
    message = await call.read()
    return message if isinstance(message, bytes) else b""


async def _opened_stream(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": EVENT_STREAM})
    await response.prepare(request)
    return response


async def _serve(path: str, handler: grpc.RpcMethodHandler[bytes, bytes]) -> None:
    _, service, method = path.split("/")
    server = grpc.aio.server(options=GRPC_OPTIONS)
    handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {method: handler}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    announce(port)
    await server.wait_for_termination()


def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        auto_decompress=False,
        timeout=aiohttp.ClientTimeout(total=60),
    )


FLOORS: dict[str, Callable[..., Coroutine[None, None, None]]] = {
    "proxy": proxy,
    "hop": hop,
    "answer": answer,
    "edge": edge,
}

if __name__ == "__main__":
    run(FLOORS[sys.argv[1]](*map(int, sys.argv[2:])))
