"""HandoverService over every transport, with a dispatch service behind a channel of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import grpc
import orjson
import pytest
from pointsman.common.v1 import action_pb2, attempt_pb2, grant_pb2, usage_pb2
from pointsman.dispatch.v1 import dispatch_pb2 as dispatch_pb
from pointsman.dispatch.v1 import dispatch_pb2_grpc as dispatch_rpc
from pointsman.handover.v1 import handover_pb2 as pb
from pointsman.handover.v1 import handover_pb2_grpc as rpc
from structlog.testing import capture_logs

from services.domain.catalog import build_catalog
from services.domain.errors import InvalidRequestError, PeerError, Reason, RouterError
from services.handover.build import FULL_NAME, build
from services.handover.settings import HandoverSettings
from services.runtime import host, status
from services.runtime.clock import SystemClock
from services.runtime.settings import CommonSettings
from tests.contract.transports import Serve
from tests.fakes.summarizer import answer_of
from tests.unit.handover.conversations import ANTHROPIC, CHAT, body, messages_of, tool_loop

DISPATCH = "pointsman.dispatch.v1.DispatchService"
SENTINEL = "SENTINEL-of-the-summary"


@dataclass
class FakeDispatch(dispatch_rpc.DispatchServiceServicer):
    """One answer by one attempt, or what else is asked for; keeps its orders."""

    text: str = SENTINEL
    pause_s: float = 0.0
    """Wait between the attempt's start and its answer."""
    fault: RouterError | None = None
    """Raised after the attempt's start."""
    is_refused: bool = False
    is_broken: bool = False
    is_declined: bool = False
    """The vendor declined for reasons of policy inside the answer."""
    is_unfinished: bool = False
    orders: list[dispatch_pb.DispatchRequest] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    async def Dispatch(  # noqa: N802 - name fixed by the proto
        self,
        request: dispatch_pb.DispatchRequest,
        context: grpc.aio.ServicerContext[
            dispatch_pb.DispatchRequest, dispatch_pb.DispatchResponse
        ],
    ) -> AsyncIterator[dispatch_pb.DispatchResponse]:
        self.orders.append(request)
        self.asked.set()
        number, binding = request.plan.first_attempt_number, request.plan.bindings[0].binding
        started = dispatch_pb.AttemptStarted(
            attempt_number=number,
            binding=binding,
            wire_family=action_pb2.WIRE_FAMILY_ANTHROPIC,
            cause=attempt_pb2.ATTEMPT_CAUSE_FIRST,
        )
        yield dispatch_pb.DispatchResponse(attempt_started=started)
        try:
            await asyncio.sleep(self.pause_s)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        if self.fault is not None:
            raise self.fault
        record = attempt_pb2.AttemptRecord(
            attempt_number=number,
            kind=request.kind,
            binding=binding,
            cause=attempt_pb2.ATTEMPT_CAUSE_FIRST,
            outcome=attempt_pb2.ATTEMPT_OUTCOME_SERVED,
            usage=usage_pb2.Usage(
                fresh_input_token_count=1200,
                cache_read_token_count=7,
                output_token_count=90,
                source=usage_pb2.USAGE_SOURCE_REPORTED,
            ),
        )
        if self.is_refused:
            record.outcome = attempt_pb2.ATTEMPT_OUTCOME_FAILED
            yield dispatch_pb.DispatchResponse(
                attempt_failed=dispatch_pb.AttemptFailed(attempt=record)
            )
            yield dispatch_pb.DispatchResponse(failed=dispatch_pb.Failed(attempts=[record]))
            return
        head = dispatch_pb.Head(
            attempt_number=number, wire_family=action_pb2.WIRE_FAMILY_ANTHROPIC, http_status=200
        )
        yield dispatch_pb.DispatchResponse(head=head)
        answer = answer_of(self.text)
        yield dispatch_pb.DispatchResponse(chunk=answer[:20])
        yield dispatch_pb.DispatchResponse(chunk=answer[20:])
        if self.is_unfinished:
            return
        tail = dispatch_pb.Tail(attempt=record, refusal_seen=self.is_declined)
        if self.is_broken:
            tail.failure.http_status = 502
        yield dispatch_pb.DispatchResponse(tail=tail)


async def _nothing() -> None:
    return


@pytest.fixture
def dispatch() -> FakeDispatch:
    return FakeDispatch()  # type: ignore[abstract]  # its other methods are never called


