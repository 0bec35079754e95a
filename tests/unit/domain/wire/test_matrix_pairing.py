"""Any history of calls and results, however torn, is one that a strict upstream takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.domain.wire.codecs import codec_for
from services.domain.wire.model import (
    Limits,
    Request,
    Role,
    SystemBlock,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Turn,
    UnbuildableError,
)
from tests.unit.domain.wire.matrix_cases import target
from tests.unit.domain.wire.recorded import FAMILIES
from tests.unit.domain.wire.recorded.upstreams import read

if TYPE_CHECKING:
    from services.domain.vocab import WireFamily
    from services.domain.wire.model import Block

IDS = [f"call_{number}" for number in range(6)]

words = st.sampled_from(["", " ", "a", "bé\n", "{}"]).map(Text)
results = st.builds(
    ToolResult,
    st.sampled_from([*IDS, "", "call_lost"]),
    st.lists(words, max_size=2).map(tuple),
    is_error=st.booleans(),
    name=st.sampled_from(["", "f"]),
)
thoughts = st.builds(Thinking, st.sampled_from(["", "hm"]))


@st.composite
def histories(draw: st.DrawFn) -> tuple[Turn, ...]:
    """Give turns whose calls have ids of their own; results come anywhere, twice or never."""
    fresh = iter(draw(st.permutations(IDS)))
    turns: list[Turn] = []
    for place in range(draw(st.integers(1, 6))):
        if draw(st.booleans()):
            blocks = draw(st.lists(st.one_of(words, results), min_size=1, max_size=3))
            turns.append(Turn(Role.USER, tuple(blocks), place))
            continue
        said = draw(st.lists(st.one_of(words, thoughts, st.just(None)), min_size=1, max_size=3))
        calls = [ToolUse(next(fresh, ""), "f", b'{"a":1}') if b is None else b for b in said]
        kept = [block for block in calls if not isinstance(block, ToolUse) or block.call_id]
        turns.append(Turn(Role.ASSISTANT, tuple(kept), place))
    return tuple(turns)


systems = st.lists(
    st.builds(SystemBlock, st.sampled_from(["", "Be kind."]), after_turn=st.integers(0, 4)),
    max_size=2,
).map(tuple)


def encoded(request: Request, upstream: WireFamily) -> bytes | None:
    """Return the body; None when the encoder finds nothing to send."""
    try:
        return codec_for(upstream).encode_request(request, target(upstream)).body
    except UnbuildableError:
        return None


def is_said(block: Block) -> bool:
    return isinstance(block, ToolUse | ToolResult) or (
        isinstance(block, Text) and bool(block.text.strip())
    )


@pytest.mark.spec("XLT-48", "XLT-52", "XLT-73", "XLT-74", "XLT-75", "XLT-76", "XLT-77", "XLT-225")
@pytest.mark.parametrize("upstream", FAMILIES)
@given(turns=histories(), system=systems, data=st.data())
@settings(max_examples=80)
def test_each_call_has_its_result_right_behind_it(
    upstream: WireFamily,
    turns: tuple[Turn, ...],
    system: tuple[SystemBlock, ...],
    data: st.DataObject,
) -> None:
    """Whatever a history lacks or repeats: roles alternate where they must, no text is blank."""
    client = data.draw(st.sampled_from([family for family in FAMILIES if family is not upstream]))
    request = Request(client, "m", is_stream=False, system=system, turns=turns, limits=Limits(9))
    body = encoded(request, upstream)
    if body is None:
        assert not any(is_said(block) for turn in turns for block in turn.blocks)
        return
    asked = read(upstream, body)
    made = [b.call_id for turn in turns for b in turn.blocks if isinstance(b, ToolUse)]
    assert [e.call for e in asked.entries if e.kind == "call"] == [
        f"c{number + 1}" for number in range(len(made))
    ]
