"""`pointsman route` and `pointsman demo` as users run them: processes beside a running router."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from tests.fakes.process import RunningProcess
from tests.integration.cli.pointsman import Outcome, command, environment, pointsman

KEY = "rk_0123456789abcdefghij0123456789ab"
START_S = 30.0
BODY = {
    "model": "sandbox-large",
    "max_tokens": 1000,
    "messages": [{"role": "user", "content": "Prove that the square root of two is irrational."}],
}


@dataclass(frozen=True, slots=True)
class Running:
    """A router on the sandbox, and where it listens."""

    home: Path
    server: str
    rpc: str
    process: RunningProcess

    async def pointsman(self, *arguments: str, key: str = KEY) -> Outcome:
        """Run a command beside it."""
        return await asyncio.to_thread(pointsman, self.home, *arguments, POINTSMAN_KEY=key)

    async def explained(self, body: object, *more: str) -> dict[str, object]:
        """Return what `route` says of a body."""
        (self.home / "body.json").write_text(json.dumps(body))
        done = await self.pointsman("route", "body.json", "--server", self.server, "--json", *more)
        assert done.code == 0, done.err
        found = json.loads(done.out)
        assert isinstance(found, dict)
        return found


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    home = tmp_path / "home"
    home.mkdir()
    (home / "pointsman.toml").write_text(
        '[gateway]\nlisten = "127.0.0.1:0"\nops_listen = "127.0.0.1:0"\n'
        f'rpc_listen = "127.0.0.1:0"\nbootstrap_key = "{KEY}"\n'
        '[routing]\nstrategy = "cluster"\n'
    )
    async with RunningProcess(command("serve"), env=environment(home), cwd=home) as process:
        http = await process.wait_for_event("serving", START_S, service="gateway")
        rpc = await process.wait_for_event("router_serving", START_S)
        yield Running(
            home,
            f"http://127.0.0.1:{http.fields['port']}",
            f"127.0.0.1:{rpc.fields['port']}",
            process,
        )


async def test_route_explains_and_nothing_is_served(running: Running) -> None:
    found = await running.explained(BODY)
    assert (found["strategy"], found["path"]) == ("cluster", "scored")
    candidates = found["candidates"]
    assert isinstance(candidates, list)
    assert {each["model"] for each in candidates} == {"sandbox-large", "sandbox-small"}
    assert all(0 <= each["risk"] <= 1 and each["quality"] is not None for each in candidates)
    credential = found["credential"]
    assert isinstance(credential, dict)
    assert len(credential["fingerprint"]) == 8
    assert not any(line.has(event="action") for line in running.process.lines)


async def test_what_route_says_is_what_live_traffic_gets(running: Running) -> None:
    for text in ("Prove that there are infinitely many primes.", "Say hello."):
        body = {**BODY, "messages": [{"role": "user", "content": text}]}
        found = await running.explained(body)
        async with (
            aiohttp.ClientSession(headers={"x-router-key": KEY}) as http,
            http.post(f"{running.server}/v1/messages", json=body) as answer,
        ):
            served = answer.headers
        named = (served["x-router-model"], served["x-router-provider"], served["x-router-decision"])
        assert named == (found["model"], found["provider"], found["reason"])


async def test_route_assumes_a_pin_and_tells_what_the_planner_found(running: Running) -> None:
    found = await running.explained(BODY)
    pinned = "sandbox-small" if found["model"] == "sandbox-large" else "sandbox-large"
    found = await running.explained(BODY, "--pin", f"{pinned}@sandbox")
    planner = found["planner"]
    assert isinstance(planner, dict)
    assert found["verdict"] == planner["verdict"]
    assert found["verdict"] in ("stay", "switch")
    assert planner["economics"] == "value"
    assert planner["stay_micros"] == 0


async def test_route_prints_for_people(running: Running) -> None:
    (running.home / "body.json").write_text(json.dumps(BODY))
    done = await running.pointsman("route", "body.json", "--server", running.server)
    assert done.code == 0, done.err
    assert "serves: sandbox-" in done.out
    assert "candidates" in done.out
    assert "removed" in done.out


@pytest.mark.parametrize(
    ("arguments", "key", "code", "said"),
    [
        (("route", "none.json"), KEY, 1, "none.json: No such file"),
        (("route", "body.json"), "", 2, "POINTSMAN_KEY"),
        (("route", "body.json", "--server", "127.0.0.1:1"), KEY, 1, "no router answers"),
        (("demo", "--server", "http://127.0.0.1:1", "--rpc", "127.0.0.1:1"), KEY, 1, "--rpc"),
    ],
)
def test_what_cannot_be_asked_is_one_line(
    tmp_path: Path, arguments: tuple[str, ...], key: str, code: int, said: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "body.json").write_text(json.dumps(BODY))
    done = pointsman(home, *arguments, POINTSMAN_KEY=key)
    assert done.code == code
    assert said in done.error


async def test_a_refusal_of_the_router_is_told(running: Running) -> None:
    (running.home / "body.json").write_text(json.dumps(BODY))
    nobody = "rk_nobody_0123456789abcdef"
    done = await running.pointsman("route", "body.json", "--server", running.server, key=nobody)
    assert done.code == 1
    assert "401" in done.error
    assert nobody not in done.err


def test_demo_plays_on_a_router_of_its_own_and_shows_the_saving(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    done = pointsman(home, "demo", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    requests, total = found["requests"], found["total"]
    assert {row["surface"] for row in requests} == {"messages", "chat"}
    kinds = {row["turn type"] for row in requests}
    assert {"probe", "main_loop", "tool_result", "title_gen", "classifier"} <= kinds
    assert all(row["served"] for row in requests)
    by_kind = {row["turn type"]: row for row in requests}
    assert by_kind["probe"]["decided by"] == by_kind["title_gen"]["decided by"] == "hard_pin"
    assert total["cost_micros"] == sum(row["cost_micros"] for row in requests)
    assert total["cost_micros"] + total["saved_micros"] == total["as_requested_micros"]
    assert total["saved_micros"] > 0
    assert not list(home.glob(".pointsman*"))


async def test_demo_plays_through_a_router_that_runs(running: Running) -> None:
    done = await running.pointsman("demo", "--server", running.server, "--rpc", running.rpc)
    assert done.code == 0, done.err
    header, *rows = done.out.split("\n\n")[0].splitlines()
    assert header == "session\tturn type\trequested → served\twhy\tin/cached/out\tcost\tsaved"
    assert len(rows) == 10
    assert "saved: $0.000000" in done.out
    served = [line for line in running.process.lines if line.has(event="action", outcome="served")]
    assert len(served) == 10
