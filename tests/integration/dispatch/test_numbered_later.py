"""The numbered sequences S13 to S24 of faults, walk by walk, over real sockets.

Each is played for clients of every dialect, for streams and for whole answers unless it is about a
stream.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

import pytest

from services.dispatch.model.access import CredentialDenied
from services.dispatch.model.enums import AttemptCause, AttemptOutcome, WalkStep
from services.dispatch.model.plan import Budget, Plan
from services.domain.vocab import FailureClass, WireFamily
from tests.fakes.clock import FakeClock
from tests.fakes.upstream import Fault, Match
from tests.integration.dispatch.harness import (
    ANTHROPIC,
    CHAT,
    SHORT,
    rescue,
    rescued_by,
    standing,
    throttled,
)
from tests.integration.dispatch.numbered import (
    CELLS,
    FIRST,
    RETRY,
    SIBLING,
    STREAMED,
    Cell,
    causes,
    fail,
    sends,
    timed,
)
from tests.integration.dispatch.test_fast import FULL, fast, selling
from tests.integration.dispatch.test_rescues import gated
from tests.integration.dispatch.test_sequences import until

RESPONSES = WireFamily.OPENAI_RESPONSES
REFUSAL = "this was flagged for possible cybersecurity risk"
START_AND_PINGS = (
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message",'
    b'"role":"assistant","content":[],"model":"p1-model","stop_reason":null,"stop_sequence":null,'
    b'"usage":{"input_tokens":1,"output_tokens":1}}}\n\n'
    + b'event: ping\ndata: {"type": "ping"}\n\n'
    * 60
)


@pytest.mark.spec("DSP-100", "DSP-103")
@CELLS
async def test_s13_a_refusal_before_output_is_one_clean_turn_of_another_vendor(cell: Cell) -> None:
    async with standing(RESPONSES, ANTHROPIC, ANTHROPIC) as stand:
        within = Fault(error_after=1, error_type="cyber_policy", message=REFUSAL)
        fail(stand, "p1", within if cell.is_stream else Fault(status=400, message=REFUSAL))
        answer = await stand.run(cell.order(stand, "p1", change=gated))
        assert causes(answer) == [FIRST, AttemptCause.CYBER_REFUSAL]
        assert b"flagged" not in answer.chunks
        assert answer.tail.record.binding.provider == "p2"


@pytest.mark.spec("DSP-108")
@STREAMED
async def test_s14_a_refusal_after_output_passes_as_sent(cell: Cell) -> None:
    async with standing(RESPONSES, ANTHROPIC, ANTHROPIC) as stand:
        fail(stand, "p1", Fault(error_after=6, error_type="x", message=REFUSAL, chunks=8))
        answer = await stand.run(cell.order(stand, "p1", change=gated))
        assert causes(answer) == [FIRST]
        assert REFUSAL.encode() in answer.chunks
        assert answer.tail.refusal_seen


async def overloaded(cell: Cell, fault: Fault) -> None:
    """Play an overload for ever at the only provider, with a sibling at another."""
    async with standing(ANTHROPIC, CHAT) as stand:
        fail(stand, "p1", fault)
        change = rescued_by(rescue(SIBLING, "p2"))
        answer = await timed(stand, lambda: cell.order(stand, "p1", change=change), (0.25, 0.5))
        assert causes(answer) == [FIRST, RETRY, RETRY, SIBLING]
        assert [row.record.http_status for row in answer.missed] == [529] * 3
        assert [row.if_rescued for row in answer.missed] == [None] * 3


@pytest.mark.spec("DSP-110", "DSP-252")
@CELLS
async def test_s15_an_overload_ends_at_the_sibling(cell: Cell) -> None:
    await overloaded(cell, Fault(status=529))


@pytest.mark.spec("DSP-110", "DSP-252")
@STREAMED
async def test_s23_an_overload_inside_a_stream_before_output_ends_there_too(cell: Cell) -> None:
    await overloaded(cell, Fault(error_first=True, error_type="overloaded_error"))


@pytest.mark.spec("DSP-2")
@STREAMED
async def test_s16_a_reset_after_the_first_output_is_told_and_not_retried(cell: Cell) -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        fail(stand, "p1", Fault(cut_after=5, chunk_delay=0.01))
        answer = await stand.run(cell.order(stand))
        assert b"alpha" in answer.chunks
        assert answer.tail.record.outcome is AttemptOutcome.BROKEN
        assert sends(stand, "p2") == 0


BOOKKEEPING = pytest.mark.parametrize(
    ("family", "fault"),
    [
        (CHAT, Fault(stall_after=1, stall=20)),
        (RESPONSES, Fault(stall_after=2, stall=20)),
        (
            ANTHROPIC,
            Fault(body=START_AND_PINGS, content_type="text/event-stream", chunk_delay=0.05),
        ),
    ],
    ids=["s17-chat", "s17-responses", "s17b-messages"],
)


@pytest.mark.spec("DSP-134", "DSP-182", "DSP-185")
@BOOKKEEPING
@STREAMED
async def test_s17_bookkeeping_alone_is_rescued_while_it_is_held(
    cell: Cell, family: WireFamily, fault: Fault
) -> None:
    async with standing(family, CHAT) as stand:
        stand.limits = replace(SHORT, idle_s=5, first_output_s=0.2, hold_s=5)
        stand.budget = replace(stand.budget, same_binding_s=0.1)
        fail(stand, "p1", fault)
        order = cell.order(stand, "p1", change=rescued_by(rescue(SIBLING, "p2")))
        answer = await stand.run(order)
        assert causes(answer) == [FIRST, SIBLING]
        assert answer.missed[0].record.failure_class is FailureClass.STALL
        assert answer.chunks.count(b"data: [DONE]") == 1


@pytest.mark.spec("DSP-134", "DSP-182", "DSP-185")
@BOOKKEEPING
@STREAMED
async def test_s17_bookkeeping_that_was_let_go_ends_in_an_error_in_time(
    cell: Cell, family: WireFamily, fault: Fault
) -> None:
    async with standing(family, CHAT) as stand:
        stand.limits = replace(SHORT, idle_s=5, first_output_s=0.2, hold_s=0.05)
        fail(stand, "p1", fault)
        order = cell.order(stand, "p1", change=rescued_by(rescue(SIBLING, "p2")))
        answer = await stand.run(order)
        assert answer.tail.broken is not None
        assert answer.tail.record.failure_class is FailureClass.STALL
        assert sends(stand, "p2") == 0


@pytest.mark.spec("DSP-3", "DSP-190")
@CELLS
async def test_s18_a_client_that_leaves_during_the_wait_starts_nothing_more(cell: Cell) -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        stand.clock = clock = FakeClock()
        stand.budget = Budget()
        fail(stand, "p1", Fault(status=503))
        order = cell.order(stand, "p1", change=rescued_by(rescue(SIBLING, "p2")))
        task = asyncio.create_task(stand.run(order))
        await until(lambda: clock.sleeper_count == 1)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        clock.advance(60)
        await asyncio.sleep(0.05)
        assert (sends(stand, "p1"), sends(stand, "p2")) == (1, 0)


@pytest.mark.spec("DSP-36", "TRN-68")
@pytest.mark.parametrize("has_sibling", [True, False])
@CELLS
async def test_s19_a_long_retry_after_goes_to_the_sibling_or_to_the_client(
    cell: Cell,
    has_sibling: bool,
) -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        fail(stand, "p1", Fault(status=429, retry_after=30))
        rescues = (rescue(SIBLING, "p2"),) if has_sibling else ()

        def change(plan: Plan) -> Plan:
            return throttled(replace(plan, rescues=rescues))

        answer = await timed(stand, lambda: cell.order(stand, "p1", change=change), ())
        assert sends(stand, "p1") == 1
        if has_sibling:
            assert answer.head.cause is SIBLING
        else:
            assert answer.unserved.fault.http_status == 429
            assert ("retry-after", "30") in answer.unserved.headers


@pytest.mark.spec("DSP-36", "TRN-68")
@pytest.mark.parametrize("has_sibling", [True, False])
@CELLS
async def test_s20_a_short_retry_after_is_honoured_once(cell: Cell, has_sibling: bool) -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        fail(stand, "p1", Fault(status=429, retry_after=8))
        rescues = (rescue(SIBLING, "p2"),) if has_sibling else ()

        def change(plan: Plan) -> Plan:
            return throttled(replace(plan, rescues=rescues))

        answer = await timed(stand, lambda: cell.order(stand, "p1", change=change), (8.0,))
        assert sends(stand, "p1") == 2
        assert causes(answer) == [FIRST, RETRY, *[SIBLING] * has_sibling]


@pytest.mark.spec("DSP-62", "DSP-143")
@CELLS
async def test_s21_an_endpoint_without_responses_is_asked_on_chat_and_then_directly(
    cell: Cell,
) -> None:
    async with standing(RESPONSES) as stand:
        fake = stand.providers["p1"][0]
        gone = Fault(status=404, body={"detail": "Not Found"})
        fake.script(gone, match=Match(path="responses"), times=None)
        answer = await stand.run(cell.order(stand))
        await stand.run(cell.order(stand))
        chat = "/v1/chat/completions"
        assert [request.path for request in fake.requests] == ["/v1/responses", chat, chat]
        assert answer.tail.attempt_count == 1


@pytest.mark.spec("DSP-60", "DSP-232")
@CELLS
async def test_s22_a_fast_send_without_quota_is_served_on_the_plain_tier(cell: Cell) -> None:
    async with standing(ANTHROPIC) as stand:
        selling(stand)
        fail(stand, "p1", FULL, times=1)
        answer = await timed(stand, lambda: cell.order(stand, change=fast), ())
        told = [request.json.get("speed") for request in stand.providers["p1"][0].requests]
        assert told == ["fast", None]
        assert causes(answer) == [FIRST]
        assert (answer.head.is_fast_tier, answer.tail.record.is_fast_tier) == (False, False)


@pytest.mark.spec("DSP-254")
@pytest.mark.parametrize("is_last_down", [True, False])
@CELLS
async def test_s24_of_cooling_targets_the_soonest_to_end_serves_or_the_plans_error_is_shown(
    cell: Cell,
    is_last_down: bool,
) -> None:
    async with standing(ANTHROPIC, CHAT, CHAT) as stand:
        fail(stand, "p1", Fault(status=404, message="the plan's own words"))
        if is_last_down:
            fail(stand, "p2", Fault(status=404))
            fail(stand, "p3", Fault(status=404))
        change = rescued_by(
            rescue(SIBLING, "p2", is_cooling=True, cooldown_end_unix_s=50.0),
            rescue(SIBLING, "p3", is_cooling=True, cooldown_end_unix_s=40.0),
        )
        answer = await stand.run(cell.order(stand, "p1", change=change))
        tried = [row.binding.provider for row in answer.started]
        assert tried == (["p1", "p3", "p2"] if is_last_down else ["p1", "p3"])
        if is_last_down:
            assert b"the plan's own words" in answer.unserved.fault.body


@pytest.mark.spec("DSP-110")
@pytest.mark.parametrize("is_sibling_denied", [True, False])
async def test_a_plan_whose_credentials_rest_goes_to_the_sibling_or_says_so(
    is_sibling_denied: bool,
) -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        cooling = CredentialDenied(FailureClass.CREDENTIALS_COOLING, "cooling", retry_after_s=9)
        stand.credentials.denials = {"p1": cooling}
        if is_sibling_denied:
            soon = CredentialDenied(FailureClass.CREDENTIALS_COOLING, "cooling", retry_after_s=4)
            stand.credentials.denials["p2"] = soon
        answer = await stand.run(stand.order("p1", change=rescued_by(rescue(SIBLING, "p2"))))
        assert answer.missed[0].step is WalkStep.RESCUE
        assert answer.missed[0].record.outcome is AttemptOutcome.SKIPPED
        if is_sibling_denied:
            assert answer.unserved.fault.failure_class is FailureClass.CREDENTIALS_COOLING
            assert answer.unserved.retry_after_s == 4
        else:
            assert answer.head.cause is SIBLING
        assert sends(stand, "p1") == 0
