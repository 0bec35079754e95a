"""Small streams on which gateways were seen to fail: calls, usage, shapes of frames, bytes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import BlockDelta, BlockOpen, Start, UsageSeen
from tests.unit.domain.wire import anthropic_cases as messages
from tests.unit.domain.wire import gemini_cases as gemini
from tests.unit.domain.wire import openai_chat_cases as chat
from tests.unit.domain.wire import openai_responses_cases as responses
from tests.unit.domain.wire.flows import (
    A,
    G,
    O,
    R,
    answered,
    at,
    calls,
    decoded,
    deltas,
    finishes,
    opened,
    said,
    shown,
    streamed,
    told_whole,
)

if TYPE_CHECKING:
    from services.domain.wire.model import Event

ROLE = chat.frame({"role": "assistant", "content": ""})
STOPPED = chat.frame({}, "tool_calls") + chat.DONE
USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 7,
    "prompt_tokens_details": {"cached_tokens": 900},
}


def usage_frame(usage: object = None) -> bytes:
    """Return a chat frame without choices."""
    return chat.frame(choices=[], usage=USAGE if usage is None else usage)


@pytest.mark.spec("XLT-124")
def test_calls_that_follow_each_other_are_blocks_of_their_own() -> None:
    """B-007."""
    stream = (
        ROLE
        + chat.call(0, "a", name="f", arguments='{"x":1}')
        + chat.call(1, "b", name="g", arguments='{"y":2}')
        + STOPPED
    )
    frames = shown(O, stream, A)
    assert [(at(block, "type"), at(block, "name")) for block in opened(frames)] == [
        ("tool_use", "f"),
        ("tool_use", "g"),
    ]
    assert len({at(block, "id") for block in opened(frames)}) == 2
    assert deltas(frames, "input_json_delta", "partial_json", 0) == '{"x":1}'
    assert deltas(frames, "input_json_delta", "partial_json", 1) == '{"y":2}'
    assert [f["index"] for f in frames if f["type"] == "content_block_stop"] == [0, 1]


@pytest.mark.spec("XLT-124")
def test_alternating_fragments_never_reach_a_block_that_is_closed() -> None:
    """B-008."""
    opening = [
        {"index": 0, "id": "a", "function": {"name": "f"}},
        {"index": 1, "id": "b", "function": {"name": "g"}},
    ]
    parts = [(0, '{"x"'), (1, '{"y"'), (0, ":1}"), (1, ":2}")]
    fragments = b"".join(chat.call(index, None, arguments=part) for index, part in parts)
    frames = shown(O, ROLE + chat.frame({"tool_calls": opening}) + fragments + STOPPED, A)
    current: list[object] = []
    for frame in frames:
        if frame["type"] == "content_block_start":
            assert not current
            current.append(frame["index"])
        elif frame["type"] == "content_block_delta":
            assert current == [frame["index"]]
        elif frame["type"] == "content_block_stop":
            assert current == [frame["index"]]
            current.clear()
    assert deltas(frames, "input_json_delta", "partial_json", 0) == '{"x":1}'
    assert deltas(frames, "input_json_delta", "partial_json", 1) == '{"y":2}'


@pytest.mark.spec("XLT-123")
@pytest.mark.parametrize(
    ("upstream", "stream"),
    [
        (
            O,
            ROLE
            + chat.frame({"content": "I look."})
            + chat.call(0, "a", name="f", arguments='{"x":1}')
            + STOPPED,
        ),
        (
            G,
            gemini.frame(gemini.text("I look."))
            + gemini.frame(gemini.call("f", {"x": 1}), finish="STOP"),
        ),
    ],
)
def test_arguments_of_the_frame_that_opens_a_call_are_shown(
    upstream: WireFamily, stream: bytes
) -> None:
    """B-010."""
    frames = shown(upstream, stream, A)
    assert [at(block, "type") for block in opened(frames)] == ["text", "tool_use"]
    assert json.loads(deltas(frames, "input_json_delta", "partial_json", 1)) == {"x": 1}


@pytest.mark.spec("XLT-124", "XLT-134")
def test_parallel_calls_of_a_responses_stream_count_from_zero() -> None:
    """B-011."""
    items = [responses.call("a", "f", '{"x":1}'), responses.call("b", "g", '{"y":2}')]
    stream = responses.CREATED + b"".join(
        responses.event("output_item.added", output_index=place, item=item)
        + responses.event("output_item.done", output_index=place, item=item)
        for place, item in enumerate(items, 1)
    )
    found = calls(shown(R, stream + responses.terminal(*items), O))
    assert {index: call["arguments"] for index, call in found.items()} == {
        0: '{"x":1}',
        1: '{"y":2}',
    }


@pytest.mark.spec("XLT-122", "XLT-134")
def test_a_fragment_without_index_leaves_with_one() -> None:
    """B-013."""
    stream = (
        ROLE
        + chat.call(None, "a", name="f", arguments='{"x"')
        + chat.call(None, None, arguments=":1}")
        + chat.call(None, "b", name="g", arguments="{}")
        + STOPPED
    )
    found = calls(shown(O, stream, O))
    assert list(found) == [0, 1]
    assert found[0] == {"id": "a", "name": "f", "arguments": '{"x":1}'}


@pytest.mark.spec("XLT-122")
@pytest.mark.parametrize("client", [A, O, R, G])
def test_later_fragments_that_have_only_an_index_are_one_call(client: WireFamily) -> None:
    """B-014."""
    stream = ROLE + chat.call(0, "a", name="f", arguments="")
    stream += b"".join(chat.call(0, None, arguments=part) for part in ('{"x', '":', "1}"))
    events = decoded(client, streamed(O, stream + STOPPED, client))
    words = "".join(event.text for event in events if isinstance(event, BlockDelta))
    assert json.loads(words) == {"x": 1}
    assert sum(isinstance(event, BlockOpen) for event in events) == 1


@pytest.mark.spec("XLT-68", "XLT-123")
@pytest.mark.parametrize("parts", [(), ("",), ("", "")])
def test_a_call_without_arguments_has_an_empty_object(parts: tuple[str, ...]) -> None:
    """B-016, B-017: an empty text would poison the next turn."""
    stream = messages.start() + messages.tool_block(0, "c1", "f", *parts)
    stream += messages.ending("tool_use")
    assert calls(shown(A, stream, O))[0]["arguments"] == "{}"
    frames = shown(A, stream, R)
    assert at(frames[-1], "response", "output", 0, "arguments") == "{}"
    assert at(shown(A, stream, G)[0], *PART, "functionCall", "args") == {}


PART = ("candidates", 0, "content", "parts", 0)


@pytest.mark.spec("XLT-187")
def test_cached_tokens_are_told_alike_streamed_and_whole() -> None:
    """B-022, B-023: cached input is no fresh input."""
    words = {"role": "assistant", "content": "hi"}
    stream = ROLE + chat.frame({"content": "hi"}) + chat.frame({}, "stop") + usage_frame()
    final = next(f for f in shown(O, stream + chat.DONE, A) if f["type"] == "message_delta")
    body = {"choices": [{"index": 0, "message": words, "finish_reason": "stop"}], "usage": USAGE}
    for usage in (final["usage"], answered(O, body, A)["usage"]):
        assert at(usage, "input_tokens") == 100
        assert at(usage, "cache_read_input_tokens") == 900
        assert at(usage, "output_tokens") == 7


@pytest.mark.spec("XLT-132")
def test_usage_behind_the_finish_stands_in_the_one_final_delta() -> None:
    """B-025."""
    stream = ROLE + chat.frame({"content": "hi"}) + chat.frame({}, "stop") + usage_frame()
    frames = shown(O, stream + chat.DONE, A)
    assert [frame["type"] for frame in frames[-2:]] == ["message_delta", "message_stop"]
    assert sum(frame["type"] == "message_delta" for frame in frames) == 1
    assert at(frames[-2], "usage", "output_tokens") == 7


@pytest.mark.spec("XLT-129", "XLT-132")
@pytest.mark.parametrize(
    "usage", [None, {"prompt_tokens": 12, "completion_tokens": 3}], ids=["unknown", "known"]
)
def test_usage_never_opens_at_zero_and_has_its_four_counts(usage: object) -> None:
    """B-026, B-110."""
    last = b"" if usage is None else usage_frame(usage)
    stream = ROLE + chat.frame({"content": "hi"}) + chat.frame({}, "stop") + last + chat.DONE
    frames = shown(O, stream, A)
    counts = [
        at(frames[0], "message", "usage"),
        next(frame["usage"] for frame in frames if frame["type"] == "message_delta"),
    ]
    keys = {
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    }
    for each in counts:
        assert isinstance(each, dict)
        assert keys <= each.keys()
        assert all(isinstance(each[key], int) for key in keys)
        assert each["input_tokens"] > 0


@pytest.mark.spec("XLT-136", "XLT-184")
def test_a_client_that_asked_gets_one_frame_of_usage() -> None:
    """B-028."""
    stream = messages.start() + messages.text_block(0, "hi") + messages.ending(output_tokens=30)
    frames = shown(A, stream, O)
    told = [frame["usage"] for frame in frames if frame.get("usage")]
    assert len(told) == 1
    assert [at(told[0], key) for key in ("prompt_tokens", "completion_tokens", "total_tokens")] == [
        12,
        30,
        42,
    ]
    assert frames[-1] == {"done": True}
    assert frames[-2]["choices"] == []


@pytest.mark.spec("XLT-121", "XLT-136")
@pytest.mark.parametrize("is_wanted", [True, False])
def test_usage_on_the_last_frame_of_content_is_not_lost(*, is_wanted: bool) -> None:
    """B-029."""
    stream = ROLE + chat.frame({"content": "hi"}, "stop", usage=USAGE) + chat.DONE
    frames = shown(O, stream, O, is_usage_wanted=is_wanted)
    told = [frame["usage"] for frame in frames if frame.get("usage")]
    assert [at(usage, "prompt_tokens") for usage in told] == [1000] * is_wanted
    observer = codec_for(O).observer()
    observer.feed(stream)
    assert observer.seen.usage is not None
    assert observer.seen.usage.cache_read == 900


@pytest.mark.spec("XLT-120")
@pytest.mark.parametrize(
    "odd",
    [
        chat.frame(choices=[], usage=USAGE),
        b'data: {"usage":{"prompt_tokens":5,"completion_tokens":1}}\n\n',
        b'data: {"choices":null}\n\n',
        chat.frame(None),
        chat.frame({"content": None, "tool_calls": None, "role": None}),
        chat.frame({"role": "assistant"}, id="", model=""),
    ],
)
@pytest.mark.parametrize("client", [A, O, R, G])
def test_a_frame_that_says_nothing_changes_nothing(client: WireFamily, odd: bytes) -> None:
    """B-031, B-032: in front, in the middle and behind."""
    hi = chat.frame({"content": "hi"})
    plain = streamed(O, ROLE + hi + usage_frame() + chat.frame({}, "stop") + chat.DONE, client)
    for place in range(3):
        pieces = [ROLE, hi, usage_frame()]
        pieces.insert(place, odd)
        stream = b"".join([*pieces, usage_frame(), chat.frame({}, "stop"), chat.DONE])
        raw = streamed(O, stream, client)
        assert b"None" not in raw
        assert spoken(client, raw) == spoken(client, plain)


def spoken(client: WireFamily, raw: bytes) -> list[Event]:
    """Return what a stream says, without its start and the usage on the way."""
    return [e for e in decoded(client, raw) if not isinstance(e, Start | UsageSeen)]


@pytest.mark.spec("XLT-133")
def test_the_first_chunk_names_the_role() -> None:
    """B-034."""
    stream = messages.start() + messages.text_block(0, "hi") + messages.ending()
    frames = shown(A, stream, O)
    assert at(frames[0], "choices", 0, "delta", "role") == "assistant"
    assert said(frames) == "hi"


@pytest.mark.spec("XLT-135")
@pytest.mark.parametrize(
    "ending", [chat.frame({}, "stop"), chat.frame({"content": "!"}, "stop")], ids=["bare", "words"]
)
def test_exactly_one_chunk_has_the_finish(ending: bytes) -> None:
    """B-035."""
    assert finishes(shown(O, ROLE + chat.frame({"content": "hi"}) + ending + chat.DONE, O)) == [
        "stop"
    ]


@pytest.mark.spec("XLT-189")
@pytest.mark.parametrize("finish", ["tool_calls", "stop", "", None])
def test_a_whole_answer_with_a_call_stops_for_it(finish: str | None) -> None:
    """B-037."""
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    answer = answered(O, body, A)
    assert answer["stop_reason"] == "tool_use"
    assert at(answer, "content", 0, "type") == "tool_use"


@pytest.mark.spec("XLT-131", "XLT-189")
def test_no_empty_text_precedes_a_call_and_the_stop_is_for_the_call() -> None:
    """B-038."""
    call = chat.call(0, "a", name="f", arguments="{}")
    frames = shown(O, ROLE + call + chat.frame({}, "stop") + chat.DONE, A)
    assert [at(block, "type") for block in opened(frames)] == ["tool_use"]
    assert next(f["index"] for f in frames if f["type"] == "content_block_start") == 0
    assert at(next(f for f in frames if f["type"] == "message_delta"), "delta", "stop_reason") == (
        "tool_use"
    )


@pytest.mark.spec("XLT-114")
def test_a_whole_answer_that_is_streamed_opens_without_its_end() -> None:
    """B-040."""
    words = {"role": "assistant", "content": "hi"}
    body = {"choices": [{"index": 0, "message": words, "finish_reason": "stop"}], "usage": USAGE}
    frames = told_whole(O, body, A)
    assert at(frames[0], "message", "stop_reason") is None
    assert at(frames[0], "message", "usage", "output_tokens") == 0
    final = next(frame for frame in frames if frame["type"] == "message_delta")
    assert at(final, "delta", "stop_reason") == "end_turn"
    assert at(final, "usage", "output_tokens") == 7


@pytest.mark.spec("XLT-116")
@pytest.mark.parametrize("word", ["語", "\U0001f600", "é"])
@pytest.mark.parametrize("client", [A, O, R, G])
def test_a_cut_inside_a_character_is_invisible(client: WireFamily, word: str) -> None:
    """B-088, B-089: in every upstream's stream."""
    item = responses.said("assistant", word)
    streams = {
        A: messages.start() + messages.text_block(0, word) + messages.ending(),
        O: ROLE + chat.frame({"content": word}) + chat.frame({}, "stop") + chat.DONE,
        R: responses.CREATED
        + responses.event("output_text.delta", output_index=0, content_index=0, delta=word)
        + responses.terminal(item),
        G: gemini.frame(gemini.text(word), finish="STOP"),
    }
    for upstream, stream in streams.items():
        begin = stream.index(word.encode())
        whole = streamed(upstream, stream, client)
        assert word in whole.decode()
        for cut in range(begin, begin + len(word.encode()) + 1):
            assert streamed(upstream, [stream[:cut], stream[cut:]], client) == whole


@pytest.mark.spec("XLT-121")
def test_cumulative_usage_counts_once_and_the_last_wins() -> None:
    """B-109."""
    stream = (
        gemini.frame(gemini.text("a"), usageMetadata={"promptTokenCount": 9})
        + gemini.frame(
            gemini.text("b"), usageMetadata={"promptTokenCount": 9, "candidatesTokenCount": 1}
        )
        + gemini.frame(
            finish="STOP", usageMetadata={"promptTokenCount": 9, "candidatesTokenCount": 5}
        )
    )
    final = next(f for f in shown(G, stream, A) if f["type"] == "message_delta")
    assert at(final, "usage", "input_tokens") == 9
    assert at(final, "usage", "output_tokens") == 5
