"""What each key was charged is told beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.adapters.ledger import SqlLedgerStore
from gateway.adapters.store import SCHEMA, SCRIPTS, SqlKeyStore
from gateway.keys import key_of, new_token
from gateway.model import InstallationId
from gateway.model.record import AttemptOutcome
from gateway.office.keys import KeyDesk
from gateway.office.model import Order
from services.runtime.database import migrate
from tests.fakes.clock import FakeClock
from tests.unit.gateway.ledger.cases import COST_MICROS, USAGE, record, rows

(ROW,) = rows(record(AttemptOutcome.SERVED, usage=USAGE))


@pytest.mark.spec("OPS-66")
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_a_listed_key_says_what_it_was_charged(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock
) -> None:
    url = f"sqlite:///{tmp_path}/keys.db"
    if kind == "postgres":
        url = request.getfixturevalue("postgres_url")
        await migrate(url, SCRIPTS, SCHEMA)
    keys, ledger = SqlKeyStore(url, clock), SqlLedgerStore(url)
    await keys.start()
    await ledger.start()
    owner = await keys.default_installation()
    busy, idle = (
        key_of(new_token(), owner, name=name, now_unix_s=clock.now_unix_s())
        for name in ("busy", "idle")
    )
    for key in (busy, idle):
        await keys.add(key)
    await ledger.add([replace(ROW, key_id=busy.id), replace(ROW, action_id="b", key_id=busy.id)])
    listed = (await KeyDesk(keys, clock).all(Order()))["keys"]
    assert isinstance(listed, list)
    spent = {shown["name"]: shown["spent_micros"] for shown in listed}
    assert spent == {"busy": 2 * COST_MICROS, "idle": 0}
    assert await keys.spent(InstallationId("another")) == {}
    await ledger.aclose()
    await keys.aclose()
