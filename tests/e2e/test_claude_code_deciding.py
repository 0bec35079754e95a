"""The real Claude Code under the strategy `cluster`, on two models of the sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gateway.adapters.ledger import SqlLedgerStore
from gateway.model.record import LedgerRow
from tests.e2e import deployments
from tests.e2e.deployments import Deployment
from tests.e2e.desks import ClaudeCode, Desk, desk_in, needs
from tests.e2e.test_ledger import audited

PROGRAM = ClaudeCode()
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), needs(PROGRAM)]

DEAR, CHEAP = "dear", "cheap"
HARD = "Prove that every finite integral domain is a field, and explain each step."
LINES = "\n".join(f"{number} The log goes on and on, line after line." for number in range(1_200))
"""What a tool reads: about 15,000 tokens."""
PASTED = "The log goes on. " * 7_000
"""What a person pastes: about 30,000 tokens, of which nobody has a cache."""

TABLES = f"""
[routing]
strategy = "cluster"
excluded_models = ["sandbox-large", "sandbox-small"]
summarizer_model = "{CHEAP}"
[services.scorer]
risk_price_usd = 1.6
[services.planner]
risk_price_usd = 1.6
"""


def _model(name: str, tier: str, skill: float, usd: float, upstream: str) -> str:
    return f"""
[[models]]
id = "{name}"
tier = "{tier}"
skill = {skill}
context_window = 200000
[[models.bindings]]
provider = "sandbox"
upstream_id = "{upstream}"
input_usd_per_mtok = {usd}
output_usd_per_mtok = {usd}
cache_read_multiplier = 0.1
cache_write_multiplier = 1.25
"""


MODELS = _model(DEAR, "top", 0.95, 10.0, "sandbox-large") + _model(
    CHEAP, "mid", 0.5, 0.5, "sandbox-small"
)
"""A hard question is worth the dear model, a long pasted text is not."""

TITLE = {"type": "object", "properties": {"title": {"type": "string"}}}
NOBODYS: Sequence[Mapping[str, object]] = (
    {"max_tokens": 1},
    {"max_tokens": 500, "output_config": {"format": {"type": "json_schema", "schema": TITLE}}},
)
"""A probe and a title, as they come before a conversation."""
SESSION = "5f0d2a51-6a1e-4c55-9f5e-0d6a7d0c1b11"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = desk_in(tmp_path, PROGRAM)
    made.note.write_text(LINES)
    return made


async def test_it_is_scored_stays_through_tools_and_switches_with_a_summary(
    home: Path, desk: Desk
) -> None:
    async with deployments.sandboxed(home, TABLES, MODELS) as gateway:
        assert await _nobodys(gateway) == ["hard_pin_probe", "hard_pin_title_gen"]
        first = await desk.run(
            gateway, DEAR, "-p", "--session-id", SESSION, f"sandbox: say Proved.\n{HARD}"
        )
        assert "Proved." in first
        order = f'sandbox: call Read {{"file_path": "{desk.note}"}}'
        assert "The tool answered with" in await desk.run(gateway, DEAR, "-p", "--continue", order)
        for said in (f"{PASTED}\nsandbox: say Pasted.", "sandbox: say Welcome."):
            await desk.run(gateway, DEAR, "-p", "--continue", said)
    actions = [line.fields for line in gateway.lines if line.has(event="action")]
    assert {action["status"] for action in actions} == {200}
    probe, title, *conversation = actions
    assert (probe["path"], title["path"]) == ("hard_pin", "hard_pin")
    assert [(action["turn_type"], action["path"], action["model"]) for action in conversation] == [
        ("main_loop", "scored", DEAR),
        ("main_loop", "stay", DEAR),
        ("tool_result", "stay", DEAR),
        ("main_loop", "switch", CHEAP),
        ("main_loop", "stay", CHEAP),
    ]
    assert len({action["session_hash"] for action in conversation}) == 1
    _, _, before, switched, after = (_prompt_tokens(action) for action in conversation)
    # The summary stands for what the tool read, and it does so again.
    assert switched < before + len(PASTED) // 4 - 10_000
    assert after < switched + 1_000
    assert _tokens(conversation[-1], "cache_read_tokens") >= switched - 1_000
    await _accounted(home, len(actions))


async def _accounted(home: Path, action_count: int) -> None:
    """Check that each action has one row, the summary too, and that all of it adds up."""
    rows = await _rows(home)
    kinds = [row.kind for row in rows]
    assert kinds.count("switch_summary") == 1
    assert len(rows) == action_count + 1
    assert len({row.key for row in rows}) == len(rows)
    assert {row.source for row in rows} == {"reported"}
    (summary,) = (row for row in rows if row.kind == "switch_summary")
    assert summary.model == CHEAP
    assert summary.charged_micros > 0
    audit = await audited(home)
    assert audit["row_count"] == len(rows)
    assert audit["charged_micros"] == sum(row.charged_micros for row in rows)


async def _nobodys(gateway: Deployment) -> list[str]:
    """Ask what a client asks before its session begins; returns the decisions."""
    decided = []
    async with gateway.client(**{"x-claude-code-session-id": SESSION}) as client:
        for members in NOBODYS:
            body = {"model": DEAR, "messages": [{"role": "user", "content": HARD}], **members}
            answer = await client.post("/v1/messages", json=body)
            decided.append(answer.headers["x-router-decision"])
    return decided


async def _rows(home: Path) -> list[LedgerRow]:
    store = SqlLedgerStore(f"sqlite:///{home}/.pointsman/pointsman.db")
    try:
        return [row for _, row in await store.page(0, 1000)]
    finally:
        await store.aclose()


def _prompt_tokens(action: Mapping[str, object]) -> int:
    kinds = ("input_tokens", "cache_read_tokens", "cache_write_tokens")
    return sum(_tokens(action, kind) for kind in kinds)


def _tokens(action: Mapping[str, object], kind: str) -> int:
    count = action[kind]
    assert isinstance(count, int)
    return count
