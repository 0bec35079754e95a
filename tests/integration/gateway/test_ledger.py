"""The ledger of a gateway: its journal in real files, its rows behind real requests."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from gateway.ledger.entries import line_of
from gateway.ledger.journal import Journal, JournalError
from gateway.ledger.verify import verify
from gateway.model import Action, AttemptFailed, AttemptStarted, Caller, Failed, InstallationId
from gateway.model.action import ActionId
from gateway.model.record import AttemptOutcome
from services.domain.catalog import build_catalog
from services.domain.errors import Reason, RouterError
from services.domain.vocab import FailureClass, TurnType, WireFamily
from services.domain.wire.model import Request
from tests.fakes.ledger import MemoryLedgerStore, book_in
from tests.integration.gateway.conftest import ADMIN, Stack, head, tail
from tests.unit.gateway.facts import features
from tests.unit.gateway.ledger.cases import ACME, CATALOG, USAGE, record, rows
from tests.unit.gateway.ledger.test_entries import STORY
from tests.unit.gateway.ledger.test_ticket import HEAD, STARTED, TAIL

ROOT = Path(__file__).resolve().parents[3]
CHUNK = (
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
    b'"delta":{"type":"text_delta","text":"12345678"}}\n\n'
)
BODY = {
    "model": "claude-large",
    "max_tokens": 50,
    "messages": [{"role": "user", "content": "hello"}],
}


ROWS = rows(record(AttemptOutcome.SERVED, usage=USAGE))


def action(number: int) -> Action:
    return Action(
        id=ActionId(f"act_{number}"),
        surface=WireFamily.ANTHROPIC,
        caller=Caller("key-1", InstallationId("inst")),
        body=b"",
        request=Request(WireFamily.ANTHROPIC, "m", is_stream=True),
        features=features(),
        input_tokens=500,
        turn_type=TurnType.MAIN_LOOP,
        started_monotonic_s=0.0,
    )


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.jsonl"))


async def test_rows_are_stored_soon_and_the_journal_is_gone_at_the_end(tmp_path: Path) -> None:
    store = MemoryLedgerStore()
    book = book_in(tmp_path / "j", CATALOG, store)
    await book.start()
    account = book.open(action(1), ACME, None)
    (file,) = files(tmp_path / "j")
    assert file.stat().st_mode & 0o077 == 0
    assert b"act_1" in file.read_bytes()
    for part in (STARTED, HEAD, b"x", TAIL):
        account.saw(part)
    (row,) = await store.wait_for(1)
    assert (row.action_id, row.outcome, row.key_id) == ("act_1", "served", "key-1")
    assert account.bill is not None
    assert account.bill.cost.micros == row.cost_micros
    await book.aclose()
    assert files(tmp_path / "j") == []


@pytest.mark.spec("OPS-75", "OPS-73")
@pytest.mark.spec("OPS-98")
async def test_an_open_account_keeps_its_prices_when_the_catalog_changes(tmp_path: Path) -> None:
    store = MemoryLedgerStore()
    book = book_in(tmp_path / "j", CATALOG, store)
    await book.start()
    early = book.open(action(1), ACME, None)
    book.use(build_catalog([]))
    late = book.open(action(2), ACME, None)
    for account in (early, late):
        for part in (STARTED, HEAD, b"x", TAIL):
            account.saw(part)
    first, second = sorted(await store.wait_for(2), key=lambda row: row.action_id)
    assert first.cost_micros is not None
    assert second.cost_micros is None
    await book.aclose()


async def test_while_the_store_is_down_rows_wait_and_survive_a_restart(tmp_path: Path) -> None:
    store = MemoryLedgerStore()
    store.is_down = True
    book = book_in(tmp_path, CATALOG, store)
    await book.start()
    for number in range(3):
        account = book.open(action(number), ACME, None)
        account.saw(STARTED)
        account.saw(TAIL)
    await book.aclose()
    assert files(tmp_path)
    store.is_down = False
    again = book_in(tmp_path, CATALOG, store)
    await again.start()
    assert {row.action_id for row in await store.wait_for(3)} == {"act_0", "act_1", "act_2"}
    await again.aclose()
    assert files(tmp_path) == []
    assert (await verify(store)).drifts == ()


@pytest.mark.spec("OPS-75")
async def test_a_journal_that_is_full_lets_no_action_begin(tmp_path: Path) -> None:
    book = book_in(tmp_path, CATALOG, MemoryLedgerStore(), max_bytes=100)
    await book.start()
    book.open(action(1), ACME, None).close()
    with pytest.raises(RouterError) as caught:
        book.open(action(2), ACME, None)
    assert caught.value.reason is Reason.STORE_UNAVAILABLE
    assert caught.value.trait.http_status == 503
    await book.aclose()


def test_files_are_rotated_and_deleted_oldest_first(tmp_path: Path) -> None:
    journal = Journal(tmp_path, max_bytes=1 << 20, segment_bytes=200)
    journal.start()
    first = journal.open(b"a" * 150 + b"\n")
    journal.append(b"b" * 150 + b"\n")
    second = journal.open(b"c" * 150 + b"\n")
    assert first is not second
    assert len(files(tmp_path)) == 2
    second.open_actions -= 1
    journal.sweep()
    assert len(files(tmp_path)) == 2
    first.open_actions -= 1
    first.unstored_rows += 1
    journal.sweep()
    assert len(files(tmp_path)) == 2
    first.unstored_rows -= 1
    journal.sweep()
    assert [path.name for path in files(tmp_path)] == ["00000002.jsonl"]
    journal.close()
    assert files(tmp_path) == []


def test_two_gateways_share_a_folder_and_take_nothing_of_each_other(tmp_path: Path) -> None:
    one, other = (Journal(tmp_path, max_bytes=1 << 20) for _ in range(2))
    assert one.start() == ()
    one.open(b"x\n")
    assert other.start() == ()
    one.close()
    third = Journal(tmp_path, max_bytes=1 << 20)
    (claimed,) = third.start()
    assert list(claimed.lines()) == [b"x\n"]
    claimed.remove()
    third.close()
    other.close()


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="ledger_journal"):
        Journal(tmp_path / "file" / "j", max_bytes=1).start()


WRITER = """
import os, sys
from pathlib import Path
from gateway.ledger.journal import Journal
journal = Journal(Path(sys.argv[1]), max_bytes=1 << 20)
journal.start()
for line in sys.stdin.buffer:
    journal.open(line)
