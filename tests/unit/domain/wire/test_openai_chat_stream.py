from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    End,
    Event,
    Failure,
    Start,
    Stop,
    StopReason,
    Usage,
)
from services.domain.wire.openai_chat.stream import ChatStreamDecoder
from tests.unit.domain.wire.openai_chat_cases import DONE, call, decoded, frame

USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 7,
    "total_tokens": 1007,
    "prompt_tokens_details": {"cached_tokens": 900},
    "completion_tokens_details": {"reasoning_tokens": 3},
}
WANTED = Usage(fresh_input=100, cache_read=900, output=7, reasoning=3)


def calls(events: list[Event]) -> list[tuple[str, str, str]]:
    """Return id, name and arguments of every call in ``events``."""
    found: dict[int, list[str]] = {}
    for event in events:
        if isinstance(event, BlockOpen) and event.kind == "tool_use":
            found[event.index] = [event.call_id, event.name, ""]
        if isinstance(event, BlockDelta) and event.index in found:
            found[event.index][2] += event.text
    return [(one[0], one[1], one[2]) for one in found.values()]


def end(events: list[Event]) -> End:
    last = events[-1]
    assert isinstance(last, End)
    return last


GOLDEN = (
    frame({"role": "assistant", "content": ""})
    + b": keepalive\n\n"
    + frame({"reasoning_content": "Überlegung "})
    + frame({"content": "Grüße 😀"})
    + frame({"content": " ✓"})
    + call(0, "call_a", name="read", arguments="")
    + call(0, arguments='{"path":')
    + call(1, "call_b", name="list", arguments="{}")
    + call(0, arguments='"ü"}')
    + frame({}, "tool_calls")
    + frame(None, choices=[], usage=USAGE)
    + DONE
)
GOLDEN_EVENTS: list[Event] = [
    Start("chatcmpl-up", "upstream-model"),
    BlockOpen(0, "thinking"),
    BlockDelta(0, "Überlegung "),
    BlockClose(0),
    BlockOpen(1, "text"),
    BlockDelta(1, "Grüße 😀"),
    BlockDelta(1, " ✓"),
]


@pytest.mark.spec("XLT-124")
def test_interleaved_calls_become_sequential_blocks() -> None:
    events = decoded(GOLDEN)
    assert events[: len(GOLDEN_EVENTS)] == GOLDEN_EVENTS
    assert calls(events) == [("call_a", "read", '{"path":"ü"}'), ("call_b", "list", "{}")]
    assert end(events) == End(Stop(StopReason.TOOL_USE), WANTED)
    indexes = [event.index for event in events if isinstance(event, BlockOpen)]
    assert indexes == [0, 1, 2, 3]
    is_open = False
    for event in events:
        if isinstance(event, BlockOpen | BlockClose):
            assert is_open is isinstance(event, BlockClose)
            is_open = isinstance(event, BlockOpen)


@pytest.mark.spec("XLT-116")
def test_no_cut_between_bytes_changes_an_event() -> None:
    whole = decoded(GOLDEN)
    for cut in range(len(GOLDEN)):
        decoder = ChatStreamDecoder()
        head, tail = decoder.feed(GOLDEN[:cut]), decoder.feed(GOLDEN[cut:])
        assert [*head, *tail, *decoder.finish()] == whole


@pytest.mark.spec("XLT-122")
@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        pytest.param(
            call(0, "a", name="f", arguments="{}") + call(1, "b", name="g", arguments="{}"),
            [("a", "f", "{}"), ("b", "g", "{}")],
            id="two calls back to back",
        ),
        pytest.param(
            call(0, "a", name="f", arguments="{")
            + call(0, "b", name="g", arguments="{")
            + call(0, arguments="}")
            + call(None, "a", arguments="}"),
            [("a", "f", "{}"), ("b", "g", "{}")],
            id="one index for two ids",
        ),
        pytest.param(
            call(0, "a", name="f", arguments="")
            + call(0, arguments='{"x":')
            + call(0, "", arguments="1}"),
            [("a", "f", '{"x":1}')],
            id="later fragments only with an index",
        ),
        pytest.param(
            call(None, "a", name="f", arguments='{"x":') + call(None, arguments="1}"),
            [("a", "f", '{"x":1}')],
            id="no index at all",
        ),
        pytest.param(
            call(0, name="f", arguments='{"x":') + call(0, "late", arguments="1}"),
            [("late", "f", '{"x":1}')],
            id="late id",
        ),
    ],
)
def test_fragments_find_their_call(stream: bytes, expected: list[tuple[str, str, str]]) -> None:
    assert calls(decoded(stream + frame({}, "tool_calls") + DONE)) == expected