def handover(dispatch: FakeDispatch, settings: HandoverSettings | None = None) -> host.Bundle:
    peer = host.in_process(
        host.Bundle(
            DISPATCH,
            lambda server: dispatch_rpc.add_DispatchServiceServicer_to_server(dispatch, server),
            _nothing,
            _nothing,
            allowed_callers={f"/{DISPATCH}/Dispatch": frozenset({"handover"})},
            max_message_bytes=64 * 1024 * 1024,
        )
    )
    return build(
        settings or HandoverSettings(),
        CommonSettings(),
        catalog=build_catalog([]),
        clock=SystemClock(),
        channel_to=lambda _: peer.channel("handover"),
    )


def request() -> pb.SummarizeRequest:
    message = pb.SummarizeRequest(
        action=action_pb2.ActionContext(
            action_id="a-1", installation_id="i", session_key=bytes(range(16))
        ),
        kind=pb.SUMMARY_KIND_SWITCH,
        credential_scope=pb.CREDENTIAL_SCOPE_DEPLOYMENT,
        first_attempt_number=1,
    )
    message.body.wire_family = action_pb2.WIRE_FAMILY_ANTHROPIC
    message.body.body = body(tool_loop(ANTHROPIC))
    message.features.SetInParent()
    message.eligibility.installation_id = "i"
    message.eligibility.record_id = "e-1"
    message.eligibility.catalog_version = "c-1"
    for binding, name in (
        (message.from_binding, "m-large"),
        (message.to_binding, "m-next"),
        (message.summarizers.add().binding, "m-small"),
    ):
        binding.model_id, binding.provider = name, "p1"
    return message


async def summarize(
    serve: Serve,
    bundle: host.Bundle,
    asked: pb.SummarizeRequest | None = None,
    timeout: float = 8.0,
) -> pb.SummarizeResponse:
    stub: rpc.HandoverServiceAsyncStub = rpc.HandoverServiceStub((await serve(bundle)).channel())
    return await stub.Summarize(asked or request(), timeout=timeout)


@pytest.mark.spec("HND-16", "HND-20")
async def test_a_summary_takes_the_place_of_the_history(
    serve: Serve, dispatch: FakeDispatch
) -> None:
    answer = await summarize(serve, handover(dispatch))
    assert answer.outcome == pb.SUMMARY_OUTCOME_SUMMARIZED
    assert answer.body.wire_family == action_pb2.WIRE_FAMILY_ANTHROPIC
    assert [m["role"] for m in messages_of(answer.body.body)] == ["user", "assistant", "user"]
    assert SENTINEL.encode() in answer.body.body
    assert answer.removed_message_count == 3
    assert answer.overflow_token_count == len(answer.body.body) // 4
    assert answer.stored.text == SENTINEL
    assert len(answer.stored.prefix_digest) == 32
    assert answer.stored.summarizer.model_id == "m-small"
    (row,) = answer.attempts
    assert row.kind == attempt_pb2.ATTEMPT_KIND_SWITCH_SUMMARY
    assert (row.attempt_number, row.usage.cache_read_token_count) == (1, 7)
    assert answer.versions.eligibility_id == "e-1"
    assert answer.versions.service_version == host.VERSION


@pytest.mark.spec("CRD-22", "HND-5", "HND-10", "HND-12")
async def test_dispatch_is_asked_once_without_grant_or_presented_credential(
    serve: Serve, dispatch: FakeDispatch
) -> None:
    asked = request()
    asked.first_attempt_number = 4
    await summarize(serve, handover(dispatch), asked)
    (order,) = dispatch.orders
    assert order.action == asked.action
    assert order.eligibility == asked.eligibility
    assert order.kind == attempt_pb2.ATTEMPT_KIND_SWITCH_SUMMARY
    plan = order.plan
    assert not plan.HasField("grant")
    assert (len(plan.presented), len(plan.rescues), len(plan.bindings)) == (0, 0, 1)
    assert plan.first_attempt_number == 4
    assert plan.flags.is_hard_pinned
    assert 5 < plan.budget.pre_commit_duration.seconds < 8
    assert plan.budget.max_throttle_wait.ToMilliseconds() == 0
    assert order.body.wire_family == action_pb2.WIRE_FAMILY_ANTHROPIC
    assert [(h.name, h.value) for h in order.relayed_headers] == [
        ("anthropic-version", "2023-06-01")
    ]
    assert orjson.loads(order.body.body)["max_tokens"] == 800


