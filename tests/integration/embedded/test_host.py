"""Everything in one process, with nothing configured."""

from __future__ import annotations

import re
import signal
import stat
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from services.embedded.sandbox.script import GREETING
from tests.fakes.process import RunningProcess
from tests.integration.cli.pointsman import environment
from tests.integration.embedded.acme import served

QUIET = {
    "POINTSMAN_GATEWAY__LISTEN": "127.0.0.1:0",
    "POINTSMAN_GATEWAY__OPS_LISTEN": "127.0.0.1:0",
    "POINTSMAN_GATEWAY__RPC_LISTEN": "127.0.0.1:0",
}
START_S = 20.0
"""Far above what it takes: the start is measured by the bench."""


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[RunningProcess]:
    env = environment(tmp_path, **QUIET)
    async with served(tmp_path, "", env) as one:
        await one.wait_for_line(lambda line: "Pointsman listens on" in line.text, START_S)
        yield one


def url_of(running: RunningProcess) -> str:
    found = next(
        match[0]
        for line in running.lines
        if (match := re.search(r"http://127\.0\.0\.1:\d+", line.text)) and "listens" in line.text
    )
    return str(found)


@pytest.mark.spec("OPS-1", "OPS-2", "OPS-115")
async def test_it_serves_both_dialects_with_nothing_configured(
    running: RunningProcess, tmp_path: Path
) -> None:
    key_file = tmp_path / ".pointsman" / "first-router-key"
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    token = key_file.read_text().strip()
    assert token not in "".join(line.text for line in running.lines)
    assert any("SANDBOX" in line.text for line in running.lines)
    assert sum("curl " in line.text for line in running.lines) == 4
    said = [{"role": "user", "content": "Hello"}]
    async with httpx.AsyncClient(
        base_url=url_of(running), headers={"x-router-key": token}, trust_env=False
    ) as client:
        for model in ("sandbox-large", "sandbox-small"):
            body = {"model": model, "max_tokens": 256, "messages": said}
            answer = await client.post("/v1/messages", json=body)
            assert answer.status_code == 200, answer.text
            assert answer.json()["content"][0]["text"] == GREETING
            answer = await client.post("/v1/chat/completions", json=body)
            assert answer.status_code == 200, answer.text
            assert answer.json()["choices"][0]["message"]["content"] == GREETING
            streamed = await client.post("/v1/messages", json={**body, "stream": True})
            assert "event: message_stop" in streamed.text


@pytest.mark.spec("OPS-1")
async def test_a_request_with_a_credential_of_its_own_never_reaches_the_sandbox(
    running: RunningProcess, tmp_path: Path
) -> None:
    token = (tmp_path / ".pointsman" / "first-router-key").read_text().strip()
    body = {
        "model": "sandbox-large",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "a"}],
    }
    brought = {"x-router-key": token, "x-api-key": "sk-ant-api03-canary0123456789"}
    async with httpx.AsyncClient(base_url=url_of(running), trust_env=False) as client:
        answer = await client.post("/v1/messages", json=body, headers=brought)
    assert answer.status_code != 200
    assert "canary" not in answer.text + "".join(line.text for line in running.lines)


async def test_it_stops_at_once_when_nothing_runs(running: RunningProcess) -> None:
    began = time.monotonic()
    running.send_signal(signal.SIGTERM)
    assert await running.wait() == 0
    assert time.monotonic() - began < 8
