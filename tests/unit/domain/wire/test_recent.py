"""A body is scanned once while it is read, and is not kept for longer than that is likely."""

from __future__ import annotations

import pytest

from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import Request, WireError
from services.domain.wire.recent import (
    MOST_BODIES,
    MOST_BYTES,
    decoded_request,
    scan_request,
)
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


def test_bodies_are_let_go_of_when_all_together_are_too_large() -> None:
    size = MOST_BYTES // 3
    first = scan_request(body(6, size), PLAN)
    assert scan_request(body(6, size), PLAN) is first
    for number in (7, 8):
        scan_request(body(number, size), PLAN)
    assert scan_request(body(6, size), PLAN) is not first


def message(words: str) -> bytes:
    return b'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"%b"}]}' % (
        words.encode()
    )


def test_readers_of_one_body_share_its_request() -> None:
    codec = codec_for(WireFamily.ANTHROPIC)
    first = codec.decode_request(message("shared"))
    assert codec.decode_request(bytes(bytearray(message("shared")))) is first
    assert codec.decode_request(message("other")) is not first


def test_each_dialect_reads_a_body_its_own_way() -> None:
    one = codec_for(WireFamily.ANTHROPIC).decode_request(message("of two"))
    other = codec_for(WireFamily.OPENAI_CHAT).decode_request(message("of two"))
    assert (one.family, other.family) == (WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT)


def test_what_cannot_be_decoded_is_tried_each_time() -> None:
    tries: list[bytes] = []

    def decode(body: bytes) -> Request:
        tries.append(body)
        raise WireError("messages", "is required")

    for _ in range(2):
        with pytest.raises(WireError):
            decoded_request(b"{}", WireFamily.ANTHROPIC, decode)
    assert len(tries) == 2