async def test_what_was_kept_is_reused_by_the_next_action(
    serve: Serve, dispatch: FakeDispatch
) -> None:
    bundle = handover(dispatch)
    stub: rpc.HandoverServiceAsyncStub = rpc.HandoverServiceStub((await serve(bundle)).channel())
    first = await stub.Summarize(request(), timeout=8)
    asked = request()
    asked.stored.CopyFrom(first.stored)
    again = await stub.Summarize(asked, timeout=8)
    assert again.outcome == pb.SUMMARY_OUTCOME_REUSED
    assert again.body == first.body
    assert not again.HasField("stored")
    assert (len(again.attempts), len(dispatch.orders)) == (0, 1)


async def test_a_chat_history_is_rewritten_in_its_own_dialect(
    serve: Serve, dispatch: FakeDispatch
) -> None:
    asked = request()
    asked.body.wire_family = action_pb2.WIRE_FAMILY_OPENAI_CHAT
    asked.body.body = body(tool_loop(CHAT))
    asked.kind = pb.SUMMARY_KIND_CLIENT_TRIM
    asked.features.is_history_trimmed = True
    answer = await summarize(serve, handover(dispatch), asked)
    assert answer.body.wire_family == action_pb2.WIRE_FAMILY_OPENAI_CHAT
    roles = [m["role"] for m in messages_of(answer.body.body)]
    assert roles == ["system", "user", "assistant", "user"]
    assert answer.attempts[0].kind == attempt_pb2.ATTEMPT_KIND_TRIM_SUMMARY


FAILURES: dict[str, tuple[dict[str, object], int]] = {
    "refused": ({"is_refused": True}, pb.SUMMARY_OUTCOME_UPSTREAM_FAILED),
    "broken": ({"is_broken": True}, pb.SUMMARY_OUTCOME_UPSTREAM_FAILED),
    "declined": ({"is_declined": True}, pb.SUMMARY_OUTCOME_UPSTREAM_FAILED),
    "empty": ({"text": ""}, pb.SUMMARY_OUTCOME_EMPTY),
    "late": ({"pause_s": 30.0}, pb.SUMMARY_OUTCOME_TIMEOUT),
    "unfinished": ({"is_unfinished": True}, pb.SUMMARY_OUTCOME_FAILED),
    "down": (
        {"fault": PeerError(Reason.DRAINING, "away")},
        pb.SUMMARY_OUTCOME_FAILED,
    ),
    "forbidden": (
        {"fault": RouterError(Reason.ELIGIBILITY_VIOLATION, "no")},
        pb.SUMMARY_OUTCOME_FAILED,
    ),
}


@pytest.mark.spec("HND-14", "HND-15", "HND-27")
@pytest.mark.parametrize("case", FAILURES)
async def test_every_failure_is_an_outcome_without_a_body(
    serve: Serve, dispatch: FakeDispatch, case: str
) -> None:
    changes, outcome = FAILURES[case]
    for name, value in changes.items():
        setattr(dispatch, name, value)
    answer = await summarize(serve, handover(dispatch), timeout=1.3 if case == "late" else 8.0)
    assert answer.outcome == outcome
    assert not answer.HasField("body")
    assert not answer.HasField("stored")
    (row,) = answer.attempts
    assert row.attempt_number == 1
    if case in ("late", "unfinished", "down", "forbidden"):
        assert row.outcome == attempt_pb2.ATTEMPT_OUTCOME_ABORTED
        assert row.usage.source == usage_pb2.USAGE_SOURCE_ESTIMATED
        assert row.usage.fresh_input_token_count > 3000
        assert row.start_time.seconds > 0
    if case == "late":
        async with asyncio.timeout(2):
            await dispatch.cancelled.wait()


async def test_a_caller_that_leaves_ends_the_call_to_the_model(
    serve: Serve, dispatch: FakeDispatch
) -> None:
    dispatch.pause_s = 30.0
    bundle = handover(dispatch)
    stub: rpc.HandoverServiceAsyncStub = rpc.HandoverServiceStub((await serve(bundle)).channel())
    call = stub.Summarize(request(), timeout=8)
    async with asyncio.timeout(3):
        await dispatch.asked.wait()
        call.cancel()
        await dispatch.cancelled.wait()
        with pytest.raises((asyncio.CancelledError, grpc.aio.AioRpcError)):
            await call


