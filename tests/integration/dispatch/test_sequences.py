"""Sequences of upstream faults, and what comes of the walk, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import orjson
import pytest

from services.dispatch.model.access import CredentialDenied
from services.dispatch.model.enums import AttemptCause, AttemptOutcome, EndKind, WalkEnd, WalkStep
from services.dispatch.model.outcome import Head
from services.dispatch.model.plan import Budget
from services.domain.vocab import FailureClass, WireFamily
from services.domain.wire.codecs import codec_for
from tests.fakes.clock import FakeClock
from tests.fakes.upstream import Fault
from tests.integration.dispatch.harness import ANTHROPIC, CHAT, standing, throttled

ALWAYS = None


@pytest.mark.spec("DSP-30", "DSP-139")
@pytest.mark.parametrize("is_stream", [True, False])
async def test_one_binding_is_retried_twice_and_then_answers(is_stream: bool) -> None:
    async with standing(ANTHROPIC) as stand:
        fake = stand.providers["p1"][0]
        fake.script(Fault(status=503), times=2)
        answer = await stand.run(stand.order(is_stream=is_stream))
        assert [row.cause for row in answer.started] == [
            AttemptCause.FIRST,
            AttemptCause.RETRY,
            AttemptCause.RETRY,
        ]
        assert [row.wait_s for row in answer.started] == [0, 0.01, 0.02]
        assert answer.tail.record.outcome is AttemptOutcome.SERVED
        assert answer.tail.attempt_count == 3
        assert answer.chunks.count(b"event: message_start") == int(is_stream)
        assert stand.credentials.statuses == [503, 503, 200]


@pytest.mark.spec("DSP-30")
async def test_one_binding_that_stays_down_ends_with_its_own_error() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.providers["p1"][0].script(Fault(status=503, message="down"), times=ALWAYS)
        answer = await stand.run(stand.order())
        failed = answer.unserved
        assert failed.end is WalkEnd.EXHAUSTED
        assert failed.fault.failure_class is FailureClass.UPSTREAM_STATUS
        assert failed.fault.http_status == 503
        assert b"down" in failed.fault.body
        assert failed.rendered_number == 3
        assert len(stand.providers["p1"][0].requests) == 3
        assert [row.kind for row in stand.credentials.endings] == [EndKind.FAILED] * 3


@pytest.mark.spec("DSP-55")
async def test_what_one_dialect_cannot_express_goes_to_a_binding_that_can() -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        order = stand.order(family=CHAT, is_stream=False)
        several = {**orjson.loads(order.body), "n": 2}
        answer = await stand.run(replace(order, body=orjson.dumps(several)))
        assert [row.cause for row in answer.started] == [AttemptCause.FIRST, AttemptCause.HOP]
        assert answer.tail.record.binding.provider == "p2"
        assert not stand.providers["p1"][0].requests


@pytest.mark.spec("DSP-31", "DSP-40")
@pytest.mark.parametrize("status", [429, 404, 402, 500, 529, 408])
async def test_with_a_second_binding_the_walk_hops_at_once(status: int) -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        stand.providers["p1"][0].script(Fault(status=status), times=ALWAYS)
        answer = await stand.run(stand.order(change=throttled))
        head = answer.head
        assert (head.plan_index, head.planned_provider, head.family) == (1, "p1", CHAT)
        assert head.cause is AttemptCause.HOP
        assert [row.step for row in answer.missed] == [WalkStep.HOP]
        assert answer.missed[0].wait_s == 0
        assert len(stand.providers["p1"][0].requests) == 1


@pytest.mark.spec("DSP-40")
async def test_when_no_binding_has_the_model_the_last_404_is_shown() -> None:
    async with standing(CHAT, CHAT) as stand:
        for fake, _ in stand.providers.values():
            fake.script(Fault(status=404), times=ALWAYS)
        answer = await stand.run(stand.order(family=CHAT))
        assert answer.unserved.fault.failure_class is FailureClass.MODEL_NOT_FOUND
        assert answer.unserved.rendered_number == 2
        assert [row.is_model_not_found for row in stand.credentials.endings] == [True, True]


@pytest.mark.spec("DSP-43")
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault(status=400, message="bad knob"), FailureClass.REJECTED),
        (Fault(status=400, message="prompt is too long: 9"), FailureClass.CONTEXT_OVERFLOW),
        (Fault(status=400, message="content policy"), FailureClass.CONTENT_POLICY),
    ],
)
async def test_what_is_wrong_with_the_request_is_asked_once(
    fault: Fault, expected: FailureClass
) -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        stand.providers["p1"][0].script(fault, times=ALWAYS)
        answer = await stand.run(stand.order())
        assert answer.unserved.fault.failure_class is expected
        assert answer.unserved.end is WalkEnd.TERMINAL
        assert len(stand.providers["p1"][0].requests) == 1
        assert not stand.providers["p2"][0].requests


async def test_a_fault_of_the_credential_rotates_before_the_binding_has_failed() -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        stand.credentials.keys = {"p1": ["key-a", "key-b"], "p2": ["key-c"]}
        stand.providers["p1"][0].script(Fault(status=429, retry_after=7), times=ALWAYS)
        answer = await stand.run(stand.order(change=throttled))
        assert [row.step for row in answer.missed] == [WalkStep.ROTATE, WalkStep.HOP]
        assert [row.cause for row in answer.started] == [
            AttemptCause.FIRST,
            AttemptCause.ROTATION,
            AttemptCause.HOP,
        ]
        assert [row.retry_after_s for row in answer.missed] == [7, 7]
        assert [query.tried for query in stand.credentials.queries] == [
            (),
            ("key-a",),
            ("key-a", "key-b"),
            (),
        ]
        keys = [fault.key for fault in stand.providers["p1"][0].requests]
        assert keys == ["key-a", "key-b"]
        assert stand.providers["p2"][0].requests[0].key == "key-c"
        assert answer.tail.record.plan_index == 1
        assert answer.tail.attempt_count == 3


@pytest.mark.spec("CRD-108")
async def test_rotations_do_not_count_as_attempts() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.budget = replace(stand.budget, max_attempts=1)
        stand.credentials.keys = {"p1": [f"key-{i}" for i in range(8)]}
        stand.providers["p1"][0].script(Fault(status=401), times=7)
        answer = await stand.run(stand.order())
        assert answer.tail.attempt_count == 8


@pytest.mark.spec("CRD-108")
async def test_after_rotations_the_whole_attempt_budget_is_left() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.budget = replace(stand.budget, max_attempts=2)
        stand.credentials.keys = {"p1": ["key-a", "key-b"]}
        stand.providers["p1"][0].script(Fault(status=401))
        stand.providers["p1"][0].script(Fault(status=503))
        answer = await stand.run(stand.order())
        assert [row.step for row in answer.missed] == [WalkStep.ROTATE, WalkStep.RETRY]
        assert answer.tail.record.outcome is AttemptOutcome.SERVED


async def test_an_upstreams_own_error_is_shown_rather_than_a_lack_of_credentials() -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        stand.credentials.denials = {
            "p2": CredentialDenied(FailureClass.CREDENTIALS_COOLING, "cooling", retry_after_s=4)
        }
        stand.providers["p1"][0].script(Fault(status=500, message="broken"), times=ALWAYS)
        failed = (await stand.run(stand.order())).unserved
        assert failed.fault.failure_class is FailureClass.UPSTREAM_STATUS
        assert failed.rendered_number == 1
        assert [row.outcome for row in failed.records] == [
            AttemptOutcome.FAILED,
            AttemptOutcome.SKIPPED,
        ]
        assert failed.retry_after_s == 4


@pytest.mark.spec("DSP-36")
async def test_a_short_retry_after_is_waited_for_once_on_a_single_binding() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.providers["p1"][0].script(Fault(status=429, retry_after=0.05), times=2)
        answer = await stand.run(stand.order(change=throttled))
        assert answer.missed[0].wait_s == 0.05
        assert len(answer.missed) == 2
        assert answer.unserved.fault.failure_class is FailureClass.RATE_LIMITED
        assert answer.unserved.retry_after_s == 0.05


@pytest.mark.spec("DSP-36")
async def test_a_long_retry_after_ends_the_walk_and_is_passed_on() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.providers["p1"][0].script(Fault(status=429, retry_after=30), times=ALWAYS)
        answer = await stand.run(stand.order(change=throttled))
        assert len(answer.missed) == 1
        assert answer.unserved.retry_after_s == 30
        assert ("retry-after", "30") in answer.unserved.headers


async def test_an_overload_as_the_first_event_is_a_fault_before_the_commit_point() -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        fault = Fault(error_first=True, error_type="overloaded_error")
        stand.providers["p1"][0].script(fault, times=ALWAYS)
        answer = await stand.run(stand.order())
        assert answer.missed[0].record.failure_class is FailureClass.OVERLOADED
        assert answer.missed[0].record.http_status == 529
        assert answer.head.plan_index == 1
        assert b"overloaded" not in answer.chunks


@pytest.mark.spec("XLT-148")
@pytest.mark.parametrize("family", WireFamily)
async def test_a_first_error_event_is_shown_as_an_error_body(family: WireFamily) -> None:
    async with standing(family) as stand:
        kind = "INVALID_ARGUMENT" if family is WireFamily.GEMINI else "invalid_request_error"
        fault = Fault(error_first=True, error_type=kind, message="no such knob")
        stand.providers["p1"][0].script(fault, times=ALWAYS)
        failed = (await stand.run(stand.order(family=family))).unserved
        assert failed.fault.failure_class is FailureClass.REJECTED
        assert failed.family is family
        assert failed.fault.http_status == 400
        told = codec_for(family).decode_error(400, failed.fault.body)
        assert told.message == "no such knob"


@pytest.mark.spec("DSP-2", "DSP-43")
async def test_after_the_first_output_nothing_is_retried() -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        stand.providers["p1"][0].script(Fault(cut_after=5, chunk_delay=0.01), times=ALWAYS)
        answer = await stand.run(stand.order())
        assert answer.tail.broken is not None
        assert answer.tail.broken.is_error_frame_sent is False
        assert answer.tail.record.outcome is AttemptOutcome.BROKEN
        assert answer.tail.record.failure_class is FailureClass.STREAM_INCOMPLETE
        assert answer.tail.stop is None
        assert not stand.providers["p2"][0].requests


async def test_an_error_event_after_output_is_passed_on_and_told() -> None:
    async with standing(CHAT) as stand:
        stand.providers["p1"][0].script(Fault(error_after=3, chunk_delay=0.01))
        answer = await stand.run(stand.order(family=CHAT))
        assert answer.tail.broken is not None
        assert answer.tail.broken.is_error_frame_sent
        assert b"error" in answer.chunks


@pytest.mark.spec("DSP-16")
async def test_a_provider_that_is_not_configured_is_passed_over() -> None:
    async with standing(ANTHROPIC) as stand:
        answer = await stand.run(stand.order("nowhere", "p1"))
        record = answer.missed[0].record
        assert record.outcome is AttemptOutcome.SKIPPED
        assert record.failure_class is FailureClass.PROVIDER_NOT_CONFIGURED
        assert answer.head.plan_index == 1


@pytest.mark.spec("DSP-15", "DSP-16")
async def test_with_no_configured_provider_nothing_serves() -> None:
    async with standing(ANTHROPIC) as stand:
        answer = await stand.run(stand.order("nowhere"))
        assert answer.unserved.fault.failure_class is FailureClass.PROVIDER_NOT_CONFIGURED
        forced = stand.order("nowhere", change=lambda plan: replace(plan, is_user_forced=True))
        answer = await stand.run(forced)
        assert answer.unserved.fault.failure_class is FailureClass.FORCED_MODEL_UNSERVABLE


@pytest.mark.spec("DSP-200")
async def test_each_attempt_has_its_own_body_in_its_own_dialect() -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        stand.providers["p1"][0].script(Fault(status=500))
        answer = await stand.run(stand.order())
        first = stand.providers["p1"][0].requests[0]
        second = stand.providers["p2"][0].requests[0]
        assert (first.path, first.model) == ("/v1/messages", "p1-model")
        assert (second.path, second.model) == ("/v1/chat/completions", "p2-model")
        assert first.headers["anthropic-version"] == "2023-06-01"
        assert "anthropic-version" not in second.headers
        assert isinstance(answer.parts[3], Head)


@pytest.mark.spec("DSP-35")
async def test_waits_pass_on_the_given_clock_alone() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.clock = clock = FakeClock()
        stand.budget = Budget()
        stand.providers["p1"][0].script(Fault(status=503), times=2)
        task = asyncio.create_task(stand.run(stand.order()))
        for wait_s in (0.25, 0.5):
            await until(lambda: clock.sleeper_count == 1)
            clock.advance(wait_s)
        answer = await task
        assert [row.wait_s for row in answer.started] == [0, 0.25, 0.5]
        assert answer.tail.pre_commit_s == 0.75


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - the fake clock tells nobody of sleepers
            await asyncio.sleep(0.005)
