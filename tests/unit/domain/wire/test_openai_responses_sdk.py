"""What the vendor's own SDK makes of our streams and answers."""

from __future__ import annotations

import httpx2
import pytest
from openai import OpenAI
from openai.types.responses import Response, ResponseFunctionToolCall, ResponseReasoningItem

from services.domain.wire.model import ClientError, ErrorKind
from services.domain.wire.openai_responses import CODEC
from tests.unit.domain.wire.contexts import context
from tests.unit.domain.wire.test_openai_responses_writer import ANSWER, EVENTS


def client(body: bytes, kind: str) -> OpenAI:
    """Return a client whose every request is answered with ``body``."""

    def answered(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=body, headers={"content-type": kind})

    transport = httpx2.Client(transport=httpx2.MockTransport(answered))
    return OpenAI(api_key="none", base_url="http://test", http_client=transport, max_retries=0)


def told(answer: Response) -> list[object]:
    """Return what the SDK understood, without ids."""
    found: list[object] = [answer.output_text, answer.status, answer.model, answer.usage]
    for item in answer.output:
        if isinstance(item, ResponseFunctionToolCall):
            found.append((item.call_id, item.name, item.arguments))
        if isinstance(item, ResponseReasoningItem):
            found.append((item.summary[0].text, item.encrypted_content))
    return found


@pytest.mark.spec("XLT-224")
def test_the_sdk_assembles_the_stream_to_the_whole_answer() -> None:
    sent = CODEC.stream_encoder(context()).feed(EVENTS)
    with client(sent, "text/event-stream").responses.stream(model="m", input="x") as stream:
        kinds = [event.type for event in stream]
        streamed = stream.get_final_response()
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    body = CODEC.encode_response(ANSWER, context())
    whole = client(body, "application/json").responses.create(model="m", input="x")
    assert told(streamed) == told(whole)
    assert whole.output_text == "hibye"
    assert ("c1", "f", '{"x":1}') in told(whole)
    assert ("c2", "g", "{}") in told(whole)
    Response.model_validate_json(body)


@pytest.mark.spec("XLT-145", "XLT-224")
def test_the_sdk_passes_over_a_keepalive_and_its_numbers_go_on() -> None:
    encoder = CODEC.stream_encoder(context())
    assert encoder.keepalive() == b""
    sent = b"".join(encoder.feed([event]) + encoder.keepalive() for event in EVENTS)
    with client(sent, "text/event-stream").responses.stream(model="m", input="x") as stream:
        events = list(stream)
        streamed = stream.get_final_response()
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert sum(str(event.type) == "keepalive" for event in events) == len(EVENTS) - 1
    body = CODEC.encode_response(ANSWER, context())
    whole = client(body, "application/json").responses.create(model="m", input="x")
    assert told(streamed) == told(whole)


@pytest.mark.spec("XLT-138", "XLT-141", "XLT-224")
def test_the_sdk_sees_the_failure_of_a_stream_that_passed() -> None:
    """A frame of another answer's id, or without its number, would be an error of its own."""
    upstream = CODEC.stream_encoder(context()).feed(EVENTS[:7])
    observer = CODEC.observer()
    observer.feed(upstream)
    error = ClientError(ErrorKind.UPSTREAM, "it broke off", request_id="act_1")
    sent = upstream + CODEC.encode_stream_error(error, observer.seen)
    with client(sent, "text/event-stream").responses.stream(model="m", input="x") as stream:
        events = list(stream)
    assert events[-1].type == "response.failed"
    assert [event.sequence_number for event in events] == list(range(len(events)))


@pytest.mark.spec("XLT-224")
def test_the_sdk_sees_a_failure_as_such() -> None:
    encoder = CODEC.stream_encoder(context())
    sent = encoder.feed(EVENTS[:7]) + encoder.fail(ClientError(ErrorKind.OVERLOADED, "busy"))
    with client(sent, "text/event-stream").responses.create(
        model="m", input="x", stream=True
    ) as stream:
        last = list(stream)[-1]
    assert last.type == "response.failed"
    assert last.response.error is not None
    assert last.response.error.message == "busy"
