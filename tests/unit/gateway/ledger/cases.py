"""Small values that the tests of the ledger start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gateway.ledger.settlement import rows_of
from gateway.ledger.ticket import Ticket
from gateway.model import BindingRef
from gateway.model.record import (
    AttemptKind,
    AttemptOutcome,
    AttemptRecord,
    Bill,
    LedgerRow,
    Opening,
)
from services.domain.catalog import build_catalog
from services.domain.wire.model import Usage
from tests.fakes.clock import FakeClock

CATALOG = build_catalog(
    [
        {
            "models": [
                {
                    "id": "m",
                    "bindings": [
                        {
                            "provider": provider,
                            "input_usd_per_mtok": usd,
                            "output_usd_per_mtok": 5 * usd,
                            "cache_read_multiplier": 0.1,
                            "cache_write_multiplier": 1.25,
                        }
                        for provider, usd in (("acme", 2.0), ("globex", 4.0))
                    ],
                }
            ]
        }
    ]
)
ACME, GLOBEX = BindingRef("m", "acme", "m", 0), BindingRef("m", "globex", "m", 1)
USAGE = Usage(fresh_input=100, cache_read=1000, cache_write=40, output=20)
COST_MICROS = 200 + 200 + 100 + 200
"""What USAGE costs at acme."""
OPENING = Opening(
    action_id="act_1",
    kind=AttemptKind.SERVE,
    installation_id="inst",
    key_id="key-1",
    client_request_id="",
    surface="anthropic",
    requested_model="m",
    estimated_input_tokens=500,
    binding=ACME,
    opened_unix_s=1000.0,
)
NOW = 1001.0


def record(outcome: AttemptOutcome, number: int = 1, **changes: object) -> AttemptRecord:
    return replace(AttemptRecord(number, ACME, outcome), **changes)  # type: ignore[arg-type]  # facts by name


def rows(*records: AttemptRecord) -> tuple[LedgerRow, ...]:
    return rows_of(OPENING, records, CATALOG, NOW)


@dataclass
class Tap:
    usage: Usage | None = None
    output_chars: int = 0


@dataclass
class Sink:
    """Keeps what a ticket writes."""

    notes: list[AttemptRecord] = field(default_factory=list)
    settlements: list[tuple[AttemptRecord, ...]] = field(default_factory=list)

    def note(self, opening: Opening, record: AttemptRecord) -> None:
        assert opening is OPENING
        self.notes.append(record)

    def settle(self, opening: Opening, records: Sequence[AttemptRecord]) -> Bill | None:
        self.settlements.append(tuple(records))
        return None

    @property
    def rows(self) -> tuple[LedgerRow, ...]:
        """Return the rows of the one settlement."""
        (records,) = self.settlements
        return rows(*records)


def ticket(clock: FakeClock) -> tuple[Ticket, Sink]:
    sink = Sink()
    return Ticket(OPENING, sink, clock), sink
