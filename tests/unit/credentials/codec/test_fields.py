"""Every member of a closed set has one number on the wire, and back."""

from __future__ import annotations

import enum

import pytest
from google.protobuf import timestamp_pb2
from hypothesis import given
from hypothesis import strategies as st

from services.credentials.codec import fields
from services.domain.errors import InvalidRequestError

TABLES = [
    (name, value)
    for name, value in vars(fields).items()
    if name.isupper() and isinstance(value, dict) and not name.endswith("_OF")
]


@pytest.mark.parametrize(("name", "table"), TABLES)
def test_tables_are_complete_and_one_to_one(name: str, table: dict[enum.Enum, int]) -> None:
    members = type(next(iter(table)))
    assert set(table) == set(members), name
    assert len(set(table.values())) == len(table)
    assert 0 not in table.values()
    assert fields.inverse(table) == {number: one for one, number in table.items()}


@given(st.integers(-5, 10_000))
def test_a_number_is_a_member_or_a_complaint_that_names_the_field(number: int) -> None:
    if number in fields.KIND_OF:
        assert fields.KINDS[fields.member(fields.KIND_OF, number, "kind")] == number
    else:
        with pytest.raises(InvalidRequestError) as caught:
            fields.member(fields.KIND_OF, number, "kind")
        assert caught.value.metadata == {"field": "kind"}


@given(st.integers(0, 4_000_000_000_000_000))
def test_times_survive_the_wire_to_the_microsecond(micros: int) -> None:
    seconds = micros / 1_000_000
    sent = timestamp_pb2.Timestamp(**fields.timestamp(seconds))  # type: ignore[arg-type]  # fields
    assert fields.unix_s(sent) == pytest.approx(seconds, abs=1e-6)