@pytest.mark.spec("XLT-123")
@pytest.mark.parametrize(
    ("stream", "arguments"),
    [
        pytest.param(call(0, "a", name="f"), "{}", id="no arguments"),
        pytest.param(call(0, "a", name="f", arguments=""), "{}", id="empty arguments"),
        pytest.param(
            call(0, "a", arguments='{"x":1}') + call(0, name="f"), '{"x":1}', id="name after"
        ),
        pytest.param(
            call(0, "a", name="f", arguments='{"x"')
            + call(0, arguments=":1}")
            + call(0, "a", name="f", arguments='{"x":1}'),
            '{"x":1}',
            id="full repeat",
        ),
        pytest.param(
            call(0, "a", name="f", arguments="{}") + call(0, arguments='{"x":1}'),
            '{"x":1}',
            id="placeholder first",
        ),
        pytest.param(
            frame({"function_call": {"name": "f", "arguments": "{"}})
            + frame({"function_call": {"arguments": "}"}}),
            "{}",
            id="legacy form",
        ),
    ],
)
def test_arguments_are_assembled(stream: bytes, arguments: str) -> None:
    found = calls(decoded(stream + frame({}, "tool_calls") + DONE))
    assert [(name, text) for _, name, text in found] == [("f", arguments)]


@pytest.mark.spec("XLT-161")
def test_a_nameless_call_is_dropped_and_sets_no_stop() -> None:
    events = decoded(call(0, "a", arguments="{}") + frame({}, "tool_calls") + DONE)
    assert calls(events) == []
    assert end(events).stop.reason is StopReason.END_TURN


@pytest.mark.spec("XLT-190")
@pytest.mark.parametrize("half", ["", '{"x'])
def test_a_cut_call_is_dropped_and_complete_ones_stay(half: str) -> None:
    stream = call(0, "a", name="f", arguments="{}") + call(1, "b", name="g", arguments=half)
    events = decoded(stream + frame({}, "length"))
    assert [one[0] for one in calls(events)] == ["a"]
    assert end(events).stop.reason is StopReason.MAX_TOKENS


@pytest.mark.spec("XLT-189")
def test_a_stop_with_a_call_is_a_tool_stop() -> None:
    stream = frame({"content": ""}) + call(0, "a", name="f", arguments="{}")
    events = decoded(stream + frame({}, "stop") + DONE)
    assert events[1] == BlockOpen(0, "tool_use", "a", "f")
    assert end(events).stop.reason is StopReason.TOOL_USE


@pytest.mark.spec("XLT-188")
def test_a_filtered_answer_is_a_refusal() -> None:
    assert end(decoded(frame({}, "content_filter"))).stop.reason is StopReason.REFUSAL


@pytest.mark.spec("XLT-121")
@pytest.mark.parametrize(
    "stream",
    [
        frame(None, choices=[], usage=USAGE) + frame({"content": "x"}) + frame({}, "stop"),
        frame({"content": "x"}) + frame({}, "stop", usage=USAGE),
        frame({"content": "x"}) + frame({}, "stop") + frame(None, choices=[], usage=USAGE),
        frame({"content": "x"}, usage=USAGE) + frame({}, "stop", usage=None),
        frame({"content": "x"})
        + frame({}, "stop")
        + b'data: {"usage":'
        + json.dumps(USAGE).encode()
        + b"}\n\n",
    ],
)
def test_usage_counts_wherever_it_comes(stream: bytes) -> None:
    assert end(decoded(stream + DONE)).usage == WANTED


