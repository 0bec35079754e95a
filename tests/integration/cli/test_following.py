"""`pointsman route --follow` beside a router whose first provider fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from tests.fakes.process import RunningProcess
from tests.fakes.upstream import FakeUpstream, Fault
from tests.integration.cli.pointsman import command, environment, pointsman

KEY = "rk_0123456789abcdefghij0123456789ab"
START_S = 30.0
BODY = {"model": "duo", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
_PRICE = "input_usd_per_mtok = 1.0\noutput_usd_per_mtok = 1.0\n"


@dataclass(frozen=True, slots=True)
class Running:
    """A router before two providers, of which the first fails."""

    home: Path
    server: str
    rpc: str

    def following(self, *more: str, key: str = KEY) -> RunningProcess:
        """Return the command that follows it."""
        arguments = command("route", "--follow", "--rpc", self.rpc, *more)
        env = environment(self.home, POINTSMAN_KEY=key, PYTHONUNBUFFERED="1")
        return RunningProcess(arguments, env=env, cwd=self.home)

    async def ask(self) -> str:
        """Ask once and return the action's id."""
        headers = {"x-router-key": KEY}
        async with (
            aiohttp.ClientSession(self.server, headers=headers) as http,
            http.post("/v1/messages", json=BODY) as answer,
        ):
            assert answer.status == 200
            await answer.read()
            return answer.headers["x-router-action-id"]


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    home = tmp_path / "home"
    home.mkdir()
    async with FakeUpstream() as failing, FakeUpstream() as backup:
        failing.script(Fault(status=503, error_type="api_error"), times=None)
        (home / "catalog.toml").write_text(
            '[[models]]\nid = "duo"\n'
            f'[[models.bindings]]\nprovider = "first"\n{_PRICE}'
            f'[[models.bindings]]\nprovider = "second"\n{_PRICE}'
        )
        tables = "".join(
            f'[providers.{name}]\nfamily = "anthropic"\nbase_url = "{fake.base_url}"\n'
            f'api_key = "key-of-{name}"\n'
            for name, fake in (("first", failing), ("second", backup))
        )
        (home / "pointsman.toml").write_text(
            '[gateway]\nlisten = "127.0.0.1:0"\nops_listen = "127.0.0.1:0"\n'
            f'rpc_listen = "127.0.0.1:0"\nbootstrap_key = "{KEY}"\n'
            f'[routing]\nstrategy = "requested"\n[catalog]\nextend = ["catalog.toml"]\n{tables}'
        )
        async with RunningProcess(command("serve"), env=environment(home), cwd=home) as process:
            http = await process.wait_for_event("serving", START_S, service="gateway")
            rpc = await process.wait_for_event("router_serving", START_S)
            yield Running(
                home,
                f"http://127.0.0.1:{http.fields['port']}",
                f"127.0.0.1:{rpc.fields['port']}",
            )
            failed = [line for line in process.lines if line.has(event="attempt_failed")]
            assert failed
            assert failed[0].fields["next_step"] == "hop"


async def lines_about(running: Running, process: RunningProcess) -> tuple[str, list[str]]:
    """Return the id of an action that was followed whole, and the lines about it."""
    await process.wait_for_line(lambda line: "following" in line.text, START_S)
    action_id = await running.ask()
    await process.wait_for_line(
        lambda line: (
            action_id in line.text and ("2 attempts" in line.text or "completed" in line.text)
        ),
        START_S,
    )
    lines = [each.text for each in process.lines if action_id in each.text]
    return action_id, lines


@pytest.mark.spec("DSP-123")
async def test_a_walk_is_shown_attempt_by_attempt_with_its_reasons(running: Running) -> None:
    async with running.following() as process:
        action_id, lines = await lines_about(running, process)
        said = [line.removeprefix(action_id).strip() for line in lines]
        assert "decided for duo: duo@first > duo@second (requested)" in said[0]
        assert said[1].startswith("1 duo@first: first, credential ")
        assert said[2] == ("1 duo@first: failed, upstream_status, HTTP 503, api_error, next: hop")
        assert said[3].startswith("2 duo@second: hop, credential ")
        assert said[4].startswith("2 duo@second: served, HTTP 200, ")
        assert said[5].startswith("HTTP 200 duo@second, 2 attempts, $0.0000")
        assert len(said) == 6


async def test_events_come_as_json_line_by_line(running: Running) -> None:
    async with running.following("--json") as process:
        _, lines = await lines_about(running, process)
        events = [next(iter(json.loads(line).keys())) for line in lines]
        assert events == ["decided", "began", "attempted", "began", "attempted", "completed"]


async def test_what_cannot_be_followed_is_one_line(running: Running) -> None:
    await running.ask()
    refused = await asyncio.to_thread(
        pointsman, running.home, "route", "--follow", "--rpc", running.rpc, POINTSMAN_KEY="rk_no"
    )
    assert refused.code == 1
    assert "refused" in refused.error
    nobody = await asyncio.to_thread(
        pointsman, running.home, "route", "--follow", "--rpc", "127.0.0.1:1", POINTSMAN_KEY=KEY
    )
    assert nobody.code == 1
    assert "rpc_listen" in nobody.error
    for arguments in (("route",), ("route", "body.json", "--follow")):
        wrong = await asyncio.to_thread(pointsman, running.home, *arguments, POINTSMAN_KEY=KEY)
        assert wrong.code == 2
        assert "--follow" in wrong.error
