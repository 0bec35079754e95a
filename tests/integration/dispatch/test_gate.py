"""The gate before a stream that may turn into a cyber refusal: what it holds, and when it opens."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from services.dispatch.model.enums import AttemptCause, AttemptOutcome
from services.dispatch.model.plan import Plan, RescueFlags
from services.domain.vocab import WireFamily
from tests.fakes.upstream import Fault
from tests.integration.dispatch.harness import ANTHROPIC, Stand, rescue, standing

RESPONSES = WireFamily.OPENAI_RESPONSES
PHRASE = "this was flagged for possible cybersecurity risk"
RESPONSE = {"id": "resp_1", "object": "response", "model": "p1-model", "output": []}


def event(kind: str, **members: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n".encode()


BOOKKEEPING = b"".join(
    event(f"response.{kind}", response={**RESPONSE, "status": "in_progress"})
    for kind in ("created", "queued", "in_progress")
)
REFUSAL = event("error", code="cyber_policy", message=PHRASE, param=None)
WORDS = event("response.output_text.delta", output_index=0, content_index=0, delta="hello")
DONE = event("response.completed", response={**RESPONSE, "status": "completed"})


def gated(plan: Plan) -> Plan:
    targets = (rescue(AttemptCause.CYBER_REFUSAL, "p2"),)
    return replace(plan, rescues=targets, rescue_flags=RescueFlags(is_cyber_retry_enabled=True))


def says(stand: Stand, provider: str, body: bytes, delay: float = 0.0) -> None:
    fault = Fault(body=body, content_type="text/event-stream", chunk_delay=delay)
    stand.providers[provider][0].script(fault)


@pytest.mark.spec("DSP-101")
async def test_bookkeeping_before_a_refusal_is_swallowed_with_it() -> None:
    async with standing(RESPONSES, ANTHROPIC) as stand:
        says(stand, "p1", BOOKKEEPING + REFUSAL + WORDS + DONE, delay=0.05)
        answer = await stand.run(stand.order("p1", family=RESPONSES, change=gated))
        assert answer.head.binding.provider == "p2"
        assert b"resp_1" not in answer.chunks
        assert b"hello" not in answer.chunks


@pytest.mark.spec("DSP-101")
async def test_what_was_held_is_released_in_order_by_the_first_output() -> None:
    async with standing(RESPONSES, ANTHROPIC) as stand:
        said = BOOKKEEPING + WORDS + REFUSAL
        says(stand, "p1", said, delay=0.05)
        answer = await stand.run(stand.order("p1", family=RESPONSES, change=gated))
        assert answer.chunks == said
        assert answer.tail.refusal_seen
        assert len(answer.started) == 1


@pytest.mark.spec("DSP-102")
async def test_the_gate_opens_after_a_mebibyte() -> None:
    async with standing(RESPONSES, ANTHROPIC) as stand:
        frame = event("response.in_progress", response={**RESPONSE, "padding": "x" * 60_000})
        said = BOOKKEEPING + frame * 40 + WORDS + DONE
        says(stand, "p1", BOOKKEEPING + frame * 40 + REFUSAL)
        opened = await stand.run(stand.order("p1", family=RESPONSES, change=gated))
        assert opened.head.binding.provider == "p1"
        assert opened.tail.refusal_seen
        says(stand, "p1", said)
        whole = await stand.run(stand.order("p1", family=RESPONSES, change=gated))
        assert whole.chunks == said


@pytest.mark.spec("DSP-105")
async def test_the_refusal_of_the_rescue_itself_passes_as_it_came() -> None:
    async with standing(RESPONSES, RESPONSES) as stand:
        says(stand, "p1", BOOKKEEPING + REFUSAL)
        later = BOOKKEEPING + WORDS + REFUSAL
        says(stand, "p2", later)
        answer = await stand.run(stand.order("p1", family=RESPONSES, change=gated))
        assert [row.cause for row in answer.started] == [
            AttemptCause.FIRST,
            AttemptCause.CYBER_REFUSAL,
        ]
        assert answer.chunks == later
        assert answer.tail.record.outcome is not AttemptOutcome.SKIPPED
