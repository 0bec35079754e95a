"""The audit on the command line: silent when all fits, exit 1 and names when it does not."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest

from gateway.adapters.ledger import SqlLedgerStore
from gateway.model.record import AttemptOutcome
from tests.integration.cli.pointsman import pointsman
from tests.unit.gateway.ledger.cases import COST_MICROS, USAGE, record, rows


async def _fill(url: str) -> None:
    store = SqlLedgerStore(url)
    await store.start()
    await store.add(rows(record(AttemptOutcome.SERVED, usage=USAGE)))
    await store.aclose()


@pytest.mark.spec("OPS-68")
def test_drift_ends_with_1_and_names_what_drifted(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "pointsman.toml").write_text(f'[gateway]\ndatabase = "sqlite:///{home}/g.db"\n')
    asyncio.run(_fill(f"sqlite:///{home}/g.db"))
    clean = pointsman(home, "ledger", "verify", "--json")
    assert clean.code == 0, clean.err
    assert json.loads(clean.out) == {
        "row_count": 1,
        "charged_micros": COST_MICROS,
        "drifts": [],
    }
    database = sqlite3.connect(home / "g.db")
    with database:
        database.execute("UPDATE key_spend SET spent_micros = spent_micros + 1")
        database.execute("UPDATE ledger SET charged_micros = 0")
    database.close()
    drifted = pointsman(home, "ledger", "verify")
    assert drifted.code == 1
    assert "row act_1/1: charged_micros is 0" in drifted.out
    assert "key key-1: spent_micros is" in drifted.out
