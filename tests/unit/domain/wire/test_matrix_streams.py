"""Streams under way: cuts between bytes, failures, ends that never come, and what they cost."""

from __future__ import annotations

import json
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import End, Failure, Start, UpstreamError
from tests.unit.domain.wire import (
    anthropic_cases,
    gemini_cases,
    openai_chat_cases,
    openai_responses_cases,
)
from tests.unit.domain.wire.matrix_cases import StreamWay, events_of, streamed
from tests.unit.domain.wire.recorded import FAMILIES, PAIRS, answers_of, streamed_answer
from tests.unit.domain.wire.recorded.answers import ANSWERS, FAILURES, WORDS
from tests.unit.domain.wire.recorded.clients import read_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.unit.domain.wire.openai_responses_cases import Json

A, O = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT  # noqa: E741 - the names of the matrix
R, G = WireFamily.OPENAI_RESPONSES, WireFamily.GEMINI

FOREIGN = [(client, upstream) for client, upstream in PAIRS if client is not upstream]
by_pair = pytest.mark.parametrize(("client", "upstream"), PAIRS)
by_upstream = pytest.mark.parametrize("upstream", FAMILIES)
STREAMS = [
    pytest.param(upstream, case, id=f"{upstream.value}-{case}")
    for upstream in FAMILIES
    for case in answers_of(upstream, "sse")
]
RICH: Mapping[WireFamily, str] = {
    A: "signed_thinking",
    O: "interleaved_tools",
    R: "signed_thinking",
    G: "signed_thinking",
}
"""The recorded stream of each upstream that is cut everywhere."""
FIRST_ERRORS = {
    A: UpstreamError(529, "overloaded_error", "", "Overloaded"),
    O: UpstreamError(500, "server_error", "server_error", "The server had an error."),
    R: UpstreamError(500, "server_error", "server_error", "The server had an error."),
    G: UpstreamError(503, "UNAVAILABLE", "", "The model is overloaded."),
}
HUGE = "é" * (5 * 1024 * 1024 // 2)
"""5 MiB of text in the arguments of one call."""


def frames_of(upstream: WireFamily, case: str) -> list[bytes]:
    """Return the frames of a recorded stream, each with its blank line."""
    end = b"\r\n\r\n" if upstream is G else b"\n\n"
    return [part + end for part in streamed_answer(upstream, case).split(end)[:-1]]


@pytest.mark.spec("XLT-116", "XLT-223", "XLT-225")
@by_upstream
def test_no_cut_of_an_upstream_is_visible(upstream: WireFamily) -> None:
    """B-088 and B-089: the stream in two pieces, cut at every byte."""
    stream = streamed_answer(upstream, RICH[upstream])
    told = events_of(upstream, [stream])
    assert isinstance(told[-1], End)
    for at in range(1, len(stream)):
        assert events_of(upstream, [stream[:at], stream[at:]]) == told


@pytest.mark.spec("XLT-116", "XLT-225")
@by_pair
def test_a_client_sees_no_cut_either(client: WireFamily, upstream: WireFamily) -> None:
    stream = streamed_answer(upstream, RICH[upstream])
    pieces = [stream[at : at + 1] for at in range(len(stream))]
    assert streamed(client, upstream, *pieces) == streamed(client, upstream, stream)


@pytest.mark.spec("XLT-42", "XLT-223")
@pytest.mark.parametrize(("upstream", "case"), STREAMS)
def test_the_tap_and_the_decoder_see_the_same(upstream: WireFamily, case: str) -> None:
    observer = codec_for(upstream).observer()
    observer.feed(streamed_answer(upstream, case))
    observer.finish()
    seen, last = observer.seen, events_of(upstream, [streamed_answer(upstream, case)])[-1]
    assert seen.has_terminal
    if isinstance(last, Failure):
        assert seen.error == last.error
    else:
        assert isinstance(last, End)
        assert (seen.usage, seen.stop) == (last.usage, last.stop)
        is_half_seen = case == "length_in_call" and upstream is not G
        assert seen.tool_calls == len(ANSWERS[case].calls) + is_half_seen


@pytest.mark.spec("XLT-36", "XLT-137", "XLT-141", "XLT-144", "XLT-223")
@by_pair
def test_a_failure_after_output_is_the_clients_own_error(
    client: WireFamily, upstream: WireFamily
) -> None:
    """B-043, B-044 and B-047: what was said before it is kept."""
    told = read_stream(client, streamed(client, upstream, streamed_answer(upstream, "failure")))
    assert told.error == FAILURES[upstream][client]
    assert told.text
    assert WORDS.startswith(told.text)


@pytest.mark.spec("XLT-148", "XLT-223")
@by_upstream
def test_a_failure_before_output_is_known_as_such(upstream: WireFamily) -> None:
    """B-046: another candidate may serve, for nothing was committed."""
    stream = streamed_answer(upstream, "failure_first")
    observer = codec_for(upstream).observer()
    observer.feed(stream)
    assert observer.seen.is_error_first
    assert not observer.seen.has_output
    *before, failure = events_of(upstream, [stream])
    assert isinstance(failure, Failure)
    assert failure.error == observer.seen.error == FIRST_ERRORS[upstream]
    assert all(isinstance(event, Start) for event in before)


@pytest.mark.spec("XLT-34", "XLT-36", "XLT-223")
@by_pair
def test_a_stream_that_breaks_off_anywhere_ends_in_one_error(
    client: WireFamily, upstream: WireFamily
) -> None:
    """B-041, B-107 and B-113: nor does it ever look complete."""
    frames = frames_of(upstream, "one_tool")
    # One dialect has both a terminal and a mark behind it; the terminal alone is enough.
    is_enough = len(frames) - 2 if upstream is O else len(frames) - 1
    for count in range(1, is_enough):
        told = read_stream(client, streamed(client, upstream, *frames[:count]))
        assert told.error, count


@pytest.mark.spec("XLT-34", "XLT-223")
@by_upstream
@pytest.mark.parametrize("sent", [b"", b": comment\n\n", b"\n\n"])
def test_an_empty_stream_is_told_apart(upstream: WireFamily, sent: bytes) -> None:
    (failure,) = events_of(upstream, [sent])
    assert isinstance(failure, Failure)
    assert failure.error.vendor_code == "stream_empty"


@pytest.mark.spec("XLT-36", "XLT-225")
@pytest.mark.parametrize(("client", "upstream"), FOREIGN)
@given(data=st.data())
@settings(max_examples=15)
def test_frames_in_any_order_never_break_the_grammar_of_the_client(
    client: WireFamily, upstream: WireFamily, data: st.DataObject
) -> None:
    """One error or one end, never both, whatever an upstream sends."""
    first, *rest = [f for case in ("one_tool", "failure") for f in frames_of(upstream, case)]
    chosen = data.draw(st.lists(st.sampled_from(rest), max_size=8))
    told = read_stream(client, streamed(client, upstream, first, *chosen))
    assert bool(told.error) != bool(told.stop)


def huge_call(upstream: WireFamily) -> bytes:
    """Return a stream with one call of 5 MiB."""
    arguments = json.dumps({"text": HUGE}, ensure_ascii=False)
    parts = [arguments[at : at + 65536] for at in range(0, len(arguments), 65536)]
    return _HUGE_CALLS[upstream](arguments, parts)


def _huge_message(_: str, parts: list[str]) -> bytes:
    call = anthropic_cases.tool_block(0, "c1", "f", *parts)
    return anthropic_cases.start() + call + anthropic_cases.ending("tool_use")


def _huge_completion(_: str, parts: list[str]) -> bytes:
    opening = openai_chat_cases.call(0, "c1", name="f", arguments="")
    rest = b"".join(openai_chat_cases.call(0, None, arguments=part) for part in parts)
    end = openai_chat_cases.frame({}, "tool_calls", usage={"prompt_tokens": 1})
    return opening + rest + end + openai_chat_cases.DONE


def _huge_response(arguments: str, parts: list[str]) -> bytes:
    event = openai_responses_cases.event
    item = openai_responses_cases.call("c1", "f", arguments, id="fc_1")
    added = event("output_item.added", output_index=0, item={**item, "arguments": ""})
    place: Json = {"item_id": "fc_1", "output_index": 0}
    deltas = (event("function_call_arguments.delta", **place, delta=part) for part in parts)
    end = openai_responses_cases.terminal(item, usage={"input_tokens": 1})
    return openai_responses_cases.CREATED + added + b"".join(deltas) + end


def _huge_content(_: str, __: list[str]) -> bytes:
    call = gemini_cases.call("f", {"text": HUGE})
    return gemini_cases.frame(call, finish="STOP", usageMetadata={"promptTokenCount": 1})


_HUGE_CALLS: Mapping[WireFamily, Callable[[str, list[str]], bytes]] = {
    A: _huge_message,
    O: _huge_completion,
    R: _huge_response,
    G: _huge_content,
}


@pytest.mark.spec("XLT-223")
@pytest.mark.parametrize(("upstream", "client"), [(A, O), (O, R), (R, G), (G, A)])
def test_huge_arguments_arrive_whole(upstream: WireFamily, client: WireFamily) -> None:
    told = read_stream(client, streamed(client, upstream, huge_call(upstream)))
    assert told.calls == (("f", {"text": HUGE}),)


def endless_text(upstream: WireFamily, frames: int) -> Iterator[bytes]:
    """Yield frames of 1 KiB of text, without an end."""
    words = "x" * 1024
    if upstream is A:
        yield anthropic_cases.start() + anthropic_cases.opened(0, type="text", text="")
        made = anthropic_cases.delta(0, type="text_delta", text=words)
    elif upstream is O:
        made = openai_chat_cases.frame({"content": words})
    elif upstream is R:
        yield openai_responses_cases.CREATED
        place: Json = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
        made = openai_responses_cases.event("output_text.delta", **place, delta=words)
    else:
        made = gemini_cases.frame(gemini_cases.text(words))
    for _ in range(frames):
        yield made


KEPT_CHARS = {A: 0, O: 0, R: 1, G: 0}
"""How often a dialect must keep what was said: a Responses terminal tells all of it again."""


@pytest.mark.spec("XLT-226")
@by_pair
def test_memory_does_not_grow_with_a_stream(client: WireFamily, upstream: WireFamily) -> None:
    """Beyond the words that a dialect repeats at its end, frames leave nothing behind."""
    frames = 256
    way = StreamWay(client, upstream)
    for chunk in endless_text(upstream, 4):
        way.feed(chunk)
    tracemalloc.start()
    try:
        for chunk in endless_text(upstream, frames):
            way.feed(chunk)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    said = frames * 1024
    repeats = KEPT_CHARS[client] + KEPT_CHARS[upstream]
    assert kept < repeats * said + 48 * 1024
    assert peak < repeats * said + 96 * 1024