async def test_a_tenants_conversation_does_not_leave_its_own_credentials(
    serve: Serve, dispatch: FakeDispatch
) -> None:
    asked = request()
    asked.credential_scope = pb.CREDENTIAL_SCOPE_TENANT
    row = asked.eligibility.enabled_providers.providers.add(provider="p1")
    row.owners.append(grant_pb2.CREDENTIAL_OWNER_OPERATOR)
    answer = await summarize(serve, handover(dispatch), asked)
    assert answer.outcome == pb.SUMMARY_OUTCOME_TENANT_BOUNDARY
    assert dispatch.orders == []


BAD: dict[str, Callable[[pb.SummarizeRequest], object]] = {
    "action.action_id": lambda asked: asked.action.ClearField("action_id"),
    "action.session_key": lambda asked: setattr(asked.action, "session_key", b"short"),
    "action.installation_id": lambda asked: asked.action.ClearField("installation_id"),
    "eligibility.installation_id": lambda asked: asked.ClearField("eligibility"),
    "body.wire_family": lambda asked: asked.body.ClearField("wire_family"),
    "body.body": lambda asked: asked.body.ClearField("body"),
    "features": lambda asked: asked.ClearField("features"),
    "kind": lambda asked: asked.ClearField("kind"),
    "from_binding.model_id": lambda asked: asked.ClearField("from_binding"),
    "to_binding.provider": lambda asked: asked.to_binding.ClearField("provider"),
    "summarizers[0].binding.model_id": lambda asked: asked.summarizers[0].ClearField("binding"),
    "summarizers": lambda asked: asked.summarizers.extend([asked.summarizers[0]] * 16),
    "max_summary_token_count": lambda asked: setattr(asked, "max_summary_token_count", 4001),
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
        await summarize(serve, handover(dispatch), asked)
    error = status.error_of(caught.value)
    assert isinstance(error, InvalidRequestError)
    assert [violation.field for violation in error.violations] == [field]


async def test_values_of_a_later_contract_are_read_as_the_safe_ones(
    serve: Serve, dispatch: FakeDispatch
) -> None:
    asked = request()
    asked.kind = 99  # type: ignore[assignment]  # a number that nobody knows yet
    assert (await summarize(serve, handover(dispatch), asked)).HasField("body")
    assert dispatch.orders[0].kind == attempt_pb2.ATTEMPT_KIND_SWITCH_SUMMARY
    asked.credential_scope = 99  # type: ignore[assignment]  # the same
    answer = await summarize(serve, handover(dispatch), asked)
    assert answer.outcome == pb.SUMMARY_OUTCOME_TENANT_BOUNDARY


async def test_only_the_gateway_may_ask(serve: Serve, dispatch: FakeDispatch) -> None:
    served = await serve(handover(dispatch))
    stub: rpc.HandoverServiceAsyncStub = rpc.HandoverServiceStub(served.channel("scorer"))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.Summarize(request(), timeout=8)
    assert status.error_of(caught.value).reason is Reason.CALLER_NOT_ALLOWED


async def test_a_conversation_of_many_megabytes_gets_through(
    serve: Serve, dispatch: FakeDispatch
) -> None:
    asked = request()
    asked.body.body = body(
        [{"role": "user", "content": "x" * 5_000_000}, *tool_loop(ANTHROPIC)[1:]]
    )
    answer = await summarize(serve, handover(dispatch), asked)
    assert answer.outcome == pb.SUMMARY_OUTCOME_SUMMARIZED


@pytest.mark.spec("HND-3", "HND-13")
async def test_an_unknown_default_is_told_at_the_start_and_keeps_histories(
    serve: Serve, dispatch: FakeDispatch
) -> None:
    asked = request()
    asked.ClearField("summarizers")
    with capture_logs() as lines:
        answer = await summarize(serve, handover(dispatch), asked)
    assert answer.outcome == pb.SUMMARY_OUTCOME_NOT_CONFIGURED
    (line,) = [row for row in lines if row["event"] == "default_summarizer_unknown"]
    assert (line["log_level"], line["model"]) == ("info", "claude-haiku-4-5")


async def test_each_summary_is_one_line_without_content(
    serve: Serve, dispatch: FakeDispatch
) -> None:
    with capture_logs() as lines:
        await summarize(serve, handover(dispatch))
    (line,) = [row for row in lines if row["event"] == "summarize"]
    assert (line["outcome"], line["kind"], line["attempts"]) == ("summarized", "switch", 1)
    assert line["session_hash"] == "0001020304050607"
    assert line["summarizer_model"] == "m-small"
    assert SENTINEL not in repr(lines)
    assert "List the files" not in repr(lines)
    assert f"/{FULL_NAME}/Summarize" in handover(dispatch).allowed_callers
