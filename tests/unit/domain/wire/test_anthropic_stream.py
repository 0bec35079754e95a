from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.vocab import WireFamily
from services.domain.wire.anthropic.stream import MessagesStreamDecoder
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    BlockState,
    End,
    Event,
    Failure,
    Ping,
    ProviderState,
    Start,
    Stop,
    StopReason,
    Usage,
    UsageSeen,
)
from tests.unit.domain.wire.anthropic_cases import (
    RICH_STREAM,
    closed,
    decoded,
    delta,
    ending,
    frame,
    opened,
    start,
    text_block,
    tool_block,
)


def failure(stream: bytes) -> Failure:
    last = decoded(stream)[-1]
    assert isinstance(last, Failure)
    return last


def joined(events: list[Event]) -> list[Event]:
    """Return events with neighbouring deltas of one block put together."""
    merged: list[Event] = []
    for event in events:
        last = merged[-1] if merged else None
        if (
            isinstance(event, BlockDelta)
            and isinstance(last, BlockDelta)
            and last.index == event.index
        ):
            merged[-1] = BlockDelta(event.index, last.text + event.text)
        else:
            merged.append(event)
    return merged


def test_a_stream_becomes_canonical_events() -> None:
    seed = Usage(fresh_input=12, cache_read=900, output=1)
    final = Usage(fresh_input=12, cache_read=900, output=30)
    signature = ProviderState(WireFamily.ANTHROPIC, "signature", "c2ln")
    assert joined(decoded(RICH_STREAM)) == [
        Start("msg_up", "upstream-model", seed),
        Ping(),
        BlockOpen(0, "thinking"),
        BlockDelta(0, "Überlegen \U0001f600"),
        BlockState(0, signature),
        BlockClose(0),
        BlockOpen(1, "text"),
        BlockDelta(1, "Grüß Gott \U0001f600"),
        BlockClose(1),
        BlockOpen(2, "tool_use", "toolu_1", "look"),
        BlockDelta(2, '{"a":1}'),
        BlockClose(2),
        BlockOpen(3, "tool_use", "toolu_2", "stop"),
        BlockClose(3),
        UsageSeen(final),
        End(Stop(StopReason.TOOL_USE), final),
    ]


@pytest.mark.spec("XLT-116", "XLT-225")
def test_a_cut_at_every_byte_is_invisible() -> None:
    whole = decoded(RICH_STREAM)
    for at in range(1, len(RICH_STREAM)):
        decoder = MessagesStreamDecoder()
        parts = [*decoder.feed(RICH_STREAM[:at]), *decoder.feed(RICH_STREAM[at:])]
        assert [*parts, *decoder.finish()] == whole


@pytest.mark.spec("XLT-34")
def test_a_stop_reason_without_message_stop_is_no_end() -> None:
    assert failure(RICH_STREAM.removesuffix(frame("message_stop"))).error.vendor_code == (
        "stream_incomplete"
    )


@pytest.mark.spec("XLT-34")
def test_a_stream_without_a_start_is_empty() -> None:
    assert failure(b"").error.vendor_code == "stream_empty"
    assert failure(b": keepalive\n\n" + frame("ping")).error.vendor_code == "stream_empty"


@pytest.mark.spec("XLT-36", "XLT-148")
def test_an_error_event_ends_the_stream_once_with_its_status() -> None:
    error = frame("error", error={"type": "overloaded_error", "message": "Overloaded"})
    events = decoded(start() + error + text_block(0, "late") + error)
    assert [type(event) for event in events] == [Start, Failure]
    assert failure(error).error.http_status == 529
    assert failure(error).error.message == "Overloaded"


@pytest.mark.spec("XLT-36")
def test_nothing_comes_after_a_clean_end() -> None:
    events = decoded(RICH_STREAM + frame("error", error={"type": "api_error"}))
    assert events == decoded(RICH_STREAM)


@pytest.mark.spec("XLT-116")
def test_a_last_frame_without_its_blank_line_counts() -> None:
    assert isinstance(decoded(RICH_STREAM[:-2])[-1], End)