print("written", flush=True)
sys.stdin.close()
import time
time.sleep(60)
"""


def write_and_die(folder: Path, lines: bytes) -> None:
    """Write lines in a process of its own, which is killed then."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines)
        process.stdin.close()
        assert process.stdout.readline() == b"written\n"
        process.send_signal(signal.SIGKILL)
        process.wait()


@pytest.mark.spec("OPS-58", "OPS-74")
@pytest.mark.parametrize("length", range(1, len(STORY) + 1))
async def test_what_was_written_outlives_a_kill(tmp_path: Path, length: int) -> None:
    lines = b"".join(map(line_of, STORY[:length]))
    write_and_die(tmp_path, lines)
    store = MemoryLedgerStore()
    for _ in range(2):
        book = book_in(tmp_path, CATALOG, store)
        await book.start()
        await store.wait_for(1)
        await book.aclose()
        assert files(tmp_path) == []
    stored = tuple(store.stored.values())
    assert len(stored) == (1 if length <= 3 else 2)
    assert len({row.key for row in stored}) == len(stored)


@pytest.mark.spec("OPS-74")
async def test_a_death_between_the_store_and_the_journal_counts_once(tmp_path: Path) -> None:
    store = MemoryLedgerStore()
    book = book_in(tmp_path, CATALOG, store)
    await book.start()
    account = book.open(action(1), ACME, None)
    account.saw(STARTED)
    account.saw(HEAD)
    copy = tmp_path / "copy" / "dead"
    copy.mkdir(parents=True)
    account.saw(TAIL)
    await store.wait_for(1)
    for file in files(tmp_path):
        (copy / file.name).write_bytes(file.read_bytes())
    before = dict(store.counters)
    await book.aclose()
    again = book_in(tmp_path / "copy", CATALOG, store)
    await again.start()
    await again.aclose()
    assert store.counters == before
    assert len(store.stored) == 1
    assert not copy.exists()


async def test_operators_read_the_ledger_page_by_page(stack: Stack) -> None:
    made = [replace(row, action_id=f"act_{number}") for number in range(5) for row in ROWS]
    await stack.ledger.add(made)
    path, found = "/admin/v1/ledger?limit=2", list[dict[str, object]]()
    admin = {"authorization": f"Bearer {ADMIN}"}
    cursor: str | None = ""
    while cursor is not None:
        async with stack.session.get(f"{path}&cursor={cursor}", headers=admin) as got:
            assert got.status == 200
            page = await got.json()
            found += page["entries"]
            cursor = page["next_cursor"]
    assert [entry["request_id"] for entry in found] == [f"act_{number}" for number in range(5)]
    assert found[0]["cost_micros"] == ROWS[0].cost_micros
    assert found[0]["cache_write_5m_tokens"] == 40


