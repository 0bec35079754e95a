"""What one attempt gives up when its endpoint refuses it, and what is kept of that."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from services.dispatch.model.enums import AttemptOutcome
from services.domain.vocab import FailureClass, WireFamily
from tests.fakes.clock import FakeClock
from tests.fakes.upstream import Fault, Match
from tests.integration.dispatch.harness import CHAT, MODEL, Stand, standing

RESPONSES = WireFamily.OPENAI_RESPONSES
NO_SUCH_PATH = Fault(status=404, body={"detail": "Not Found"})
STREAMED = pytest.mark.parametrize("is_stream", [True, False])


def paths(stand: Stand) -> list[str]:
    return [request.path for request in stand.providers["p1"][0].requests]


@pytest.mark.spec("DSP-62", "DSP-143", "DSP-225")
@STREAMED
async def test_an_endpoint_without_responses_answers_on_chat_and_is_remembered(
    is_stream: bool,
) -> None:
    async with standing(RESPONSES) as stand:
        stand.clock = FakeClock()
        fake = stand.providers["p1"][0]
        fake.script(NO_SUCH_PATH, match=Match(path="responses"), times=None)
        order = stand.order(family=RESPONSES, is_stream=is_stream)
        answer = await stand.run(order)
        assert paths(stand) == ["/v1/responses", "/v1/chat/completions"]
        assert answer.head.family is CHAT
        record = answer.tail.record
        assert (record.outcome, record.send_count, record.number) == (AttemptOutcome.SERVED, 2, 1)
        assert (answer.tail.attempt_count, answer.tail.dropped_feature) == (1, "responses_api")
        assert stand.credentials.statuses == [404, 200]
        again = await stand.run(order)
        assert again.head.family is CHAT
        assert paths(stand)[2:] == ["/v1/chat/completions"]
        stand.clock.advance(3600)
        await stand.run(order)
        assert paths(stand)[3] == "/v1/responses"


async def test_an_endpoint_that_has_neither_is_not_remembered() -> None:
    async with standing(RESPONSES) as stand:
        stand.providers["p1"][0].script(NO_SUCH_PATH, times=None)
        order = stand.order(family=RESPONSES)
        for _ in range(2):
            assert (await stand.run(order)).unserved.fault.http_status == 404
        assert paths(stand) == ["/v1/responses", "/v1/chat/completions"] * 2


async def test_the_record_of_an_attempt_tells_its_last_send_only() -> None:
    async with standing(RESPONSES) as stand:
        fake = stand.providers["p1"][0]
        fake.script(NO_SUCH_PATH, match=Match(path="responses"))
        fake.script(Fault(drop=True), match=Match(path="chat"), times=None)
        answer = await stand.run(stand.order(family=RESPONSES))
        record = answer.missed[0].record
        assert (record.failure_class, record.send_count) == (FailureClass.TRANSPORT, 2)
        assert (record.http_status, record.upstream_request_id) == (None, "")


@pytest.mark.spec("DSP-63")
async def test_a_refused_parameter_is_dropped_and_left_out_from_then_on() -> None:
    async with standing(CHAT) as stand:
        fake = stand.providers["p1"][0]
        refusal = Fault(
            status=400, error_type="invalid_request_error", message="unknown field `seed`"
        )
        fake.script(refusal)
        order = stand.order(family=CHAT, is_stream=False)
        body = {**orjson.loads(order.body), "seed": 7, "max_tokens": 20}
        order = replace(order, body=orjson.dumps(body))
        answer = await stand.run(order)
        await stand.run(order)
        assert ["seed" in request.json for request in fake.requests] == [True, False, False]
        assert [row.code for row in answer.head.transforms] == ["refused_parameter"]
        assert answer.tail.dropped_feature == "seed"


async def test_a_limit_that_a_model_calls_otherwise_is_renamed() -> None:
    async with standing(CHAT) as stand:
        fake = stand.providers["p1"][0]
        error = {
            "error": {
                "message": "Unsupported parameter: 'max_tokens' is not supported with this model.",
                "type": "invalid_request_error",
                "param": "max_tokens",
                "code": "unsupported_parameter",
            }
        }
        fake.script(Fault(status=400, body=error))
        order = stand.order(family=CHAT, is_stream=False)
        body = {**orjson.loads(order.body), "max_tokens": 20}
        await stand.run(replace(order, body=orjson.dumps(body)))
        assert fake.requests[0].json["max_tokens"] == 20
        assert fake.requests[1].json["max_completion_tokens"] == 20
        assert "max_tokens" not in fake.requests[1].json


async def test_what_does_not_help_is_shown_as_it_is() -> None:
    async with standing(CHAT) as stand:
        fake = stand.providers["p1"][0]
        fake.script(Fault(status=400, message="unknown field `seed`"), times=None)
        order = stand.order(family=CHAT, is_stream=False)
        order = replace(order, body=orjson.dumps({**orjson.loads(order.body), "seed": 7}))
        failed = (await stand.run(order)).unserved
        assert failed.fault.http_status == 400
        assert [request.model for request in fake.requests] == ["p1-model"] * 2
        assert MODEL not in [request.model for request in fake.requests]
        assert failed.records[0].send_count == 2


@pytest.mark.spec("DSP-142")
async def test_an_alias_that_is_edited_leaves_behind_what_was_learned_of_the_model() -> None:
    async with standing(CHAT) as stand:
        stand.credentials.keys = {"p1": ["key-of-p1"]}
        stand.credentials.aliases = {"p1": "old-name"}
        refusal = Fault(status=400, message="unknown parameter: seed")
        stand.providers["p1"][0].script(refusal, match=Match(model="^old-name$"), times=1)
        order = stand.order(family=CHAT, is_stream=False)
        order = replace(order, body=orjson.dumps({**orjson.loads(order.body), "seed": 7}))
        for _ in range(2):
            await stand.run(order)
        stand.credentials.aliases = {"p1": "new-name"}
        await stand.run(order)
        told = [(r.json["model"], "seed" in r.json) for r in stand.providers["p1"][0].requests]
        kept = ("old-name", False)
        assert told == [("old-name", True), kept, kept, ("new-name", True)]
