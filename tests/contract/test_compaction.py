"""HandoverService.Compact over every transport, with a dispatch service behind it."""

from __future__ import annotations

from collections.abc import Callable

import grpc
import pytest
from pointsman.common.v1 import action_pb2, attempt_pb2
from pointsman.handover.v1 import handover_pb2 as pb
from pointsman.handover.v1 import handover_pb2_grpc as rpc
from structlog.testing import capture_logs

from services.domain.errors import InvalidRequestError, Reason
from services.runtime import host, status
from tests.contract.test_handover import SENTINEL, FakeDispatch, handover
from tests.contract.transports import Serve
from tests.unit.handover.talks import ANTHROPIC, GEMINI, body, messages_of, plain_talk

TALK = plain_talk(ANTHROPIC, 20, "word " * 200)
SIZE = len(body(ANTHROPIC, TALK)) // 4


@pytest.fixture
def dispatch() -> FakeDispatch:
    return FakeDispatch()  # type: ignore[abstract]  # its other methods are never called


def request() -> pb.CompactRequest:
    message = pb.CompactRequest(
        action=action_pb2.ActionContext(
            action_id="a-1", installation_id="i", session_key=bytes(range(16))
        ),
        limits=pb.CompactionLimits(max_window_token_count=SIZE, trigger_ratio=0.85),
        client_budget=pb.ClientBudget(evidence=pb.BUDGET_EVIDENCE_UNKNOWN),
        credential_scope=pb.CREDENTIAL_SCOPE_DEPLOYMENT,
        first_attempt_number=1,
    )
    message.body.wire_family = action_pb2.WIRE_FAMILY_ANTHROPIC
    message.body.body = body(ANTHROPIC, TALK)
    message.features.SetInParent()
    message.eligibility.installation_id = "i"
    message.eligibility.record_id = "e-1"
    binding = message.summarizers.add().binding
    binding.model_id, binding.provider = "m-small", "p1"
    return message


async def compact(
    serve: Serve, bundle: host.Bundle, asked: pb.CompactRequest | None = None
) -> pb.CompactResponse:
    stub: rpc.HandoverServiceAsyncStub = rpc.HandoverServiceStub((await serve(bundle)).channel())
    return await stub.Compact(asked or request(), timeout=30.0)


@pytest.mark.spec("HND-52", "HND-58", "HND-120")
async def test_a_conversation_that_is_too_long_comes_back_shorter(
    serve: Serve, dispatch: FakeDispatch
) -> None:
    with capture_logs() as lines:
        answer = await compact(serve, handover(dispatch))
    assert answer.outcome == pb.COMPACTION_OUTCOME_APPLIED
    assert answer.body.wire_family == action_pb2.WIRE_FAMILY_ANTHROPIC
    assert SENTINEL.encode() in answer.body.body
    assert messages_of(ANTHROPIC, answer.body.body)[2:] == TALK[-11:]
    assert answer.is_summarized
    assert answer.overflow_token_count == len(answer.body.body) // 4
    assert answer.summary_outcome == pb.SUMMARY_OUTCOME_SUMMARIZED
    (row,) = answer.attempts
    assert row.kind == attempt_pb2.ATTEMPT_KIND_COMPACTION_SUMMARY
    assert row.usage.fresh_input_token_count == 1200
    assert answer.versions.eligibility_id == "e-1"
    assert answer.checkpoint.summary.message_count == 30
    (order,) = dispatch.orders
    assert order.kind == attempt_pb2.ATTEMPT_KIND_COMPACTION_SUMMARY
    assert not order.plan.HasField("grant")
    (line,) = [row for row in lines if row["event"] == "compact"]
    assert (line["outcome"], line["attempts"]) == ("applied", 1)
    assert SENTINEL not in repr(lines)
    assert "question 3" not in repr(lines)


@pytest.mark.spec("HND-63")
async def test_what_was_kept_is_reused_by_the_next_action(
    serve: Serve, dispatch: FakeDispatch
) -> None:
    bundle = handover(dispatch)
    stub: rpc.HandoverServiceAsyncStub = rpc.HandoverServiceStub((await serve(bundle)).channel())
    first = await stub.Compact(request(), timeout=30)
    asked = request()
    asked.checkpoint.CopyFrom(first.checkpoint)
    again = await stub.Compact(asked, timeout=30)
    assert again.body == first.body
    assert not again.HasField("checkpoint")
    assert (len(again.attempts), len(dispatch.orders)) == (0, 1)


@pytest.mark.spec("HND-130", "HND-123")
async def test_a_failed_summary_is_an_answer_with_what_it_cost(
    serve: Serve, dispatch: FakeDispatch
) -> None:
    dispatch.is_refused = True
    asked = request()
    asked.limits.max_window_token_count = SIZE // 2
    answer = await compact(serve, handover(dispatch), asked)
    assert answer.outcome == pb.COMPACTION_OUTCOME_APPLIED
    assert answer.summary_outcome == pb.SUMMARY_OUTCOME_UPSTREAM_FAILED
    assert answer.trimmed_message_count == 12
    assert len(answer.attempts) == 1


