"""Small streams on which gateways were seen to fail: how an answer ends, and how it fails."""

from __future__ import annotations

import pytest

from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import Failure, Start
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
    decoded,
    failure_of,
    finishes,
    shown,
    streamed,
)

ERROR_MARKS = {
    A: b"event: error\n",
    O: b'data: {"error":',
    R: b"event: response.failed\n",
    G: b'data: {"error":',
}
ENDS = {A: b"message_stop", O: b"[DONE]", R: b"response.completed", G: b'"finishReason"'}
OVERLOADED = messages.frame("error", error={"type": "overloaded_error", "message": "busy"})

HALVES = {
    A: messages.start()
    + messages.text_block(0, "one", "two")
    + messages.opened(1, type="tool_use", id="c1", name="f", input={})
    + messages.delta(1, type="input_json_delta", partial_json='{"a'),
    O: chat.frame({"role": "assistant", "content": "one"}) + chat.call(0, "c1", name="f"),
    R: responses.CREATED
    + responses.event("output_text.delta", output_index=0, content_index=0, delta="one"),
    G: gemini.frame(gemini.text("one")),
}
"""Streams that break off after output."""


@pytest.mark.spec("XLT-34", "XLT-36", "XLT-141")
@pytest.mark.parametrize("upstream", [A, O, R, G])
@pytest.mark.parametrize("client", [A, O, R, G])
def test_a_stream_that_breaks_off_ends_in_one_error(
    client: WireFamily, upstream: WireFamily
) -> None:
    """B-041, B-044, B-107: the client is always told, and never that all is well."""
    raw = streamed(upstream, HALVES[upstream], client)
    assert raw.count(ERROR_MARKS[client]) == 1
    assert ENDS[client] not in raw


@pytest.mark.spec("XLT-36")
@pytest.mark.parametrize("client", [A, O, R, G])
def test_an_error_that_the_upstream_sent_is_not_told_twice(client: WireFamily) -> None:
    """B-041: the close after it adds nothing."""
    raw = streamed(A, HALVES[A] + OVERLOADED + OVERLOADED, client)
    assert raw.count(ERROR_MARKS[client]) == 1


@pytest.mark.spec("XLT-36")
@pytest.mark.parametrize("has_output", [False, True])
@pytest.mark.parametrize("client", [A, O, R, G])
def test_a_failed_answer_is_never_a_clean_empty_one(
    client: WireFamily, *, has_output: bool
) -> None:
    """B-043: before output the upstream's status can still be told, after it the event is."""
    error = {"code": "rate_limit_exceeded", "message": "slow down"}
    words = HALVES[R] if has_output else responses.CREATED
    stream = (
        words
        + responses.event("in_progress", response=responses.answer("in_progress"))
        + responses.terminal(status="failed", error=error)
    )
    failure = failure_of(decoded(R, stream))
    assert failure is not None
    assert failure.http_status == 429
    raw = streamed(R, stream, client)
    assert raw.count(ERROR_MARKS[client]) == 1
    assert ENDS[client] not in raw
    observer = codec_for(R).observer()
    observer.feed(stream)
    assert observer.seen.is_error_first is not has_output


@pytest.mark.spec("XLT-148")
@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("overloaded_error", 529),
        ("rate_limit_error", 429),
        ("authentication_error", 401),
        ("permission_error", 403),
        ("not_found_error", 404),
        ("invalid_request_error", 400),
        ("api_error", 500),
    ],
)
def test_an_error_as_the_first_frame_has_the_status_of_its_kind(kind: str, status: int) -> None:
    """B-046: seen before anything is written, so that another candidate can be tried."""
    observer = codec_for(A).observer()
    observer.feed(messages.frame("error", error={"type": kind, "message": "no"}))
    assert observer.seen.is_error_first
    assert observer.seen.error is not None
    assert observer.seen.error.http_status == status


@pytest.mark.spec("XLT-137")
def test_overload_in_mid_stream_is_told_as_such_and_no_end_follows() -> None:
    """B-047."""
    frames = shown(A, messages.start() + messages.text_block(0, "x") + OVERLOADED, O)
    errors = [frame["error"] for frame in frames if "error" in frame]
    assert [at(error, "code") for error in errors] == ["overloaded"]
    assert frames[-1].get("error")


@pytest.mark.spec("XLT-188")
@pytest.mark.parametrize(
    "reason", ["BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "SAFETY", "RECITATION"]
)
@pytest.mark.parametrize("has_words", [False, True])
def test_a_blocked_answer_is_no_normal_stop(reason: str, *, has_words: bool) -> None:
    """B-094."""
    parts = [gemini.text("hm")] if has_words else []
    body = gemini.answer(*parts, finish=reason)
    stream = gemini.told(body)
    assert at(answered(G, body, O), "choices", 0, "finish_reason") == "content_filter"
    assert answered(G, body, A)["stop_reason"] == "refusal"
    assert finishes(shown(G, stream, O)) == ["content_filter"]
    final = next(f for f in shown(G, stream, A) if f["type"] == "message_delta")
    assert at(final, "delta", "stop_reason") == "refusal"
    assert at(shown(G, stream, R)[-1], "response", "incomplete_details", "reason") == (
        "content_filter"
    )


@pytest.mark.spec("XLT-111", "XLT-188")
def test_a_blocked_prompt_is_a_refusal_and_no_silence() -> None:
    """B-109."""
    body: gemini.Json = {"promptFeedback": {"blockReason": "SAFETY"}}
    assert answered(G, body, A)["stop_reason"] == "refusal"
    assert at(answered(G, body, O), "choices", 0, "finish_reason") == "content_filter"
    assert finishes(shown(G, gemini.told(body), O)) == ["content_filter"]


@pytest.mark.spec("XLT-188")
def test_a_malformed_call_is_no_refusal_and_can_be_tried_again() -> None:
    """B-095."""
    stream = gemini.frame(finish="MALFORMED_FUNCTION_CALL")
    failure = failure_of(decoded(G, stream))
    assert failure is not None
    assert failure.http_status == 502
    observer = codec_for(G).observer()
    observer.feed(stream)
    assert observer.seen.is_error_first
    assert not observer.seen.refusal_seen
    after = gemini.frame(gemini.text("hm")) + stream
    assert finishes(shown(G, after, O)) == ["stop"]


@pytest.mark.spec("XLT-34", "XLT-120")
@pytest.mark.parametrize(
    "frame",
    [
        chat.frame(choices=[], usage={"prompt_tokens": 5, "completion_tokens": 0}),
        b'data: {"usage":{"prompt_tokens":5}}\n\n',
        b": ping\n\n",
        b"",
    ],
)
@pytest.mark.parametrize("end", [b"", chat.DONE])
def test_a_stream_that_says_nothing_is_an_empty_upstream(frame: bytes, end: bytes) -> None:
    """B-113: a failure that can be tried again, and no exception."""
    events = decoded(O, frame * 3 + end)
    assert [type(event) for event in events if isinstance(event, Failure | Start)] == [Failure]
    failure = failure_of(events)
    assert failure is not None
    assert failure.vendor_code == "stream_empty"
    assert failure.http_status == 502


@pytest.mark.spec("XLT-34", "XLT-120")
def test_deltas_without_a_role_are_an_answer() -> None:
    """B-113."""
    stream = chat.frame({"content": "hi"}) + chat.frame(None) + chat.frame({}, "stop") + chat.DONE
    for client in WireFamily:
        assert failure_of(decoded(O, stream)) is None
        assert b"hi" in streamed(O, stream, client)
