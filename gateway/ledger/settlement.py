"""From what is known of attempts to the rows of the ledger. Pure.

Charged are attempts that served, that broke or were left after their first output, and both halves
of a cyber-refusal pair. Every other attempt is recorded and charged nothing, and so is one that a
plan, the caller or the tenant pays. Tokens that nobody reported are estimated and marked so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.attempt import RescueCause
from gateway.model.record import (
    AttemptOutcome,
    AttemptRecord,
    Bill,
    LedgerRow,
    Opening,
    UsageSource,
)
from services.domain.copying import replace
from services.domain.pricing import (
    Cost,
    Rates,
    cost_at,
    price_of,
    prompt_tokens,
    rates_of,
)
from services.domain.vocab import FailureClass
from services.domain.wire.model import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.domain.catalog import Catalog

CHARS_PER_TOKEN = 4
MOST_TOKENS = 2**31 - 1
"""Largest count that is believed."""
MOST_MICROS = 2**62
FIRST_CAUSE = "first"
"""Why the first attempt of a walk is made, in dispatch's words."""
_ANSWERED = frozenset({AttemptOutcome.SERVED, AttemptOutcome.BROKEN})
_NOTHING = Usage()
_CONSUMED = frozenset({AttemptOutcome.SERVED, AttemptOutcome.BROKEN, AttemptOutcome.ABORTED})


def rows_of(
    opening: Opening, records: Iterable[AttemptRecord], catalog: Catalog, now_unix_s: float
) -> tuple[LedgerRow, ...]:
    """Return one row for each attempt that was sent, as far as anybody knows."""
    return settlement_of(opening, records, catalog, now_unix_s)[0]


def settlement_of(
    opening: Opening, records: Iterable[AttemptRecord], catalog: Catalog, now_unix_s: float
) -> tuple[tuple[LedgerRow, ...], Bill | None]:
    """Return the rows of an action, and what its first attempt that answered costs."""
    walk = tuple(records)
    rows: list[LedgerRow] = []
    bill: Bill | None = None
    for record in walk:
        if record.outcome is AttemptOutcome.SKIPPED:
            continue
        row, cost = _row(opening, record, catalog, now_unix_s, walk)
        rows.append(row)
        if bill is None and cost is not None and record.outcome in _ANSWERED:
            bill = Bill(usage_of(row), cost)
    return tuple(rows), bill


def unknown_attempt(opening: Opening) -> AttemptRecord:
    """Return the record of a first attempt of which nothing was ever told."""
    return AttemptRecord(
        1, opening.binding, AttemptOutcome.ABORTED, opening.attribution, cause=FIRST_CAUSE
    )