@pytest.mark.parametrize(
    ("query", "headers", "status"),
    [
        ("", {}, 401),
        ("", {"authorization": "Bearer wrong"}, 401),
        ("", {"authorization": "Bearer \u00e9"}, 401),
        ("?cursor=%21", {"authorization": f"Bearer {ADMIN}"}, 400),
        ("?limit=0", {"authorization": f"Bearer {ADMIN}"}, 400),
    ],
)
async def test_nobody_else_reads_it(
    stack: Stack, query: str, headers: dict[str, str], status: int
) -> None:
    async with stack.session.get(f"/admin/v1/ledger{query}", headers=headers) as got:
        assert got.status == status
        assert (await got.json())["error"]["message"]


async def test_without_an_admin_token_the_admin_api_is_closed(tmp_path: Path) -> None:
    closed = Stack(tmp_path)
    closed.settings = closed.settings.model_copy(update={"admin_token": SecretStr("")})
    await closed.start()
    try:
        admin = {"authorization": "Bearer "}
        async with closed.session.get("/admin/v1/ledger", headers=admin) as got:
            assert got.status == 503
            assert "admin_token" in (await got.json())["error"]["message"]
    finally:
        await closed.aclose()


@pytest.mark.spec("DSP-244")
async def test_a_whole_answer_says_what_it_cost(stack: Stack) -> None:
    answer = (
        b'{"id":"msg_1","type":"message","role":"assistant","model":"claude-large","content":[],'
        b'"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":7,'
        b'"output_tokens":3}}'
    )
    usage = replace(USAGE, fresh_input=7, cache_read=100, cache_write=0, output=3)
    done = replace(tail(), usage=usage)
    start = AttemptStarted(1, "acme", "claude-large")
    stack.dispatch.steps = [start, head(WireFamily.ANTHROPIC, is_stream=False), answer, done]
    async with stack.session.post("/v1/messages", json=BODY) as got:
        shown = {
            name.lower().removeprefix("x-router-"): value
            for name, value in got.headers.items()
            if "cost" in name.lower() or "-tokens" in name.lower()
        }
    assert shown == {
        "cost-usd": "0.000216",
        "cost-input-usd": "0.000171",
        "cost-output-usd": "0.000045",
        "cache-read-tokens": "100",
        "cache-creation-tokens": "0",
    }
    (row,) = await stack.ledger.wait_for(1)
    assert (row.cost_micros, row.charged_micros, row.outcome) == (216, 216, "served")


@pytest.mark.spec("OPS-58", "DSP-192", "DSP-193")
async def test_a_client_that_leaves_mid_stream_is_charged(stack: Stack) -> None:
    start = AttemptStarted(1, "acme", "claude-large")
    stack.dispatch.steps = [start, head(WireFamily.ANTHROPIC), CHUNK, CHUNK, 30.0]
    async with stack.session.post("/v1/messages", json={**BODY, "stream": True}) as got:
        await got.content.readany()
    (row,) = await stack.ledger.wait_for(1)
    assert (row.outcome, row.source) == ("aborted", "estimated")
    assert row.output_tokens == 4
    assert row.charged_micros == row.cost_micros
    assert row.charged_micros > 0


@pytest.mark.spec("OPS-58", "DSP-235")
async def test_an_action_that_nobody_served_is_charged_nothing(stack: Stack) -> None:
    spent = record(AttemptOutcome.FAILED, usage=USAGE, failure="stall")
    none = replace(spent, number=2, usage=None)
    stack.dispatch.steps = [
        AttemptStarted(1, "acme", "claude-large"),
        AttemptFailed("acme", FailureClass.STALL, spent),
        AttemptStarted(2, "globex", "claude-large"),
        AttemptFailed("globex", FailureClass.TRANSPORT, none),
        Failed(FailureClass.TRANSPORT, attempts=(spent, none), attempt_count=2),
    ]
    async with stack.session.post("/v1/messages", json=BODY) as got:
        assert got.status == 502
        assert "x-router-cost-usd" not in got.headers
    settled = await stack.ledger.wait_for(2)
    assert [(row.attempt, row.outcome, row.charged_micros) for row in settled] == [
        (1, "failed_with_usage", 0),
        (2, "failed_no_usage", 0),
    ]


async def test_a_request_that_is_refused_opens_nothing(stack: Stack) -> None:
    async with stack.session.post("/v1/messages", json={**BODY, "model": "nobody"}) as got:
        assert got.status == 404
    await asyncio.sleep(0.3)
    assert stack.ledger.stored == {}
