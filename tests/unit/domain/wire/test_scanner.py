from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.wire.model import WireError
from services.domain.wire.scanner import Edit, Plan, scan

PLAN: Plan = {"messages": {"*": {"content": {"*": {}}}}, "tools": {"*": {}}}

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | st.text()
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(), v, max_size=3)
)
objects = st.dictionaries(st.sampled_from(["messages", "tools", "model", "x"]) | st.text(), values)


def body_of(value: object, *, indent: int | None, is_ascii: bool) -> bytes:
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent).encode()


@pytest.mark.spec("XLT-37")
@given(objects, st.sampled_from([None, 0, 2]), st.booleans())
def test_no_edits_give_the_same_bytes(
    value: dict[str, object], indent: int | None, is_ascii: bool
) -> None:
    body = body_of(value, indent=indent, is_ascii=is_ascii)
    document = scan(body, PLAN)
    assert document.splice([]) == body
    assert document.root.value == json.loads(body)


@pytest.mark.spec("XLT-37")
@given(objects, st.sampled_from([None, 2]))
def test_an_edit_leaves_all_other_bytes_alone(value: dict[str, object], indent: int | None) -> None:
    body = body_of({**value, "model": "é"}, indent=indent, is_ascii=False)
    document = scan(body, PLAN)
    node = document.root.members["model"]
    before, after = document.text[: node.start].encode(), document.text[node.end :].encode()
    assert document.splice([node.replaced_by('"other"')]) == before + b'"other"' + after


@given(st.lists(st.integers(), max_size=7), st.sets(st.integers(0, 6)), st.sampled_from([None, 1]))
def test_children_are_removed_with_their_commas(
    items: list[int], unwanted: set[int], indent: int | None
) -> None:
    document = scan(json.dumps({"messages": items}, indent=indent).encode(), PLAN)
    array = document.root.members["messages"]
    drop = [node for index, node in enumerate(array.items) if index in unwanted]
    kept = [item for index, item in enumerate(items) if index not in unwanted]
    assert json.loads(document.splice(array.without(drop))) == {"messages": kept}


@given(st.dictionaries(st.text(max_size=3), st.integers(), max_size=5))
def test_members_are_added_and_removed(members: dict[str, int]) -> None:
    document = scan(json.dumps(members).encode(), {})
    added = document.splice([document.root.with_member("new", "[1]")])
    assert json.loads(added) == {"new": [1], **members} | {"new": members.get("new", [1])}
    for key in members:
        edits = document.root.without([document.root.members[key]])
        assert json.loads(document.splice(edits)) == {k: members[k] for k in members if k != key}


@pytest.mark.spec("XLT-33")
def test_numbers_and_surrogates_are_kept_as_written() -> None:
    body = b'{"x": {"a": 12345678901234567890123, "b": 1.0, "c": "\\ud800", "d": 1E2}}'
    document = scan(body, PLAN)
    assert document.root.members["x"].raw == body[6:-1]
    assert document.value("x") == {"a": 12345678901234567890123, "b": 1.0, "c": "\ud800", "d": 100}


@pytest.mark.spec("XLT-25", "XLT-32")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b'"x"',
        b"{} x",
        b'{"a":1,}',
        b'{"a" 1}',
        b'{"a":1 "b":2}',
        b"{1:2}",
        b'{"a":NaN}',
        b'{"a":[-Infinity]}',
        b'{"a":01}',
        b'{"a":"\x01"}',
        b'{"a":"\xff"}',
        b'{"messages":[1,]}',
        b'{"messages":[1 2]}',
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a":' + b"9" * 5000 + b"}",
        b"{",
        b'{"messages":[',
    ],
)
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(WireError):
        scan(body, PLAN)


@pytest.mark.spec("XLT-25")
def test_a_byte_order_mark_is_stripped_and_twins_are_reported() -> None:
    assert scan(b'\xef\xbb\xbf{"a":1}', PLAN).splice([]) == b'{"a":1}'
    assert scan(b'{"a":1,"b":2,"a":3}', PLAN).duplicates == ("a",)


@given(st.binary(max_size=80))
def test_any_bytes_scan_or_are_refused(body: bytes) -> None:
    try:
        scan(body, PLAN)
    except WireError:
        return


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        scan(b'{"a":1}', PLAN).splice([Edit(0, 3, ""), Edit(2, 4, "")])