@pytest.mark.spec("XLT-117")
def test_a_block_whose_opening_never_came_is_opened_by_its_delta() -> None:
    stream = start() + delta(0, type="text_delta", text="hi") + closed(0) + ending()
    assert decoded(stream)[1:4] == [BlockOpen(0, "text"), BlockDelta(0, "hi"), BlockClose(0)]


@pytest.mark.spec("XLT-117")
def test_frames_are_told_by_type_or_by_name_and_unknown_ones_are_skipped() -> None:
    stop = b"event: message_stop\ndata: {}\n\n"
    stream = start() + frame("new_thing", x=1) + text_block(0, "a") + stop
    assert isinstance(decoded(stream)[-1], End)


@pytest.mark.spec("XLT-117")
def test_three_unreadable_frames_in_a_row_break_the_stream() -> None:
    bad = b"data: {nope\n\n"
    assert isinstance(decoded(start() + bad + bad + frame("ping") + bad + ending())[-1], End)
    assert failure(start() + bad * 3 + ending()).error.vendor_code == "stream_unreadable"


@pytest.mark.spec("XLT-119")
def test_halves_of_a_surrogate_pair_in_two_deltas_are_joined() -> None:
    halves = b"".join(
        b'data: {"type":"content_block_delta","index":0,"delta":'
        b'{"type":"text_delta","text":"' + half + b'"}}\n\n'
        for half in (b"a\\ud83d", b"\\ude00b", b"c\\ud83d")
    )
    events = decoded(start() + opened(0, type="text", text="") + halves + closed(0) + ending())
    text = "".join(event.text for event in events if isinstance(event, BlockDelta))
    assert text == "a\U0001f600bc\ufffd"


@pytest.mark.spec("XLT-121")
def test_usage_is_cumulative_and_null_says_nothing() -> None:
    stream = start(cache_read_input_tokens=5) + ending(
        "end_turn", input_tokens=None, cache_read_input_tokens=7, cache_creation_input_tokens=3
    )
    last = decoded(stream)[-1]
    assert isinstance(last, End)
    assert last.usage == Usage(fresh_input=12, cache_read=7, cache_write=3, output=30)


def test_server_blocks_are_passed_over_and_indexes_stay_contiguous() -> None:
    server = opened(0, type="server_tool_use", id="s", name="web_search", input={})
    server += delta(0, type="input_json_delta", partial_json="{}") + closed(0)
    stream = start() + server + text_block(1, "found") + ending()
    assert [e.index for e in decoded(stream) if isinstance(e, BlockOpen)] == [0]


@pytest.mark.spec("XLT-161")
def test_a_call_without_a_name_is_dropped() -> None:
    events = decoded(start() + tool_block(0, "t", "", "{}") + ending())
    assert not [event for event in events if isinstance(event, BlockOpen)]


def test_arguments_that_came_with_the_opening_are_kept() -> None:
    block = opened(0, type="tool_use", id="t", name="f", input={"a": 2**70}) + closed(0)
    deltas = [e.text for e in decoded(start() + block + ending()) if isinstance(e, BlockDelta)]
    assert [json.loads(text) for text in deltas] == [{"a": 2**70}]


def test_redacted_thinking_is_kept_whole() -> None:
    block = opened(0, type="redacted_thinking", data="opaque") + closed(0)
    assert BlockOpen(0, "redacted_thinking", data="opaque") in decoded(start() + block + ending())


@pytest.mark.spec("XLT-32", "XLT-225")
@given(
    st.lists(
        st.recursive(
            st.none() | st.integers() | st.text(max_size=5),
            lambda v: (
                st.lists(v, max_size=2)
                | st.dictionaries(
                    st.sampled_from(["type", "index", "delta", "content_block", "usage", "error"]),
                    v,
                )
            ),
        ),
        max_size=6,
    )
)
def test_odd_frames_never_raise_and_end_exactly_once(frames: list[object]) -> None:
    stream = b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in frames)
    events = decoded(start() + stream)
    assert sum(isinstance(event, End | Failure) for event in events) == 1
    assert isinstance(events[-1], End | Failure)
