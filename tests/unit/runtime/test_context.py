from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.runtime import context

TRACE = "0af7651916cd43dd8448eb211c80319c"


@given(
    st.lists(
        st.tuples(st.sampled_from((*sorted(context.FORWARDED), "cookie", "X-Api-Key")), st.text())
    )
)
def test_only_listed_keys_travel_and_within_the_limit(pairs: list[tuple[str, str]]) -> None:
    kept = context.allowed(pairs)
    assert {key for key, _ in kept} <= set(context.FORWARDED)
    assert sum(len(key) + len(value) for key, value in kept) <= context.MAX_METADATA_BYTES


def test_too_much_metadata_is_cut() -> None:
    pairs = [("tracestate", "x" * 4000), ("x-action-id", "y" * 200), ("x-attempt", "1")]
    assert context.allowed(pairs) == (pairs[0],)


def test_binary_metadata_stays() -> None:
    assert context.allowed([("x-action-id", b"raw")]) == ()


@pytest.mark.parametrize("parent", [None, "", "nonsense", f"00-{'0' * 32}-b7ad6b7169203331-01"])
def test_a_trace_without_a_valid_parent_is_a_new_one(parent: str | None) -> None:
    version, trace, span, flags = context.new_traceparent(parent).split("-")
    assert (version, len(trace), len(span), flags) == ("00", 32, 16, "01")
    assert trace != "0" * 32


def test_a_child_keeps_trace_and_sampling() -> None:
    child = context.new_traceparent(f"00-{TRACE}-b7ad6b7169203331-00")
    assert child.startswith(f"00-{TRACE}-")
    assert child.endswith("-00")
    assert "b7ad6b7169203331" not in child


def test_a_hop_gets_no_more_than_is_left() -> None:
    assert context.timeout_of_hop(5) == 5
    token = context.deadline.set(time.monotonic() + 1)
    assert 0.9 < (context.timeout_of_hop(5) or 0) <= 1 - context.HOP_MARGIN_S
    assert context.timeout_of_hop(0.25) == 0.25
    assert context.timeout_of_hop(None) is None
    context.deadline.reset(token)


def test_a_hop_without_time_left_is_late_at_once() -> None:
    token = context.deadline.set(time.monotonic() - 1)
    assert context.timeout_of_hop(5) == context.MIN_HOP_S
    context.deadline.reset(token)