@pytest.mark.spec("HND-57", "HND-123")
async def test_what_fits_no_window_is_an_answer_too(serve: Serve, dispatch: FakeDispatch) -> None:
    asked = request()
    asked.limits.max_window_token_count = 20
    answer = await compact(serve, handover(dispatch), asked)
    assert answer.outcome == pb.COMPACTION_OUTCOME_CONTEXT_WINDOW_EXCEEDED
    assert not answer.HasField("body")
    assert len(answer.attempts) == 1, "a summary already paid for is recorded"


@pytest.mark.spec("HND-45", "HND-112")
async def test_what_is_left_alone_has_no_body(serve: Serve, dispatch: FakeDispatch) -> None:
    asked = request()
    asked.limits.max_window_token_count = 2 * SIZE
    answer = await compact(serve, handover(dispatch), asked)
    assert answer.outcome == pb.COMPACTION_OUTCOME_NOT_ENGAGED
    assert not answer.HasField("body")
    asked.limits.max_window_token_count = SIZE + 1
    asked.client_budget.evidence = pb.BUDGET_EVIDENCE_HARNESS_DEFAULT
    asked.client_budget.compact_threshold_token_count = SIZE
    asked.client_budget.is_deferral_allowed = True
    answer = await compact(serve, handover(dispatch), asked)
    assert answer.outcome == pb.COMPACTION_OUTCOME_DEFERRED
    assert not answer.HasField("body")
    assert dispatch.orders == []


async def test_a_gemini_conversation_keeps_its_dialect(
    serve: Serve, dispatch: FakeDispatch
) -> None:
    talk = plain_talk(GEMINI, 20, "word " * 200)
    asked = request()
    asked.body.wire_family = action_pb2.WIRE_FAMILY_GEMINI
    asked.body.path_model = "m-large"
    asked.body.body = body(GEMINI, talk)
    answer = await compact(serve, handover(dispatch), asked)
    assert answer.body.wire_family == action_pb2.WIRE_FAMILY_GEMINI
    assert answer.body.path_model == "m-large"
    assert messages_of(GEMINI, answer.body.body)[2:] == talk[-11:]


BAD: dict[str, Callable[[pb.CompactRequest], object]] = {
    "action.action_id": lambda asked: asked.action.ClearField("action_id"),
    "action.session_key": lambda asked: setattr(asked.action, "session_key", b"short"),
    "eligibility.installation_id": lambda asked: asked.ClearField("eligibility"),
    "body.wire_family": lambda asked: asked.body.ClearField("wire_family"),
    "body.body": lambda asked: asked.body.ClearField("body"),
    "features": lambda asked: asked.ClearField("features"),
    "limits": lambda asked: asked.ClearField("limits"),
    "limits.trigger_ratio": lambda asked: setattr(asked.limits, "trigger_ratio", 1.1),
    "limits.max_window_token_count": lambda asked: setattr(
        asked.limits, "max_window_token_count", -1
    ),
    "limits.max_summary_token_count": lambda asked: setattr(
        asked.limits, "max_summary_token_count", 4001
    ),
    "client_budget": lambda asked: asked.ClearField("client_budget"),
    "client_budget.evidence": lambda asked: asked.client_budget.ClearField("evidence"),
    "client_budget.compact_threshold_token_count": lambda asked: setattr(
        asked.client_budget, "compact_threshold_token_count", -1
    ),
    "summarizers": lambda asked: asked.summarizers.extend([asked.summarizers[0]] * 16),
    "credential_scope": lambda asked: asked.ClearField("credential_scope"),
    "first_attempt_number": lambda asked: asked.ClearField("first_attempt_number"),
}


@pytest.mark.parametrize("field", BAD)
async def test_a_bad_field_is_refused_by_name(
    serve: Serve, dispatch: FakeDispatch, field: str
) -> None:
    asked = request()
    BAD[field](asked)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await compact(serve, handover(dispatch), asked)
    error = status.error_of(caught.value)
    assert isinstance(error, InvalidRequestError)
    assert [violation.field for violation in error.violations] == [field]


async def test_only_the_gateway_may_ask(serve: Serve, dispatch: FakeDispatch) -> None:
    served = await serve(handover(dispatch))
    stub: rpc.HandoverServiceAsyncStub = rpc.HandoverServiceStub(served.channel("scorer"))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.Compact(request(), timeout=8)
    assert status.error_of(caught.value).reason is Reason.CALLER_NOT_ALLOWED


@pytest.mark.spec("HND-132")
async def test_a_conversation_of_ten_megabytes_gets_through(
    serve: Serve, dispatch: FakeDispatch
) -> None:
    talk = plain_talk(ANTHROPIC, 20, "x" * 250_000)
    asked = request()
    asked.body.body = body(ANTHROPIC, talk)
    assert len(asked.body.body) > 10 * 1000 * 1000
    asked.limits.max_window_token_count = len(asked.body.body) // 4
    answer = await compact(serve, handover(dispatch), asked)
    assert answer.outcome == pb.COMPACTION_OUTCOME_APPLIED
    assert len(answer.body.body) > 2_000_000
