"""Checks of fields that several contracts share, and money on the wire."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.errors import InvalidRequestError
from services.domain.fields import (
    MAX_COUNT,
    action_id,
    count,
    header,
    micro_usd,
    session_key,
    text,
    usd,
    within,
)


def test_a_field_out_of_its_range_is_named_with_what_it_must_be() -> None:
    assert (text("a", "f"), count(0, "f"), count(MAX_COUNT - 1, "f")) == ("a", 0, MAX_COUNT - 1)
    assert (within(0.0, 1.0, "f"), within(1.0, 1.0, "f")) == (0.0, 1.0)
    with pytest.raises(InvalidRequestError, match="f: must not be empty"):
        text("", "f")
    for number in (-1, MAX_COUNT):
        with pytest.raises(
            InvalidRequestError, match=f"f: must be at least 0 and below {MAX_COUNT}"
        ):
            count(number, "f")
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(InvalidRequestError, match="f: must be a number from 0 to 1"):
            within(share, 1.0, "f")


@pytest.mark.parametrize("name", ["", "a" * 65, "a b", "a\n", "ann@example.com", "é"])
def test_what_names_no_action_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequestError, match="f: must be 1 to 64 letters, digits, _ or -"):
        action_id(name, "f")
    assert action_id("act_0-A" + "z" * 57, "f")


@pytest.mark.parametrize("text_", ["a\nb", "a\r\nx-b: c", "\x00", "\x7f"])
def test_what_no_header_holds_is_refused_and_not_shown(text_: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        header(f"secret{text_}", "f")
    assert "secret" not in str(caught.value)
    assert header("a\tb é", "f") == "a\tb é"


@pytest.mark.parametrize("size", [1, 15, 17, 32])
def test_the_key_of_a_session_is_a_digest_or_none(size: int) -> None:
    with pytest.raises(InvalidRequestError, match="f: must be empty or 16 bytes"):
        session_key(bytes(size), "f")
    assert (session_key(b"", "f"), session_key(bytes(16), "f")) == (b"", bytes(16))


@pytest.mark.parametrize(
    ("amount", "micro"),
    [
        (0.0, 0),
        (0.0000005, 1),
        (-0.0000005, -1),
        (0.0000004, 0),
        (-0.0000024, -2),
        (0.255, 255_000),
        (1e300, 2**63 - 1),
        (-1e300, -(2**63)),
        (float("inf"), 2**63 - 1),
    ],
)
def test_money_is_rounded_half_away_from_zero_and_kept_within_64_bits(
    amount: float, micro: int
) -> None:
    assert micro_usd(amount) == micro


@given(st.integers(-(2**50), 2**50))
def test_whole_micro_usd_come_back_as_they_were(micro: int) -> None:
    assert micro_usd(usd(micro)) == micro
