"""Runs the fake provider until it is told to stop (SIGTERM or SIGINT)."""

from __future__ import annotations

import argparse
import asyncio
import signal
from pathlib import Path

from tests.fakes.upstream.answer import Voice
from tests.fakes.upstream.server import FakeUpstream


def parse_arguments() -> argparse.Namespace:
    """Return the command line's arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--port-file", type=Path, help="the port is written here once it listens")
    parser.add_argument("--chunks", type=int, default=4, help="text deltas of an answer")
    parser.add_argument("--chunk-delay", type=float, default=0.0, help="seconds between events")
    parser.add_argument("--stamp", action="store_true", help="deltas hold the monotonic clock")
    parser.add_argument("--models", default="fake-large,fake-small", help="ids of the model list")
    parser.add_argument("--log-limit", type=int, default=5000, help="requests to remember")
    return parser.parse_args()


async def serve(arguments: argparse.Namespace) -> None:
    """Serve until a signal comes."""
    voice = Voice(arguments.chunks, arguments.chunk_delay, arguments.stamp)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with FakeUpstream(
        port=arguments.port,
        voice=voice,
        models=arguments.models.split(","),
        log_limit=arguments.log_limit,
    ) as upstream:
        if arguments.port_file is not None:
            await asyncio.to_thread(write_port, arguments.port_file, upstream.port)
        await stop.wait()


def write_port(path: Path, port: int) -> None:
    """Write the port so that a reader never sees half of it."""
    draft = path.with_name(path.name + ".draft")
    draft.write_text(str(port))
    draft.replace(path)


if __name__ == "__main__":
    asyncio.run(serve(parse_arguments()))
