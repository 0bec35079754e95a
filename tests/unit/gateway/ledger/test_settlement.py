"""Who is charged what, from records of attempts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.ledger.settlement import measured, recomputed, settlement_of
from gateway.model import BindingRef
from gateway.model.record import AttemptOutcome, AttemptRecord, Attribution, UsageSource
from services.domain.wire.model import Usage
from tests.unit.gateway.ledger.cases import (
    ACME,
    CATALOG,
    COST_MICROS,
    GLOBEX,
    OPENING,
    USAGE,
    record,
    rows,
)

O = AttemptOutcome  # noqa: E741 - read in tables

REFUSED = record(O.FAILED, 1, usage=USAGE, failure="cyber_refusal")


@pytest.mark.spec("OPS-53", "OPS-58", "DSP-235")
@pytest.mark.parametrize(
    ("given_", "outcome", "source", "cost", "charged"),
    [
        (record(O.SERVED, usage=USAGE), "served", "reported", COST_MICROS, COST_MICROS),
        (record(O.FAILED), "failed_no_usage", "", 0, 0),
        (record(O.FAILED, usage=USAGE), "failed_with_usage", "reported", COST_MICROS, 0),
        (record(O.ABORTED), "aborted", "estimated", 1000, 0),
        (
            record(O.ABORTED, has_output=True, output_chars=41),
            "aborted",
            "estimated",
            1000 + 110,
            1000 + 110,
        ),
        (
            record(O.BROKEN, usage=USAGE, source=UsageSource.PARTIAL),
            "broken",
            "partial",
            COST_MICROS,
            COST_MICROS,
        ),
        (record(O.SERVED, usage=USAGE, binding=GLOBEX), "served", "reported", 1400, 1400),
    ],
)
def test_each_outcome_costs_and_charges(
    given_: AttemptRecord, outcome: str, source: str, cost: int, charged: int
) -> None:
    (row,) = rows(given_)
    assert (row.outcome, row.source) == (outcome, source)
    assert (row.cost_micros, row.charged_micros) == (cost, charged)


@pytest.mark.spec("OPS-58")
def test_what_passed_is_a_floor_under_counts_of_an_answer_that_broke_off() -> None:
    placeholder = record(
        O.ABORTED,
        has_output=True,
        usage=Usage(fresh_input=100, output=1),
        source=UsageSource.PARTIAL,
        output_chars=400,
    )
    (row,) = rows(placeholder)
    assert (row.fresh_input_tokens, row.output_tokens, row.source) == (100, 100, "estimated")
    (told,) = rows(replace(placeholder, usage=Usage(fresh_input=100, output=150)))
    assert (told.output_tokens, told.source) == (150, "partial")
    (served,) = rows(replace(placeholder, outcome=O.SERVED, source=UsageSource.REPORTED))
    assert (served.output_tokens, served.source) == (1, "reported")


@pytest.mark.spec("OPS-57")
def test_both_halves_of_a_cyber_refusal_are_charged_and_a_lone_refusal_is_not() -> None:
    rescue = record(O.SERVED, 2, usage=USAGE, binding=GLOBEX, cause="cyber_refusal")
    assert [row.charged_micros for row in rows(REFUSED, rescue)] == [COST_MICROS, 2 * COST_MICROS]
    sibling = replace(rescue, cause="sibling")
    assert [row.charged_micros for row in rows(REFUSED, sibling)] == [0, 2 * COST_MICROS]
    assert [row.charged_micros for row in rows(REFUSED)] == [0]


@pytest.mark.spec("OPS-54", "DSP-233")
@pytest.mark.parametrize(
    "payer",
    [
        Attribution("f", "claude_oauth", "operator", is_subscription_served=True),
        Attribution("f", "api_key", "caller"),
        Attribution("f", "gateway", "tenant"),
    ],
)
def test_what_somebody_else_pays_is_recorded_and_not_charged(payer: Attribution) -> None:
    (row,) = rows(record(O.SERVED, usage=USAGE, attribution=payer))
    assert (row.cost_micros, row.charged_micros) == (COST_MICROS, 0)
    assert (row.fingerprint, row.credential_kind) == ("f", payer.kind)


@pytest.mark.spec("OPS-59")
def test_an_unknown_price_is_no_price_and_not_nothing() -> None:
    stranger = BindingRef("unknown", "acme", "x", 0)
    (row,) = rows(record(O.SERVED, usage=USAGE, binding=stranger))
    assert (row.cost_micros, row.charged_micros, row.input_rate) == (None, 0, None)
    assert recomputed(row) == (None, 0)


def test_what_was_not_sent_has_no_row() -> None:
    assert rows(record(O.SKIPPED)) == ()


def test_counts_beyond_belief_are_bounded() -> None:
    (row,) = rows(record(O.SERVED, usage=Usage(fresh_input=10**30, cache_read=-5, output=10**20)))
    assert row.fresh_input_tokens == row.output_tokens == 2**31 - 1
    assert row.cache_read_tokens == 0
    assert row.cost_micros is not None
    assert row.cost_micros < 2**63


@pytest.mark.parametrize("end", [O.SERVED, O.BROKEN])
def test_the_bill_is_of_the_attempt_that_answered(end: AttemptOutcome) -> None:
    failed = record(O.FAILED, usage=USAGE)
    answered = record(end, 2, usage=USAGE, binding=GLOBEX, attribution=Attribution("f", "k", "x"))
    made, bill = settlement_of(OPENING, (record(O.SKIPPED, 3), failed, answered), CATALOG, 0.0)
    assert bill is not None
    assert (bill.usage, bill.cost.micros) == (USAGE, made[1].cost_micros) == (USAGE, 1400)
    assert settlement_of(OPENING, (failed, record(O.ABORTED, 2)), CATALOG, 0.0)[1] is None


outcomes = st.sampled_from(list(AttemptOutcome))
counts = st.integers(0, 10**7)
records = st.builds(
    AttemptRecord,
    st.just(1),
    st.sampled_from([ACME, GLOBEX]),
    outcomes,
    st.builds(
        Attribution,
        owner=st.sampled_from(["operator", "tenant", "caller"]),
        is_subscription_served=st.booleans(),
    ),
    usage=st.none() | st.builds(Usage, fresh_input=counts, output=counts),
    source=st.sampled_from(list(UsageSource)),
    has_output=st.booleans(),
    output_chars=counts,
    cause=st.sampled_from(["first", "cyber_refusal"]),
    failure=st.sampled_from(["", "cyber_refusal", "stall"]),
)


@given(st.lists(records, max_size=5))
def test_every_row_follows_from_itself_and_none_charges_more_than_it_costs(
    found: list[AttemptRecord],
) -> None:
    numbered = [replace(each, number=number) for number, each in enumerate(found, start=1)]
    made = rows(*numbered)
    sent = [each.number for each in numbered if each.outcome is not O.SKIPPED]
    assert [row.attempt for row in made] == sent
    for row in made:
        assert recomputed(row) == (row.cost_micros, row.charged_micros)
        assert row.charged_micros in (0, row.cost_micros)


@given(records)
def test_an_answer_that_ended_or_was_left_is_never_held_to_have_used_nothing(
    each: AttemptRecord,
) -> None:
    usage = measured(each, OPENING.estimated_input_tokens).usage
    if each.outcome in (O.SERVED, O.BROKEN, O.ABORTED):
        assert usage is not None
    if each.outcome is O.FAILED:
        assert (usage is None) == (each.usage is None)
