"""Between an upstream's dialect and a client's: calls are checked and whole, or not told."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.wire.assemble import Assembler, events_of
from services.domain.wire.checking import ArgumentIssue
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    End,
    Failure,
    Response,
    Start,
    Stop,
    StopReason,
    Text,
    ToolUse,
    UpstreamError,
)
from services.domain.wire.translation import AnswerTranslation
from tests.unit.domain.wire.state_cases import A, G, O, R, answer_of, context

if TYPE_CHECKING:
    from services.domain.vocab import WireFamily
    from services.domain.wire.model import Event

HALF = '{"q":"abc'


def call(index: int, arguments: str, name: str = "find") -> list[Event]:
    """Return the events of one call whose arguments come in two pieces."""
    middle = len(arguments) // 2
    return [
        BlockOpen(index, "tool_use", f"c{index}", name),
        BlockDelta(index, arguments[:middle]),
        BlockDelta(index, arguments[middle:]),
        BlockClose(index),
    ]


def told(events: list[Event], client: WireFamily = A) -> tuple[list[Event], AnswerTranslation]:
    """Return what is told of events that come one by one."""
    translation = AnswerTranslation(client, context())
    return [e for event in events for e in translation.feed([event])], translation


def end(reason: StopReason = StopReason.TOOL_USE) -> End:
    """Return an end."""
    return End(Stop(reason), None)


@pytest.mark.spec("XLT-125", "XLT-157")
def test_arguments_are_told_once_and_whole() -> None:
    events, translation = told([Start("m", "u"), *call(0, '{"q":"x"}'), *call(1, "{}"), end()])
    deltas = [event.text for event in events if isinstance(event, BlockDelta)]
    assert deltas == ['{"q":"x"}', "{}"]
    assert translation.issues == Counter()


@pytest.mark.spec("XLT-125")
@given(st.text(max_size=40), st.integers(0, 3))
def test_long_arguments_come_in_slices_that_add_up(words: str, size: int) -> None:
    arguments = json.dumps({"q": "x" + words + "é" * 16_000 * size}, ensure_ascii=False)
    there = context()
    events, _ = told([Start("m", "u"), *call(0, arguments), end()])
    stream = codec_for(A).stream_encoder(there).feed(events)
    rows = [json.loads(line[5:]) for line in stream.split(b"\n") if line.startswith(b"data:")]
    parts = [row["delta"]["partial_json"] for row in rows if row["type"] == "content_block_delta"]
    assert json.loads("".join(parts)) == json.loads(arguments)
    assert all(len(part) <= 16 * 1024 for part in parts)


@pytest.mark.spec("XLT-157", "XLT-160")
def test_what_is_wrong_is_mended_and_counted() -> None:
    events = [
        *call(0, HALF),
        *call(1, '{"q":7}'),
        *call(2, "?!"),
        *call(3, '{"z":1}', "other"),
        end(),
    ]
    seen, translation = told([Start("m", "u"), *events])
    deltas = [event.text for event in seen if isinstance(event, BlockDelta)]
    assert deltas == ["{}", '{"q":"7"}', "{}", '{"z":1}']
    assert translation.issues == Counter(
        {
            ArgumentIssue.MENDED_JSON: 1,
            ArgumentIssue.MENDED: 1,
            ArgumentIssue.INVALID_JSON: 1,
            ArgumentIssue.UNKNOWN_TOOL: 1,
        }
    )


@pytest.mark.spec("XLT-190")
@pytest.mark.parametrize("client", [A, O, R, G])
def test_half_a_call_at_a_limit_is_never_told(client: WireFamily) -> None:
    events, translation = told(
        [Start("m", "u"), *call(0, '{"q":"x"}'), *call(1, HALF), end(StopReason.MAX_TOKENS)], client
    )
    assert [e.call_id for e in events if isinstance(e, BlockOpen)] == ["c0"]
    assert translation.issues == Counter({ArgumentIssue.CUT: 1})
    whole = Response(
        "m",
        "u",
        (ToolUse("c0", "find", b"{}"), ToolUse("c1", "find", HALF.encode())),
        Stop(StopReason.MAX_TOKENS),
        None,
    )
    shown = AnswerTranslation(client, context()).response(whole)
    assert [b.call_id for b in shown.blocks if isinstance(b, ToolUse)] == ["c0"]
    body = codec_for(client).encode_response(shown, context())
    assert b"abc" not in body


@pytest.mark.spec("XLT-190")
def test_a_whole_call_survives_a_limit_and_a_failure_ends_half_ones() -> None:
    events, _ = told([Start("m", "u"), *call(0, "{}"), end(StopReason.MAX_TOKENS)])
    assert any(isinstance(event, BlockOpen) for event in events)
    events, _ = told([Start("m", "u"), *call(0, HALF), Failure(UpstreamError(502))])
    assert not any(isinstance(event, BlockOpen) for event in events)


@pytest.mark.spec("XLT-161", "XLT-162")
@pytest.mark.parametrize("client", [A, O, R, G])
def test_nameless_calls_are_dropped_and_none_is_made_up(client: WireFamily) -> None:
    events, translation = told(
        [Start("m", "u"), *call(0, "{}", ""), end(StopReason.TOOL_USE)], client
    )
    assert not any(isinstance(event, BlockOpen | BlockDelta) for event in events)
    assert translation.issues == Counter({ArgumentIssue.NAMELESS: 1})
    stream = codec_for(client).stream_encoder(context()).feed(events)
    for word in (b'"tool_use"', b'"tool_calls"', b'"function_call"', b"functionCall"):
        assert word not in stream


@pytest.mark.spec("XLT-124", "XLT-161")
def test_what_follows_a_call_that_is_left_out_takes_its_place() -> None:
    words: list[Event] = [BlockOpen(1, "text"), BlockDelta(1, "so"), BlockClose(1)]
    events, _ = told([Start("m", "u"), *call(0, "{}", ""), *words, *call(2, "{}"), end()])
    places = [event.index for event in events if isinstance(event, BlockOpen)]
    assert places == [0, 1]


@pytest.mark.spec("XLT-114", "XLT-225")
@pytest.mark.parametrize("client", [A, O, R, G])
@pytest.mark.parametrize("issuer", [A, O, R, G])
def test_a_stream_and_a_whole_answer_are_translated_alike(
    client: WireFamily, issuer: WireFamily
) -> None:
    answer = answer_of(issuer, "payload")
    broken = (*answer.blocks, ToolUse("x", "find", b'{"q":1,}'), ToolUse("n", "", b"{}"), Text("z"))
    answer = dataclasses.replace(answer, blocks=broken)
    streaming, whole = (AnswerTranslation(client, context()) for _ in range(2))
    assembler = Assembler()
    assembler.feed(streaming.feed(events_of(answer)))
    assert assembler.response == dataclasses.replace(whole.response(answer), model="m")
    assert streaming.issues == whole.issues
    assert streaming.kept == whole.kept
