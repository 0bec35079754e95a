"""Histories that their clients cut: summarised off Anthropic, where every switch is too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest

from gateway.deciding.kinds import Rules
from gateway.eligibility import Policy
from gateway.model.decision import Strategy, SummaryAnswer, SummaryMode
from services.domain.catalog import build_catalog
from tests.integration.gateway.test_compaction import SHORT, paid
from tests.integration.gateway.test_deciding import BIG, SMALL, Routed, _row, _turns

ALWAYS = Rules(strategy=Strategy.CLUSTER, summary_mode=SummaryMode.ALWAYS, compaction_model=SMALL)
KEPT = b"a summary to use again"


async def _cut(routed: Routed) -> None:
    """Let the client send a long history, and then one that it cut."""
    assert (await routed.ask(_turns(6)))[0] == 200
    assert routed.handover.asked == []
    assert (await routed.ask(_turns(1)))[0] == 200


@pytest.fixture
async def routed(tmp_path: Path) -> AsyncIterator[Routed]:
    running = Routed(tmp_path / "ledger", ALWAYS)
    await running.stack.start()
    yield running
    await running.stack.aclose()


@pytest.mark.spec("HND-30", "HND-31", "HND-120")
async def test_what_is_left_of_a_cut_history_is_summarised_and_accounted(routed: Routed) -> None:
    routed.handover.answer = SummaryAnswer("summarized", orjson.dumps(SHORT), KEPT, (paid(),))
    await _cut(routed)
    (question,) = routed.handover.asked
    assert question.is_of_trim
    assert [writer.model_id for writer in question.summarizers] == [SMALL]
    assert routed.order_body() == SHORT
    for _ in range(100):
        rows = [row for row in routed.stack.ledger.stored.values() if row.kind != "serve"]
        if rows:
            break
        await asyncio.sleep(0.01)
    (row,) = rows
    assert row.kind == "trim_summary"
    assert row.request_id.endswith("_compaction_summary")


@pytest.mark.spec("HND-31")
async def test_without_a_summary_the_clients_own_history_goes_on(routed: Routed) -> None:
    routed.handover.answer = SummaryAnswer("timeout")
    await _cut(routed)
    assert len(routed.handover.asked) == 1
    sent = routed.order_body()
    assert isinstance(sent, dict)
    assert sent["messages"] == _turns(1)


@pytest.mark.spec("HND-30")
@pytest.mark.parametrize("mode", [SummaryMode.PLANNED, SummaryMode.NEVER])
async def test_where_not_every_switch_is_summarised_neither_is_a_cut(
    tmp_path: Path, mode: SummaryMode
) -> None:
    routed = Routed(tmp_path / "ledger", Rules(strategy=Strategy.CLUSTER, summary_mode=mode))
    await routed.stack.start()
    await _cut(routed)
    assert routed.handover.asked == []
    await routed.stack.aclose()


@pytest.mark.spec("HND-30")
async def test_at_anthropic_a_cut_history_stays_as_it_is(tmp_path: Path) -> None:
    row = {**_row(BIG, "top", 5.0)}
    row["bindings"] = [
        {"provider": "anthropic", "input_usd_per_mtok": 5.0, "output_usd_per_mtok": 25.0}
    ]
    routed = Routed(
        tmp_path / "ledger",
        ALWAYS,
        catalog=build_catalog([{"models": [row, _row(SMALL, "mid", 1.0)]}]),
    )
    routed.stack.credentials.snapshot = None
    routed.stack.policy = Policy("cfg", ("anthropic", "acme"))
    await routed.stack.start()
    await _cut(routed)
    assert routed.dispatch.served == [BIG, BIG]
    assert routed.handover.asked == []
    await routed.stack.aclose()
