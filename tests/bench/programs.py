"""What the bench's own servers share: uvloop, an end on SIGTERM, and a port told to the starter."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable, Coroutine

import orjson
import uvloop
from aiohttp import web

BODY_LIMIT_BYTES = 64 << 20


def announce(port: int) -> None:
    """Print the port as one JSON line."""
    print(orjson.dumps({"port": port}).decode(), flush=True)


def run(program: Coroutine[None, None, None]) -> None:
    """Run a server until SIGTERM or SIGINT."""
    with contextlib.suppress(asyncio.CancelledError):
        uvloop.run(_until_stopped(program))


async def serve_http(handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> None:
    """Serve every POST with one handler on a free port, and tell it."""
    application = web.Application(client_max_size=BODY_LIMIT_BYTES)
    application.router.add_post("/{path:.*}", handler)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    announce(runner.addresses[0][1])
    try:
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


async def _until_stopped(program: Coroutine[None, None, None]) -> None:
    task = asyncio.ensure_future(program)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await task