@pytest.mark.spec("XLT-120")
def test_odd_frames_open_nothing_and_print_nothing() -> None:
    odd = [
        b'data: {"choices":null}\n\n',
        b'data: {"choices":[]}\n\n',
        b"data: {}\n\n",
        frame(None),
        frame({"content": None, "tool_calls": None, "reasoning_content": None}),
        frame({"role": "assistant"}, id="", model=""),
        b"data: \n\n",
    ]
    stream = b"".join(odd) + frame({"content": "hi"}) + b"".join(odd) + frame({}, "stop") + DONE
    events = decoded(stream)
    assert [event for event in events if isinstance(event, BlockDelta)] == [BlockDelta(0, "hi")]
    assert sum(isinstance(event, BlockOpen) for event in events) == 1


@pytest.mark.spec("XLT-34")
@pytest.mark.parametrize(
    ("stream", "code"),
    [
        (b"", "stream_empty"),
        (b": keepalive\n\n", "stream_empty"),
        (frame(None, choices=[], usage=USAGE) * 2, "stream_empty"),
        (frame({"content": "half"}), "stream_incomplete"),
        (DONE, "stream_empty"),
    ],
)
def test_a_stream_without_terminal_fails(stream: bytes, code: str) -> None:
    last = decoded(stream)[-1]
    assert isinstance(last, Failure)
    assert last.error.vendor_code == code


@pytest.mark.spec("XLT-36")
def test_an_error_frame_ends_the_stream_once() -> None:
    error = b'data: {"error":{"message":"busy","type":"overloaded_error","code":null}}\n\n'
    events = decoded(frame({"content": "x"}) + error + frame({}, "stop") + DONE)
    failures = [event for event in events if isinstance(event, Failure)]
    assert failures == [events[-1]]
    assert failures[0].error.http_status == 503
    assert failures[0].error.message == "busy"


@pytest.mark.spec("XLT-36")
def test_an_error_finish_is_a_failure_and_never_an_answer() -> None:
    events = decoded(frame({"content": "x"}) + frame({}, "error") + DONE)
    assert isinstance(events[-1], Failure)
    assert sum(isinstance(event, Failure | End) for event in events) == 1


@pytest.mark.spec("XLT-36")
def test_an_error_after_the_finish_is_no_failure() -> None:
    events = decoded(frame({"content": "x"}, "stop") + b'data: {"error":{"message":"late"}}\n\n')
    assert end(events).stop.reason is StopReason.END_TURN


@pytest.mark.spec("XLT-117")
def test_bad_frames_are_skipped_until_three_in_a_row() -> None:
    bad = b"data: {nope\n\n"
    good = frame({"content": "x"})
    assert isinstance(decoded(bad * 2 + good + bad * 2 + frame({}, "stop"))[-1], End)
    last = decoded(good + bad * 3 + frame({}, "stop"))[-1]
    assert isinstance(last, Failure)
    assert last.error.vendor_code == "stream_unreadable"


@pytest.mark.spec("XLT-119")
def test_halves_of_a_surrogate_pair_are_joined() -> None:
    def delta(text: str) -> bytes:
        return b'data: {"choices":[{"delta":{"content":"' + text.encode() + b'"}}]}\n\n'

    events = decoded(delta(r"a\ud83d") + delta(r"\ude00b") + delta(r"\ud83d") + frame({}, "stop"))
    assert [event.text for event in events if isinstance(event, BlockDelta)] == ["a", "😀b", "�"]


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    events = decoded(data)
    assert isinstance(events[-1], End | Failure)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "delta",
                    "tool_calls",
                    "function",
                    "index",
                    "id",
                    "usage",
                    "content",
                    "error",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(_json, max_size=4))
def test_no_json_raises(chunks: list[object]) -> None:
    stream = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    assert isinstance(decoded(stream)[-1], End | Failure)
