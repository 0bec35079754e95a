from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.wire.arguments import as_object, is_complete


@pytest.mark.spec("XLT-68")
@pytest.mark.parametrize("nothing", [b"", b"  ", b"null", b'""'])
def test_no_arguments_are_the_empty_object(nothing: bytes) -> None:
    assert as_object(nothing)[0] == b"{}"


@pytest.mark.spec("XLT-68")
def test_objects_keep_their_bytes_and_others_are_wrapped() -> None:
    assert as_object(b'{"a": 1.0, "b":12345678901234567890123}') == (
        b'{"a": 1.0, "b":12345678901234567890123}',
        False,
    )
    assert json.loads(as_object(b"[1, 2]")[0]) == {"value": [1, 2]}
    assert json.loads(as_object(b'"plain"')[0]) == {"value": "plain"}
    assert as_object(b'"{\\"a\\":1}"')[0] == b'{"a":1}'


@pytest.mark.spec("XLT-157")
@pytest.mark.parametrize(
    ("broken", "mended"),
    [
        (b'```json\n{"a": 1}\n```', {"a": 1}),
        (b'{"a": [1, 2,], }', {"a": [1, 2]}),
        (b'{"a": ",}"} and that is it', {"a": ",}"}),
        (b'{"a": 1', {}),
        (b'{"a": 1, "b": "x', {"a": 1}),
        (b'{"a": {"b": "x", "c', {"a": {"b": "x"}}),
        (b'{"a": [1, {"b": true}, 2', {"a": [1, {"b": True}]}),
        (b'{"a": "}", "b": tru', {"a": "}"}),
        (b'```json\n{"a": "x", "b"', {"a": "x"}),
        (b'{"a": 1 ? 2', {}),
        (b'{"a": ]', {}),
        (b"garbage", {}),
    ],
)
def test_unreadable_arguments_are_mended_or_empty(broken: bytes, mended: object) -> None:
    repaired, is_repaired = as_object(broken)
    assert json.loads(repaired) == mended
    assert is_repaired


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda t: t.encode("utf-8", "replace")))
def test_the_outcome_is_always_an_object(arguments: bytes) -> None:
    assert isinstance(json.loads(as_object(arguments)[0]), dict)


def test_cut_arguments_are_told_from_whole_ones() -> None:
    assert is_complete(b"")
    assert is_complete(b'{"a":1}')
    assert not is_complete(b'{"a":')


@given(
    st.dictionaries(st.text(max_size=3), st.lists(st.text(max_size=3) | st.integers()), max_size=4)
)
@pytest.mark.spec("XLT-157")
def test_whatever_is_cut_off_what_stays_is_true(value: dict[str, object]) -> None:
    whole = json.dumps(value)
    for end in range(1, len(whole)):
        kept = json.loads(as_object(whole[:end].encode())[0])
        for key, items in kept.items():
            told = value[key]
            assert isinstance(told, list)
            assert items == told[: len(items)]
