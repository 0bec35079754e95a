"""Conversations that outgrow the windows, through the loop and over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest
from structlog.testing import capture_logs

from gateway.deciding.kinds import Rules
from gateway.eligibility import Policy
from gateway.model import AttemptFailed, BindingRef, Effect, EffectKind, Failed
from gateway.model.action import OverflowStyle
from gateway.model.compaction import CompactionAnswer, CompactionOutcome
from gateway.model.decision import (
    CredentialScope,
    PlanAnswer,
    Strategy,
    SummaryAnswer,
    SummaryMode,
)
from gateway.model.record import AttemptOutcome, AttemptRecord
from gateway.sessions.history import Shortening, shortened
from gateway.sessions.model import Session
from gateway.thread import address_in
from services.domain.catalog import build_catalog
from services.domain.vocab import FailureClass, WireFamily
from services.domain.wire.model import Usage
from tests.integration.gateway.test_deciding import BIG, SMALL, Routed, _row, _turns
from tests.integration.gateway.test_effects import _windows

SHORT = {
    "model": BIG,
    "max_tokens": 1000,
    "messages": [{"role": "user", "content": "the end of it"}],
}
WRITER = BindingRef("claude-sonnet-5", "acme", "claude-sonnet-5", 0)


def applied(checkpoint: bytes = b"") -> CompactionAnswer:
    return CompactionAnswer(
        CompactionOutcome.APPLIED,
        body=orjson.dumps(SHORT),
        checkpoint=checkpoint,
    )


def paid() -> AttemptRecord:
    return AttemptRecord(1, WRITER, AttemptOutcome.SERVED, usage=Usage(fresh_input=900, output=100))


async def session_of(routed: Routed) -> Session:
    """Return the session of the action that was sent last."""
    address = address_in(routed.catalog, routed.dispatch.orders[-1].action)
    return (await routed.sessions.recall(address)).session


@pytest.fixture
async def routed(tmp_path: Path) -> AsyncIterator[Routed]:
    """Give a gateway whose windows a long history nearly fills."""
    running = Routed(tmp_path / "ledger", catalog=_windows(12_000, 11_000))
    await running.stack.start()
    yield running
    await running.stack.aclose()


@pytest.mark.spec("HND-40")
async def test_what_outgrew_the_windows_is_compacted_before_anything_is_decided(
    routed: Routed,
) -> None:
    routed.handover.compaction = applied(b"\x20\x05")
    status, _, _ = await routed.ask(_turns(1))
    assert status == 200
    (question,) = routed.handover.outgrown
    assert question.limits.window_tokens == 12_000
    assert question.limits.trigger_ratio == 0.85
    assert question.scope is CredentialScope.DEPLOYMENT
    assert not question.is_after_overflow
    assert routed.order_body() == SHORT
    (order,) = routed.dispatch.orders
    assert order.action.features.overflow_tokens < 100
    assert order.record.safety_excluded_models == ()
    (prompt,) = routed.scorer.asked
    assert prompt.text == "the end of it"
    assert not routed.handover.asked, "one rewrite is enough"
    assert (await routed.session()).compaction == b"\x20\x05"


@pytest.mark.spec("HND-28")
async def test_the_session_goes_by_what_the_client_sent(routed: Routed) -> None:
    routed.handover.compaction = applied(b"\x20\x05")
    await routed.ask(_turns(4))
    sent = (await session_of(routed)).address
    routed.handover.compaction = applied()
    await routed.ask(_turns(5))
    session = await session_of(routed)
    assert session.address == sent
    assert session.history is not None
    assert session.history.message_count == 11


@pytest.mark.spec("HND-6")
async def test_of_two_rewrites_an_action_gets_one(tmp_path: Path) -> None:
    """The switch to another model comes without a summary of its own."""
    rules = Rules(strategy=Strategy.CLUSTER, summary_mode=SummaryMode.ALWAYS)
    routed = Routed(tmp_path / "ledger", rules, catalog=_windows(12_000, 11_000))
    await routed.stack.start()
    try:
        routed.planner.answer = PlanAnswer(is_switch=True, label="value_positive")
        await routed.ask(_turns(0))
        opening = await session_of(routed)
        opened = [
            {"role": "user", "content": "go on"},
            {"role": "assistant", "content": "word " * 8_000},
        ]
        routed.handover.compaction = applied()
        routed.scorer.picks = [SMALL]
        assert await routed.decision(messages=[*opened, *_turns(0)]) == "switch_value_positive"
        assert (await session_of(routed)).address == opening.address
        assert len(routed.handover.outgrown) == 1
        assert routed.handover.asked == []
    finally:
        await routed.stack.aclose()


@pytest.mark.spec("HND-103")
async def test_models_that_are_too_small_even_then_do_not_serve(routed: Routed) -> None:
    longer = {**SHORT, "messages": [{"role": "user", "content": "word " * 9_400}]}
    routed.handover.compaction = CompactionAnswer(
        CompactionOutcome.APPLIED, body=orjson.dumps(longer)
    )
    await routed.ask([{"role": "user", "content": "word " * 11_000}])
    (order,) = routed.dispatch.orders
    assert 11_000 < order.action.features.overflow_tokens < 12_000
    assert [row.model_id for row in order.record.safety_excluded_models] == [SMALL]


@pytest.mark.spec("HND-45")
async def test_what_fits_well_is_left_alone(routed: Routed) -> None:
    await routed.ask()
    assert routed.handover.outgrown == []


@pytest.mark.spec("HND-63")
async def test_what_was_kept_comes_again_with_the_next_action(routed: Routed) -> None:
    routed.handover.compaction = applied(b"\x20\x05")
    await routed.ask(_turns(1))
    first = await routed.session()
    routed.handover.compaction = applied()
    await routed.ask(_turns(1))
    assert [each.checkpoint for each in routed.handover.outgrown] == [b"", b"\x20\x05"]
    later = await routed.session()
    assert later.compaction == b"\x20\x05"
    assert later.history_epoch == first.history_epoch, "the prompt begins as it did"


@pytest.mark.spec("HND-57", "HND-100", "HND-101", "HND-102", "HND-104")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/messages", {"max_tokens": 1000, "messages": "M"}),
        ("/v1/chat/completions", {"messages": "M"}),
        ("/v1/responses", {"input": "M"}),
        ("/v1beta/models/big:generateContent", {"contents": "G"}),
    ],
)
async def test_what_fits_no_window_is_413_in_the_callers_dialect(
    routed: Routed, path: str, body: dict[str, object]
) -> None:
    routed.handover.compaction = CompactionAnswer(CompactionOutcome.EXCEEDED)
    words = "word " * 12_800
    shapes = {
        "M": [{"role": "user", "content": words}],
        "G": [{"role": "user", "parts": [{"text": words}]}],
    }
    filled = {key: shapes.get(str(value), value) for key, value in body.items()}
    for stream in ({}, {"stream": True}):
        if "contents" in body and stream:
            continue
        sent = {**filled, **({} if "contents" in body else {"model": BIG}), **stream}
        with capture_logs() as lines:
            async with routed.stack.session.post(path, json=sent) as answer:
                told = await answer.json()
                assert answer.status == 413
        error = told["error"]
        assert "begin a new session" in error["message"]
        if path == "/v1/messages":
            assert (told["type"], error["type"]) == ("error", "invalid_request_error")
        elif "contents" in body:
            assert (error["code"], error["status"]) == (413, "INVALID_ARGUMENT")
        else:
            assert (error["type"], error["code"]) == (
                "invalid_request_error",
                "context_length_exceeded",
            )
        (line,) = [row for row in lines if row["event"] == "context_window_exceeded"]
        assert line["window_tokens"] == 12_000
        assert "word word" not in repr(lines)
    assert routed.dispatch.orders == []


@pytest.mark.spec("HND-57")
async def test_clients_may_be_told_as_their_vendors_would(tmp_path: Path) -> None:
    routed = Routed(tmp_path / "ledger", catalog=_windows(12_000, 11_000))
    routed.stack.settings = routed.stack.settings.model_copy(
        update={"overflow_style": OverflowStyle.NATIVE}
    )
    routed.handover.compaction = CompactionAnswer(CompactionOutcome.EXCEEDED)
    await routed.stack.start()
    said = [{"role": "user", "content": "word " * 12_800}]

    async def told(path: str, **body: object) -> tuple[int, str]:
        async with routed.stack.session.post(path, json=body) as answer:
            return answer.status, await answer.text()

    try:
        status, text = await told("/v1/messages", model=BIG, max_tokens=1000, messages=said)
        error = orjson.loads(text)["error"]
        assert (status, error["type"]) == (400, "invalid_request_error")
        assert error["message"].startswith("prompt is too long")
        for path, facts in (
            ("/v1/chat/completions", {"messages": said}),
            ("/v1/responses", {"input": said}),
        ):
            status, text = await told(path, model=BIG, **facts)
            assert (status, orjson.loads(text)["error"]["code"]) == (400, "context_length_exceeded")
        status, text = await told("/v1/responses", model=BIG, input=said, stream=True)
        assert status == 200
        event, data = text.strip().splitlines()[-2:]
        assert event == "event: response.failed"
        failed = orjson.loads(data.removeprefix("data: "))["response"]
        assert (failed["status"], failed["error"]["code"]) == ("failed", "context_length_exceeded")
        words = [{"role": "user", "parts": [{"text": "word " * 12_800}]}]
        status, text = await told("/v1beta/models/big:generateContent", contents=words)
        error = orjson.loads(text)["error"]
        assert (status, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    finally:
        await routed.stack.aclose()


@pytest.mark.spec("HND-131")
async def test_without_handover_what_fits_goes_on_and_what_does_not_is_413(
    routed: Routed,
) -> None:
    with capture_logs() as lines:
        status, _, _ = await routed.ask(_turns(1))
    assert status == 200
    assert [row["log_level"] for row in lines if row["event"] == "not_compacted"] == ["warning"]
    assert len(orjson.loads(routed.dispatch.orders[0].action.body)["messages"]) == 3
    status, _, _ = await routed.ask([{"role": "user", "content": "word " * 12_000}])
    assert status == 413
    assert len(routed.dispatch.orders) == 1


async def test_what_could_not_be_shortened_and_fits_by_itself_goes_on(routed: Routed) -> None:
    routed.handover.compaction = CompactionAnswer(CompactionOutcome.EXCEEDED)
    status, _, _ = await routed.ask(_turns(1))
    assert status == 200


@pytest.mark.spec("HND-120", "HND-121", "HND-123")
@pytest.mark.parametrize("outcome", [CompactionOutcome.APPLIED, CompactionOutcome.EXCEEDED])
async def test_every_summary_is_a_row_of_its_own(
    tmp_path: Path, outcome: CompactionOutcome
) -> None:
    made = (_row(WRITER.model_id, "high", 1.0), _row(BIG, "top", 5.0))
    rows = [{**each, "context_window": 12_000} for each in made]
    routed = Routed(
        tmp_path / "ledger",
        Rules(strategy=Strategy.CLUSTER, compaction_model=WRITER.model_id),
        catalog=build_catalog([{"models": rows}]),
    )
    messages = WireFamily.ANTHROPIC
    routed.stack.policy = Policy("cfg", ("acme",), {"acme": messages, "globex": messages})
    await routed.stack.start()
    try:
        body = orjson.dumps(SHORT) if outcome is CompactionOutcome.APPLIED else b""
        routed.handover.compaction = CompactionAnswer(outcome, body=body, attempts=(paid(),))
        status, _, _ = await routed.ask([{"role": "user", "content": "word " * 12_800}])
        assert status == (200 if body else 413)
        assert [row.model_id for row in routed.handover.outgrown[0].summarizers] == [
            "claude-sonnet-5"
        ]
        for _ in range(100):
            stored = list(routed.stack.ledger.stored.values())
            if any(row.kind != "serve" for row in stored):
                break
            await asyncio.sleep(0.01)
        (row,) = [row for row in stored if row.kind != "serve"]
        assert row.kind == "compaction_summary"
        assert row.request_id.endswith("_precompaction_summary")
        assert (row.model, row.fresh_input_tokens, row.output_tokens) == (WRITER.model_id, 900, 100)
        assert row.charged_micros == 900 * 1 + 100 * 5
    finally:
        await routed.stack.aclose()


async def test_the_next_action_after_a_refusal_for_length_is_compacted(routed: Routed) -> None:
    too_long = FailureClass.CONTEXT_OVERFLOW
    # About 7,000 tokens by our estimate: far from the trigger.
    long: list[dict[str, object]] = [{"role": "user", "content": "word " * 5_600}]
    unserved = Failed(too_long, 400, wire_family=WireFamily.ANTHROPIC)
    missed = AttemptFailed(
        "acme", too_long, if_unserved=Effect(EffectKind.CORRECT_ESTIMATE, BIG, "acme")
    )
    routed.dispatch.steps = (missed, unserved)
    assert (await routed.ask(long))[0] == 413
    assert routed.handover.outgrown == []
    routed.dispatch.steps = ()
    routed.handover.compaction = applied()
    assert (await routed.ask(long))[0] == 200
    (question,) = routed.handover.outgrown
    assert question.is_after_overflow
    assert question.limits.window_tokens < 7_100
    assert routed.order_body() == SHORT


@pytest.mark.spec("DSP-162")
async def test_a_refusal_corrects_the_estimate_of_what_was_sent(routed: Routed) -> None:
    routed.handover.compaction = applied()
    too_long = FailureClass.CONTEXT_OVERFLOW
    missed = AttemptFailed(
        "acme", too_long, if_unserved=Effect(EffectKind.CORRECT_ESTIMATE, BIG, "acme")
    )
    routed.dispatch.steps = (missed, Failed(too_long, 400, wire_family=WireFamily.ANTHROPIC))
    await routed.ask(_turns(1))
    session = await session_of(routed)
    assert session.fit_ratio == 4.0, "the short body was refused, not the client's"


async def test_a_forced_session_keeps_what_was_paid_for(routed: Routed) -> None:
    routed.handover.compaction = applied(b"\x20\x05")
    forced = {"x-router-force-model": SMALL}
    status, _, _ = await routed.ask(_turns(1), forced)
    assert status == 200
    await routed.ask(_turns(1), forced)
    assert [each.checkpoint for each in routed.handover.outgrown] == [b"", b"\x20\x05"]
    assert routed.handover.outgrown[0].limits.window_tokens == 11_000


async def test_a_kept_summary_that_does_not_do_gives_way_to_a_compaction(
    routed: Routed,
) -> None:
    routed.handover.compaction = applied(b"\x20\x05")
    await routed.ask(_turns(1))
    session = await session_of(routed)
    routed.sessions.change(
        session.address, lambda known: shortened(known, Shortening(summary=b"S"))
    )
    long = {**SHORT, "messages": _turns(2)}
    routed.handover.answer = SummaryAnswer("reused", orjson.dumps(long))
    routed.handover.compaction = applied(b"\x20\x06")
    await routed.ask(_turns(3))
    assert len(routed.handover.asked) == 1
    assert routed.order_body() == SHORT
    session = await session_of(routed)
    assert (session.summary, session.compaction) == (b"", b"\x20\x06")
