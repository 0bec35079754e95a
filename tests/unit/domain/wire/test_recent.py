"""A body is scanned once while it is read, and is not kept for longer than that is likely."""

from __future__ import annotations

import pytest

from services.domain.wire.model import WireError
from services.domain.wire.recent import MOST_BODIES, MOST_BYTES, scan_request
from services.domain.wire.scanner import Plan

PLAN: Plan = {"messages": {"*": {}}}


def body(number: int, size: int = 0) -> bytes:
    return b'{"messages":[{"a":%d}],"padding":"%b"}' % (number, b"x" * size)


def test_readers_of_one_body_share_its_document() -> None:
    first = scan_request(body(1), PLAN)
    assert scan_request(bytes(bytearray(body(1))), PLAN) is first
    assert scan_request(body(2), PLAN) is not first


def test_each_plan_has_its_own_document() -> None:
    opened, closed = scan_request(body(1), PLAN), scan_request(body(1), {})
    assert opened.root.members["messages"].children
    assert closed.root.members["messages"].children is None


def test_the_last_reader_lets_go() -> None:
    first = scan_request(body(3), PLAN)
    assert scan_request(body(3), PLAN, is_last=True) is first
    assert scan_request(body(3), PLAN) is not first


def test_few_bodies_are_kept_and_no_large_one() -> None:
    first = scan_request(body(4), PLAN)
    for number in range(MOST_BODIES):
        scan_request(body(100 + number), PLAN)
    assert scan_request(body(4), PLAN) is not first
    large = scan_request(body(5, MOST_BYTES), PLAN)
    assert scan_request(body(5, MOST_BYTES), PLAN) is not large


def test_what_is_no_body_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(WireError):
            scan_request(b"[", PLAN)
