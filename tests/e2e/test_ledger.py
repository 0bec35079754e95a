"""Every attempt has exactly one row, through kills, clients that leave, and all dialects."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import orjson
import pytest

from gateway.adapters.ledger import SqlLedgerStore
from gateway.model.record import LedgerRow
from services.domain.vocab import WireFamily
from tests.e2e import deployments, streams, test_deciding
from tests.e2e.conversations import DIALECTS
from tests.e2e.deployments import ALL, GATEWAY, Deployment
from tests.e2e.settings import CHAT, MESSAGES
from tests.fakes.process import RunningProcess
from tests.fakes.upstream import FakeUpstream, Fault, Usage

USED = Usage(input=1000, output=300, cached=400)
SLOW = Fault(chunks=30, chunk_delay=0.1, usage=USED)
PLAIN = Fault(usage=USED)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Give a folder that a deployment lives in; its bytecode goes beside it."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


async def rows_in(url: str, count: int) -> list[LedgerRow]:
    """Return all rows once there are `count`; fails when there are more a moment later."""
    store = SqlLedgerStore(url)
    try:
        async with asyncio.timeout(15):
            while len(await store.page(0, 1000)) < count:  # noqa: ASYNC110 - another process writes
                await asyncio.sleep(0.1)
        await asyncio.sleep(0.5)
        found = [row for _, row in await store.page(0, 1000)]
        assert len(found) == count
        assert len({row.key for row in found}) == count
        return found
    finally:
        await store.aclose()


async def audited(home: Path) -> dict[str, object]:
    """Return what `pointsman ledger verify` says; it must find no drift."""
    command = deployments.command("ledger", "verify", "--json", "--config", "pointsman.toml")
    environment = deployments.surroundings(home)
    async with RunningProcess(command, env=environment, cwd=home) as process:
        code = await process.wait(30.0)
        text = "\n".join(line.text for line in process.lines)
        assert code == 0, text
        said = orjson.loads(text)
    assert isinstance(said, dict)
    return said


@contextlib.asynccontextmanager
async def running(
    kind: str, request: pytest.FixtureRequest, home: Path, provider: FakeUpstream
) -> AsyncIterator[tuple[Deployment, str, str]]:
    """Run a deployment; gives it, its gateway's part and its gateway's database."""
    if kind == "embedded":
        async with deployments.embedded(home, provider) as deployment:
            yield deployment, ALL, f"sqlite:///{home}/gateway.db"
        return
    url = request.getfixturevalue("postgres_url")
    async with deployments.apart(home, provider, url) as deployment:
        yield deployment, GATEWAY, url


@pytest.mark.spec("OPS-58", "OPS-74")
@pytest.mark.parametrize("kind", ["embedded", "apart"])
async def test_a_gateway_killed_in_mid_stream_settles_once_at_its_next_start(
    kind: str, request: pytest.FixtureRequest, home: Path, upstream: FakeUpstream
) -> None:
    async with running(kind, request, home, upstream) as (deployment, part, url):
        await streams.ask(deployment, WireFamily.ANTHROPIC, MESSAGES)
        upstream.script(SLOW)
        async with streams.streaming(deployment, WireFamily.ANTHROPIC, MESSAGES) as stream:
            await stream.read_frames(6)
            await deployment.kill(part)
            with contextlib.suppress(httpx.HTTPError):
                await stream.read_to_end()
        await deployment.start(part)
        rows = await rows_in(url, 2)
        await deployment.kill(part)
        await deployment.start(part)
        rows = await rows_in(url, 2)
        lost = next(row for row in rows if row.outcome == "aborted")
        assert lost.source in ("partial", "estimated")
        assert lost.charged_micros == lost.cost_micros
        assert lost.charged_micros > 0
        assert (await audited(home))["row_count"] == 2


@pytest.mark.spec("OPS-58")
async def test_a_gateway_killed_while_a_summary_is_written_accounts_for_it_once(
    home: Path, upstream: FakeUpstream
) -> None:
    async with deployments.embedded(home, upstream, test_deciding.WISHES) as deployment:
        url, session = f"sqlite:///{home}/gateway.db", test_deciding.fresh_session()
        upstream.script(Fault(usage=test_deciding.WARM))
        history = [test_deciding.user(test_deciding.HARD)]
        await test_deciding.ask(deployment, session, history)
        upstream.script(Fault(delay=6.0))
        history += [test_deciding.assistant(test_deciding.LONG), test_deciding.user("Go on.")]
        switching = asyncio.ensure_future(test_deciding.ask(deployment, session, history))
        async with asyncio.timeout(10):
            while len(upstream.requests) < 2:  # noqa: ASYNC110 - another process asks
                await asyncio.sleep(0.05)
        await deployment.kill(ALL)
        with pytest.raises(httpx.HTTPError):
            await switching
        for _ in range(2):
            await deployment.start(ALL)
            rows = {row.kind: row for row in await rows_in(url, 2)}
            await deployment.kill(ALL)
        await deployment.start(ALL)
        assert rows.keys() == {"serve", "switch_summary"}
        lost = rows["switch_summary"]
        assert (lost.model, lost.outcome) == (test_deciding.CHEAP, "aborted")
        assert lost.source == "estimated"
        assert (await audited(home))["row_count"] == 2


@pytest.mark.spec("OPS-59")
async def test_streamed_and_whole_answers_of_every_dialect_cost_the_same(
    home: Path, upstream: FakeUpstream
) -> None:
    async with deployments.embedded(home, upstream) as deployment:
        shown: set[str] = set()
        for dialect in DIALECTS:
            for model in (MESSAGES, CHAT):
                upstream.script(PLAIN)
                whole = await streams.ask(deployment, dialect, model)
                shown.add(whole.headers["x-router-cost-usd"])
                upstream.script(PLAIN)
                async with streams.streaming(deployment, dialect, model) as stream:
                    await stream.read_to_end()
        rows = await rows_in(f"sqlite:///{home}/gateway.db", 8)
    expected = 1000 + 200 + 600
    assert {row.source for row in rows} == {"reported"}
    assert [row.charged_micros for row in rows] == [expected] * 8
    assert shown == {"0.0018"}
    assert (await audited(home))["charged_micros"] == 8 * expected


@pytest.mark.spec("OPS-58")
@pytest.mark.parametrize("model", [MESSAGES, CHAT])
async def test_a_client_that_leaves_in_mid_stream_pays_for_what_was_made(
    model: str, home: Path, upstream: FakeUpstream
) -> None:
    async with deployments.embedded(home, upstream) as deployment:
        upstream.script(SLOW)
        async with streams.streaming(deployment, WireFamily.ANTHROPIC, model) as stream:
            await stream.read_frames(6)
        (row,) = await rows_in(f"sqlite:///{home}/gateway.db", 1)
    assert row.outcome == "aborted"
    assert row.source in ("partial", "estimated")
    assert row.output_tokens > 0
    assert row.charged_micros > 0


@pytest.mark.spec("OPS-58")
async def test_an_upstream_that_fails_before_any_output_costs_nothing(
    home: Path, upstream: FakeUpstream
) -> None:
    async with deployments.embedded(home, upstream) as deployment:
        upstream.script(Fault(status=400, error_type="invalid_request_error"))
        answer = await streams.ask(deployment, WireFamily.ANTHROPIC, MESSAGES)
        assert answer.status_code == 400
        (row,) = await rows_in(f"sqlite:///{home}/gateway.db", 1)
    assert (row.outcome, row.cost_micros, row.charged_micros) == ("failed_no_usage", 0, 0)
