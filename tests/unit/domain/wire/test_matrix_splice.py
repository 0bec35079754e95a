"""A body that stays in its dialect keeps every byte, whatever it holds, but the model's name."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from tests.unit.domain.wire.matrix_cases import target
from tests.unit.domain.wire.recorded import FAMILIES, request_body, requests_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Target

A, O = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT  # noqa: E741 - the names of the matrix
R, G = WireFamily.OPENAI_RESPONSES, WireFamily.GEMINI

EDITED = frozenset([(A, "plain_thinking")])
"""Recorded bodies that their vendor would refuse: a thought without its signature."""
REPAIRED = frozenset((O, case) for case in ("unanswered_call", "orphan_result", "late_result"))
"""Recorded bodies whose calls and results are paired when they are written again."""

CASES = [(family, case) for family in FAMILIES for case in requests_of(family)]
UNEDITED = [pair for pair in CASES if pair not in EDITED]
UNREPAIRED = [pair for pair in UNEDITED if pair not in REPAIRED]
by_family = pytest.mark.parametrize("family", FAMILIES)

BODIES: Mapping[WireFamily, str] = {
    A: '{@"model":@"client-model",@"max_tokens":@9,@"messages":[{"role":"user",@"content":['
    '{"type":"text","text":"hi"@}@,{"type":"new_kind","x":%s}],@"y":%s}],"z":%s}',
    O: '{@"model":@"client-model",@"messages":@[{"role":"user","content":[{"type":"text",@'
    '"text":"hi"},{"type":"new_kind","x":%s}],"y":%s}],"z":%s@}',
    R: '{@"model":@"client-model",@"input":@[{"type":"message","role":"user","content":[{"type":'
    '"input_text",@"text":"hi"},{"type":"new_kind","x":%s}]},{"type":"new_item","y":%s}],"z":%s@}',
    G: '{@"contents":@[{"role":"user",@"parts":[{"text":@"hi","x":%s},{"new_kind":%s}]}],@'
    '"generationConfig":{"newKnob":%s}@}',
}
"""Bodies with room for unknown values (`%s`) and for blanks (`@`)."""

lexemes = st.sampled_from(
    [
        "0",
        "-0",
        "1.0",
        "1E+2",
        "0.10",
        str(2**70),
        "null",
        "true",
        '""',
        r'"\u00e9\n"',
        r'"a\/b"',
        '"é😀"',
        r'"\ud83d\ude00"',
    ]
)
keys = st.sampled_from(['"model"', '"type"', '"k"', r'"\u006b2"', '"ä"'])
values = st.recursive(
    lexemes,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[" + " ,".join(items) + "]"),
        st.dictionaries(keys, inner, max_size=3).map(
            lambda items: "{ " + ", ".join(f"{key} : {item}" for key, item in items.items()) + "}"
        ),
    ),
    max_leaves=6,
)
blanks = st.sampled_from(["", " ", "\n\t ", "\r\n"])


@st.composite
def bodies(draw: st.DrawFn, family: WireFamily) -> bytes:
    """Give a body with odd blanks and unknown members that hold anything."""
    whole = BODIES[family] % tuple(draw(values) for _ in range(3))
    head, *rest = whole.split("@")
    return (head + "".join(draw(blanks) + part for part in rest)).encode()


def own_target(family: WireFamily) -> Target:
    """Return a target at the dialect's own vendor that takes what its clients send."""
    reasoning = "none" if family in (O, R) else "optional"
    return replace(target(family), facts=ModelFacts(reasoning=reasoning), is_vendor=True)


def spliced(family: WireFamily, body: bytes) -> bytes:
    codec = codec_for(family)
    return codec.splice_request(body, codec.decode_request(body), own_target(family)).body


def written_again(family: WireFamily, body: bytes) -> bytes:
    codec = codec_for(family)
    return codec.encode_request(codec.decode_request(body), own_target(family)).body


def said_by(body: bytes) -> object:
    """Return what a body says beside the model: numbers as written, members in any order."""
    told = json.loads(body, parse_int=Number, parse_float=Number)
    told.pop("model", None)
    return told


class Number(str):
    """A number as it was written; no text equals it."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and str(self) == str(other)


@pytest.mark.spec("XLT-37", "XLT-223")
@pytest.mark.parametrize(("family", "case"), UNEDITED)
def test_a_recorded_body_changes_in_the_models_name_alone(family: WireFamily, case: str) -> None:
    body = request_body(family, case)
    assert spliced(family, body) == body.replace(b'"client-model"', b'"upstream-model"')


@pytest.mark.spec("XLT-30", "XLT-223")
@pytest.mark.parametrize(("family", "case"), UNREPAIRED)
def test_a_recorded_body_that_is_written_again_says_the_same(family: WireFamily, case: str) -> None:
    body = request_body(family, case)
    again = written_again(family, body)
    assert said_by(again) == said_by(body)
    assert (b'"upstream-model"' in again) == (b'"client-model"' in body)


@pytest.mark.spec("XLT-37", "XLT-225")
@by_family
@given(data=st.data())
@settings(max_examples=60)
def test_any_body_changes_in_the_models_name_alone(family: WireFamily, data: st.DataObject) -> None:
    body = data.draw(bodies(family))
    assert spliced(family, body) == body.replace(b'"client-model"', b'"upstream-model"')


@pytest.mark.spec("XLT-30", "XLT-33", "XLT-225")
@by_family
@given(data=st.data())
@settings(max_examples=60)
def test_any_body_that_is_written_again_keeps_members_and_digits(
    family: WireFamily, data: st.DataObject
) -> None:
    body = data.draw(bodies(family))
    assert said_by(written_again(family, body)) == said_by(body)
