"""Times are read in every form that upstreams write, and nothing else is taken for one."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.credentials.policy.evidence.times import instant, pacific_midnight, span_s
from tests.unit.credentials.cases import NOW


@pytest.mark.spec("CRD-26")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1750000000", NOW),
        (" 1750000000.5 ", NOW + 0.5),
        ("1750000000000", NOW),
        ("100000000000", 1e8),
        ("2025-06-15T15:06:40Z", NOW),
        ("2025-06-15T17:06:40.25+02:00", NOW + 0.25),
        ("Sun, 15 Jun 2025 15:06:40 GMT", NOW),
        ("Sun Jun 15 15:06:40 2025", NOW),
        ("0", None),
        ("-5", None),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        ("1" * 41, None),
        ("1969-01-01T00:00:00Z", None),
    ],
)
def test_an_instant_is_read_in_three_forms(text: str, expected: float | None) -> None:
    assert instant(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("6m0s", 360.0),
        ("20ms", 0.02),
        ("37.5s", 37.5),
        ("1h2m3s", 3_723.0),
        ("7", 7.0),
        ("", None),
        ("-1s", None),
        ("6m nonsense", None),
        ("s", None),
    ],
)
def test_a_span_is_read_in_its_units(text: str, expected: float | None) -> None:
    assert span_s(text) == expected


@given(st.text(max_size=60))
def test_any_text_is_a_time_or_none(text: str) -> None:
    found, span = instant(text), span_s(text)
    assert found is None or found > 0
    assert span is None or span >= 0


@pytest.mark.spec("CRD-60")
@pytest.mark.parametrize(
    ("now", "midnight"),
    [
        ("2025-06-15T15:06:40Z", "2025-06-16T07:00:00Z"),
        ("2025-06-15T06:59:59Z", "2025-06-15T07:00:00Z"),
        ("2025-12-01T08:00:00Z", "2025-12-02T08:00:00Z"),
        # The night of the change is one hour shorter, and in autumn one hour longer.
        ("2026-03-08T09:00:00Z", "2026-03-09T07:00:00Z"),
        ("2026-11-01T08:30:00Z", "2026-11-02T08:00:00Z"),
        ("2026-03-07T23:00:00Z", "2026-03-08T08:00:00Z"),
        ("2026-10-31T23:00:00Z", "2026-11-01T07:00:00Z"),
    ],
)
def test_days_end_at_midnight_on_the_west_coast(now: str, midnight: str) -> None:
    def unix_s(text: str) -> float:
        return dt.datetime.fromisoformat(text).timestamp()

    assert pacific_midnight(unix_s(now)) == unix_s(midnight)
