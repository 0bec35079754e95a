"""A served process: its ops listener, its drain, and what it says when it cannot start."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import httpx
import pytest
from pointsman.dispatch.v1 import dispatch_pb2_grpc as rpc

from services.runtime import channel
from tests.contract import sample
from tests.contract.sample import SOON_S
from tests.fakes.process import RunningProcess

ROOT = Path(__file__).resolve().parents[2]
START_S = 20.0


@dataclass(frozen=True, slots=True)
class Running:
    """A started process and the ways to reach it."""

    process: RunningProcess
    stub: sample.Stub
    ops: httpx.AsyncClient

    async def ready(self) -> int:
        return (await self.ops.get("/readyz")).status_code

    async def ask(self, text: str) -> str:
        answer = await self.stub.ListUpstreamModels(sample.request(text), timeout=START_S)
        return answer.next_page_token


def command(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "tests.contract.sample_server", *arguments)


@contextlib.asynccontextmanager
async def running(lame_duck_s: float, drain_s: float) -> AsyncIterator[Running]:
    any_port = "127.0.0.1:0"
    started = command(any_port, any_port, str(lame_duck_s), str(drain_s))
    path = f"{ROOT}:{ROOT / 'protos' / 'gen'}"
    async with RunningProcess(started, cwd=ROOT, env={"PYTHONPATH": path}) as process:
        line = await process.wait_for_event("serving", START_S)
        target = f"dns:///127.0.0.1:{line.fields['port']}"
        opened = channel.connect(target, caller="gateway", service=sample.SERVICE)
        base = f"http://127.0.0.1:{line.fields['ops_port']}"
        async with opened, httpx.AsyncClient(base_url=base, timeout=SOON_S) as ops:
            yield Running(process, rpc.DispatchServiceStub(opened), ops)


@pytest.mark.spec("OPS-132")
async def test_a_process_serves_and_its_ops_listener_answers() -> None:
    async with running(0, 5) as served:
        assert await served.ask("hello") == "hello"
        assert (await served.ops.get("/livez")).json() == {"status": "ok"}
        assert await served.ready() == 200
        metrics = (await served.ops.get("/metrics")).text
        assert 'pointsman_rpc_handled_total{code="OK",method="ListUpstreamModels"} 1.0' in metrics
        assert "pointsman_loop_lag_seconds" in metrics
        assert (await served.ops.get("/elsewhere")).status_code == 404


@pytest.mark.spec("OPS-92")
async def test_a_loop_that_hangs_still_has_an_ops_listener() -> None:
    async with running(0, 5) as served:
        blocking = asyncio.ensure_future(served.ask("block 2"))
        await asyncio.sleep(0.3)
        assert (await served.ops.get("/livez")).status_code == 200
        assert (await served.ops.get("/metrics")).status_code == 200
        assert not blocking.done()
        await blocking


@pytest.mark.spec("OPS-112")
async def test_the_first_signal_drains_and_lets_running_calls_end() -> None:
    async with running(0.3, 10) as served:
        early = asyncio.ensure_future(served.ask("wait 1.2"))
        await asyncio.sleep(0.3)
        served.process.send_signal(signal.SIGTERM)
        await served.process.wait_for_event("draining")
        answer = await served.ops.get("/readyz")
        assert answer.status_code == 503
        assert answer.json()["draining"] is True
        assert (await served.ops.get("/livez")).status_code == 200
        assert await early == "wait 1.2"
        assert await served.process.wait() == 0


@pytest.mark.spec("OPS-112")
async def test_calls_are_still_taken_while_others_learn_of_the_drain() -> None:
    async with running(3, 10) as served:
        await served.ask("hello")
        served.process.send_signal(signal.SIGTERM)
        await served.process.wait_for_event("draining")
        port = next(
            line.fields["port"] for line in served.process.lines if line.has(event="serving")
        )
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as plain:
            late = rpc.DispatchServiceStub(plain)
            answer = await late.ListUpstreamModels(sample.request("late"), timeout=SOON_S)
            assert answer.next_page_token == "late"
        await sample.eventually(lambda: sample.is_turned_away(served.stub))
        served.process.send_signal(signal.SIGTERM)
        assert await served.process.wait(SOON_S) == 0


@pytest.mark.spec("OPS-112")
@pytest.mark.parametrize("lame_duck_s", [0.0, 60.0])
async def test_a_second_signal_ends_the_wait(lame_duck_s: float) -> None:
    async with running(lame_duck_s, 60) as served:
        stuck = asyncio.ensure_future(served.ask("wait 30"))
        await asyncio.sleep(0.3)
        served.process.send_signal(signal.SIGTERM)
        await served.process.wait_for_event("draining")
        await asyncio.sleep(0.2)
        served.process.send_signal(signal.SIGTERM)
        assert await served.process.wait(SOON_S) == 0
        with pytest.raises(grpc.aio.AioRpcError):
            await stuck


async def test_an_interrupt_stops_it_as_well() -> None:
    async with running(0, 5) as served:
        served.process.send_signal(signal.SIGINT)
        assert await served.process.wait(SOON_S) == 0


@pytest.mark.parametrize("which", ["listen", "ops"])
async def test_a_port_in_use_is_one_line_and_exit_1(which: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        busy, free = f"127.0.0.1:{taken.getsockname()[1]}", "127.0.0.1:0"
        addresses = (busy, free) if which == "listen" else (free, busy)
        path = f"{ROOT}:{ROOT / 'protos' / 'gen'}"
        async with RunningProcess(
            command(*addresses, "0", "1"), cwd=ROOT, env={"PYTHONPATH": path}
        ) as process:
            assert await process.wait(START_S) == 1
            (line,) = process.lines
            assert line.text.startswith(f"error: cannot listen on {busy}")
