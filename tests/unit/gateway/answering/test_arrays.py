"""A stream as one array, whatever the cuts."""

from __future__ import annotations

from itertools import pairwise

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.answering.arrays import JsonArray

EVENTS = b'data: {"a":"\xc3\xa9,]"}\r\n\r\n: comment\n\n\n\ndata: {"b":\ndata: 1}\n\ndata: {"c":2}'


@pytest.mark.spec("XLT-14")
@given(st.lists(st.integers(0, len(EVENTS)), max_size=8))
def test_the_elements_are_the_events_whatever_the_cuts(cuts: list[int]) -> None:
    array = JsonArray()
    edges = [0, *sorted(cuts), len(EVENTS)]
    sent = b"".join(array.feed(EVENTS[start:end]) for start, end in pairwise(edges))
    assert orjson.loads(sent + array.finish()) == [{"a": "é,]"}, {"b": 1}, {"c": 2}]


@pytest.mark.spec("XLT-144")
def test_half_an_event_before_an_error_does_not_spoil_the_array() -> None:
    array = JsonArray()
    sent = array.feed(b'data: {"a":1}\n\ndata: {"candi') + array.feed(
        b'\n\ndata: {"error":{"code":502}}\n\n'
    )
    assert orjson.loads(sent + array.finish()) == [{"a": 1}, {"error": {"code": 502}}]


def test_nothing_at_all_is_an_empty_array() -> None:
    assert JsonArray().finish() == b"[]"
