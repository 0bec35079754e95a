"""Cache breakpoints: which are taken, where they land, and which are added."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.vocab import WireFamily
from services.domain.wire.anthropic.marks import MAX_MARKS
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import EncodedRequest, WireError
from tests.unit.domain.wire.foreign_cases import Json, target

A, C = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT
SHORT: Json = {"type": "ephemeral"}
LONG: Json = {"type": "ephemeral", "ttl": "1h"}


def part(words: str, mark: Json | None = None) -> Json:
    """Return a part of text, perhaps with a breakpoint."""
    return {"type": "text", "text": words} | ({"cache_control": mark} if mark else {})


def chat(*parts: Json, **members: object) -> Json:
    """Return a chat body with one user message of ``parts``."""
    return {"model": "m", "messages": [{"role": "user", "content": list(parts)}]} | members


def to_messages(body: Mapping[str, object], *, is_cache_marked: bool = False) -> Json:
    """Return what a Messages target gets of a chat body."""
    asked = codec_for(C).decode_request(json.dumps(body).encode())
    to = target(A, is_cache_marked=is_cache_marked)
    told: Json = json.loads(codec_for(A).encode_request(asked, to).body)
    return told


def marked(body: Json) -> EncodedRequest:
    """Return a Messages body as a Messages target gets it where breakpoints are added."""
    data = json.dumps(body).encode()
    codec = codec_for(A)
    return codec.splice_request(data, codec.decode_request(data), target(A, is_cache_marked=True))


def said(content: object, **members: object) -> Json:
    """Return a Messages body with one user message."""
    return {
        "model": "up-m",
        "max_tokens": 5,
        "messages": [{"role": "user", "content": content}],
    } | members


def count(value: object) -> int:
    """Return the number of breakpoints anywhere in a JSON value."""
    if isinstance(value, list):
        return sum(map(count, value))
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(map(count, value.values()))
    return 0


@pytest.mark.spec("XLT-173")
@pytest.mark.parametrize(
    ("parts", "path"),
    [
        ([part(str(i), SHORT) for i in range(MAX_MARKS + 1)], "messages[0]"),
        ([part("a", {"type": "forever"})], "messages[0].cache_control.type"),
        ([part("a", SHORT | {"ttl": "2h"})], "messages[0].cache_control.ttl"),
        ([part("a", SHORT | {"ttl": 5})], "messages[0].cache_control.ttl"),
        ([part("a", SHORT), part("b", LONG)], "messages[0].cache_control.ttl"),
    ],
)
def test_breakpoints_that_no_target_takes_are_refused(parts: list[Json], path: str) -> None:
    with pytest.raises(WireError) as caught:
        to_messages(chat(*parts))
    assert caught.value.path == path


@pytest.mark.spec("XLT-173")
def test_tools_and_instructions_count_too() -> None:
    function = {"type": "function", "function": {"name": "f", "cache_control": SHORT}}
    system = {"role": "system", "content": [part("s", SHORT)]}
    user = {"role": "user", "content": [part("a", SHORT), part("b", SHORT)]}
    body: Json = {"model": "m", "tools": [function], "messages": [system, user]}
    assert count(to_messages(body)) == MAX_MARKS
    more = {"role": "user", "content": [part("c", SHORT)]}
    with pytest.raises(WireError):
        to_messages(body | {"messages": [system, user, more]})
    late = {"role": "user", "content": [part("a", LONG)]}
    with pytest.raises(WireError):
        to_messages(body | {"messages": [system, late]})


@pytest.mark.spec("XLT-173")
def test_long_ones_before_short_ones_are_taken() -> None:
    told = to_messages(chat(part("a", LONG), part("b", SHORT), part("c", SHORT | {"ttl": "5m"})))
    assert count(told) == 3
    own = json.dumps(said([part("a", {"type": "odd", "x": 1})])).encode()
    codec = codec_for(A)
    assert codec.splice_request(own, codec.decode_request(own), target(A)).body == own


@pytest.mark.spec("XLT-175")
@pytest.mark.parametrize("content", ["hi", [part("a"), part("b"), part(" ")]])
def test_the_mark_of_a_message_lands_on_its_last_block_that_is_not_empty(content: object) -> None:
    body: Json = {
        "model": "m",
        "messages": [
            {"role": "system", "content": "s", "cache_control": SHORT},
            {"role": "user", "content": content, "cache_control": SHORT},
        ],
    }
    told = to_messages(body)
    assert told["system"] == [part("s", SHORT)]
    assert count(told["messages"]) == 1
    messages = told["messages"]
    assert isinstance(messages, list)
    assert messages[-1]["content"][-1]["cache_control"] == SHORT


@pytest.mark.spec("XLT-176")
def test_another_vendor_s_target_sees_no_breakpoint() -> None:
    body = chat(part("a", SHORT), part("b"))
    body["tools"] = [{"type": "function", "function": {"name": "f"}, "cache_control": SHORT}]
    data = json.dumps(body).encode()
    codec = codec_for(C)
    asked = codec.decode_request(data)
    sent = codec.splice_request(data, asked, target(C, is_vendor=True))
    assert count(json.loads(sent.body)) == 0
    assert [transform.path for transform in sent.transforms] == ["messages[0]", "tools[0]"]
    kept = codec.splice_request(data, asked, target(C, upstream_id="m"))
    assert kept.body == data, "a compatible upstream may know them"
    own = json.dumps(said([part("a", SHORT)])).encode()
    asked = codec_for(A).decode_request(own)
    for family in WireFamily:
        if family is not A:
            told = json.loads(codec_for(family).encode_request(asked, target(family)).body)
            assert count(told) == 0


@pytest.mark.spec("XLT-174")
def test_breakpoints_are_added_behind_instructions_and_behind_the_last_message() -> None:
    told = json.loads(marked(said("hi", system="s")).body)
    assert told["system"] == [part("s", SHORT)]
    assert told["messages"][0]["content"] == [part("hi", SHORT)]
    told = json.loads(marked(said([part("a"), part("b")], system=[part("s"), part("t")])).body)
    assert told["system"] == [part("s"), part("t", SHORT)]
    assert told["messages"][0]["content"] == [part("a"), part("b", SHORT)]


@pytest.mark.spec("XLT-174")
@pytest.mark.parametrize(
    ("body", "added"),
    [
        (said([part(str(i), SHORT) for i in range(MAX_MARKS)], system="s"), 0),
        (said([*(part(str(i), SHORT) for i in range(3)), part("x")], system="s"), 1),
        (said([part("a", LONG), part("b")], system="s"), 1),
        (said([part("a", SHORT)], system="s"), 1),
        (said("hi", cache_control=SHORT), 0),
        (said([{"type": "thinking", "thinking": "t", "signature": "s"}]), 0),
        (said("hi"), 1),
    ],
)
def test_only_spare_room_is_used_and_the_order_holds(body: Json, added: int) -> None:
    sent = marked(body)
    assert count(json.loads(sent.body)) == count(body) + added
    assert [t.code for t in sent.transforms].count("cache_mark") == added


@pytest.mark.spec("XLT-174")
def test_nothing_is_added_unless_it_is_switched_on() -> None:
    data = json.dumps(said("hi", system="s")).encode()
    codec = codec_for(A)
    asked = codec.decode_request(data)
    assert codec.splice_request(data, asked, target(A)).body == data
    told = to_messages(chat(part("a")), is_cache_marked=True)
    assert count(told) == 1
    assert count(to_messages(chat(part("a")))) == 0


MARKS = st.sampled_from([None, SHORT, LONG])


@given(st.lists(MARKS, max_size=4), st.lists(MARKS, min_size=1, max_size=4))
@pytest.mark.spec("XLT-173", "XLT-174")
def test_added_breakpoints_never_break_a_body_that_was_fine(
    system: list[Json | None], blocks: list[Json | None]
) -> None:
    marks = [mark for mark in (*system, *blocks) if mark]
    first_short = next((i for i, mark in enumerate(marks) if mark == SHORT), len(marks))
    if len(marks) > MAX_MARKS or LONG in marks[first_short:]:
        return
    parts = [part(str(i), mark) for i, mark in enumerate(blocks)]
    body = said(parts, system=[part(str(i), mark) for i, mark in enumerate(system)])
    told = json.loads(marked(body).body)
    again = [
        block["cache_control"]
        for block in (*told.get("system", []), *told["messages"][0]["content"])
        if "cache_control" in block
    ]
    assert len(again) <= MAX_MARKS
    after = next((i for i, mark in enumerate(again) if mark == SHORT), len(again))
    assert LONG not in again[after:]