def measured(record: AttemptRecord, estimated_input_tokens: int) -> AttemptRecord:
    """Return a record with the tokens that it is held to have used.

    Counts of an answer that broke off may be placeholders: its output is at least what passed.
    """
    if record.usage is not None and record.source is UsageSource.REPORTED:
        return record
    passed = -(-record.output_chars // CHARS_PER_TOKEN)
    if record.usage is None:
        if record.outcome not in _CONSUMED:
            return record
        estimate = Usage(fresh_input=estimated_input_tokens, output=passed)
        return replace(record, usage=estimate, source=UsageSource.ESTIMATED)
    if record.usage.output >= passed:
        return record
    longer = replace(record.usage, output=passed)
    return replace(record, usage=longer, source=UsageSource.ESTIMATED)


def is_charged(record: AttemptRecord, walk: Iterable[AttemptRecord]) -> bool:
    """Return whether the price of an attempt is charged to its key."""
    payer = record.attribution
    if payer.is_subscription_served or payer.owner != "operator":
        return False
    match record.outcome:
        case AttemptOutcome.SERVED | AttemptOutcome.BROKEN:
            return True
        case AttemptOutcome.ABORTED:
            return record.has_output
        case AttemptOutcome.FAILED:
            is_refusal = record.failure == FailureClass.CYBER_REFUSAL.value
            return is_refusal and any(other.cause == RescueCause.CYBER_REFUSAL for other in walk)
        case _:
            return False


def usage_of(row: LedgerRow) -> Usage:
    """Return the tokens of a row."""
    return Usage(
        fresh_input=row.fresh_input_tokens,
        cache_read=row.cache_read_tokens,
        cache_write=row.cache_write_tokens,
        cache_write_1h=row.cache_write_1h_tokens,
        output=row.output_tokens,
        reasoning=row.reasoning_tokens,
    )


def rates_in(row: LedgerRow) -> Rates | None:
    """Return the rates that a row was priced at; None: its price was not known."""
    parts = (
        row.input_rate,
        row.output_rate,
        row.read_millionths,
        row.write_millionths,
        row.write_1h_millionths,
    )
    given = [part for part in parts if part is not None]
    return Rates(*given) if len(given) == len(parts) else None


def recomputed(row: LedgerRow) -> tuple[int | None, int]:
    """Return what a row should cost and charge, from its own tokens and rates."""
    rates = rates_in(row)
    micros = _bounded_micros(cost_at(usage_of(row), rates) if rates is not None else None)
    return micros, (micros or 0) if row.is_charged else 0


def _row(
    opening: Opening,
    record: AttemptRecord,
    catalog: Catalog,
    now_unix_s: float,
    walk: tuple[AttemptRecord, ...],
) -> tuple[LedgerRow, Cost | None]:
    record = measured(record, opening.estimated_input_tokens)
    usage = _believed(record.usage or _NOTHING)
    binding, payer = record.binding, record.attribution
    price = price_of(catalog, binding.model_id, binding.provider, binding.index)
    rates = (
        rates_of(price, prompt_tokens(usage), is_fast=record.is_fast_tier)
        if price is not None
        else None
    )
    cost = cost_at(usage, rates) if rates is not None else None
    micros = _bounded_micros(cost)
    charges = is_charged(record, walk)
    row = LedgerRow(
        action_id=opening.action_id,
        attempt=record.number,
        kind=opening.kind.value,
        installation_id=opening.installation_id,
        key_id=opening.key_id,
        client_request_id=opening.client_request_id,
        surface=opening.surface,
        requested_model=opening.requested_model,
        model=binding.model_id,
        provider=binding.provider,
        outcome=_outcome(record),
        source=record.source.value if record.usage is not None else "",
        fresh_input_tokens=usage.fresh_input,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        cache_write_1h_tokens=usage.cache_write_1h,
        output_tokens=usage.output,
        reasoning_tokens=usage.reasoning,
        input_rate=rates.input_micros_per_mtok if rates else None,
        output_rate=rates.output_micros_per_mtok if rates else None,
        read_millionths=rates.read_millionths if rates else None,
        write_millionths=rates.write_millionths if rates else None,
        write_1h_millionths=rates.write_1h_millionths if rates else None,
        cost_micros=micros,
        is_charged=charges,
        charged_micros=(micros or 0) if charges else 0,
        fingerprint=payer.fingerprint,
        credential_kind=payer.kind,
        credential_owner=payer.owner,
        is_subscription_served=payer.is_subscription_served,
        is_fast_tier=record.is_fast_tier,
        cause=record.cause,
        failure=record.failure,
        http_status=record.http_status,
        opened_unix_s=opening.opened_unix_s,
        settled_unix_s=now_unix_s,
    )
    return row, cost


def _bounded_micros(cost: Cost | None) -> int | None:
    return None if cost is None else min(cost.micros, MOST_MICROS)


def _outcome(record: AttemptRecord) -> str:
    if record.outcome is AttemptOutcome.FAILED:
        return "failed_no_usage" if record.usage is None else "failed_with_usage"
    return record.outcome.value


def _believed(usage: Usage) -> Usage:
    """Return counts within what a prompt or an answer can have."""
    fresh, read, written, written_1h = (
        usage.fresh_input,
        usage.cache_read,
        usage.cache_write,
        usage.cache_write_1h,
    )
    counts = (fresh, read or 0, written or 0, written_1h, usage.output, usage.reasoning)
    if min(counts) >= 0 and max(counts) <= MOST_TOKENS:
        return usage
    return Usage(
        fresh_input=_bounded(fresh),
        cache_read=None if read is None else _bounded(read),
        cache_write=None if written is None else _bounded(written),
        cache_write_1h=_bounded(written_1h),
        output=_bounded(usage.output),
        reasoning=_bounded(usage.reasoning),
    )


def _bounded(count: int) -> int:
    return min(max(0, count), MOST_TOKENS)
