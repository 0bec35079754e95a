"""Programs that tests start are awaited by their log lines and never outlive the test."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import httpx
import psutil
import pytest

from tests.fakes.process import ProcessNotReadyError, RunningProcess

READY = """
import json, os, sys, time
print("plain", flush=True)
print(json.dumps({"event": "listening", "port": 7, "word": os.environ.get("WORD")}), flush=True)
print(json.dumps({"event": "late"}), file=sys.stderr, flush=True)
time.sleep(60)
"""
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(60)
"""
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
child.wait()
"""


def python(program: str) -> tuple[str, ...]:
    return (sys.executable, "-c", program)


async def test_lines_of_both_outputs_are_gathered_and_awaited() -> None:
    async with RunningProcess(python(READY), env={"WORD": "w", "PATH": None}) as running:
        line = await running.wait_for_event("listening")
        assert (line.fields["port"], line.fields["word"]) == (7, "w")
        await running.wait_for_event("late")
        assert running.lines[0].text == "plain"
        assert running.lines[0].fields == {}
        assert await running.terminate() == -signal.SIGTERM


async def test_a_program_that_ends_early_fails_with_its_last_lines() -> None:
    async with RunningProcess(python("for n in range(30): print('line', n)")) as running:
        with pytest.raises(ProcessNotReadyError) as failure:
            await running.wait_for_event("listening")
    assert "ended with 0" in str(failure.value)
    assert "line 10\n" in str(failure.value)
    assert "line 9\n" not in str(failure.value)


async def test_a_program_that_is_too_slow_fails() -> None:
    async with RunningProcess(python(READY)) as running:
        with pytest.raises(ProcessNotReadyError, match="runs, no such line"):
            await running.wait_for_event("absent", timeout=0.1)


async def test_a_program_that_ignores_the_request_to_stop_is_killed() -> None:
    async with RunningProcess(python(STUBBORN)) as running:
        await running.wait_for_line(lambda line: line.text == "deaf")
        assert await running.terminate(timeout=0.1) == -signal.SIGKILL


async def test_children_of_the_program_end_with_it() -> None:
    async with RunningProcess(python(PARENT)) as running:
        line = await running.wait_for_line(lambda line: line.text.isdigit())
        grandchild = psutil.Process(int(line.text))
        assert await running.kill() == -signal.SIGKILL
    await asyncio.to_thread(psutil.wait_procs, [grandchild], timeout=1)
    assert not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE


async def test_the_fake_provider_runs_as_a_program(tmp_path: Path) -> None:
    port_file = tmp_path / "port"
    command = (sys.executable, "-m", "tests.fakes.upstream", "--port-file", str(port_file))
    async with RunningProcess(command) as running:
        async with asyncio.timeout(10):
            while not port_file.exists():  # noqa: ASYNC110 - a file has no event to wait for
                await asyncio.sleep(0.02)
        base = f"http://127.0.0.1:{port_file.read_text()}"
        async with httpx.AsyncClient(base_url=base) as http:
            assert (await http.post("/v1/messages", json={})).status_code == 200
            assert (await http.get("/_ctl/stats")).json()["seen"] == 1
        assert await running.terminate() == 0
