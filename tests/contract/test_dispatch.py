"""DispatchService over every transport, with a credentials service behind a channel of its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import grpc
import orjson
import pytest
from pointsman.common.v1 import action_pb2, attempt_pb2, binding_pb2, grant_pb2
from pointsman.credentials.v1 import credentials_pb2 as credentials_pb
from pointsman.credentials.v1 import credentials_pb2_grpc as credentials_rpc
from pointsman.dispatch.v1 import dispatch_pb2 as pb
from pointsman.dispatch.v1 import dispatch_pb2_grpc as rpc

from services.dispatch.build import FULL_NAME, build
from services.dispatch.settings import DispatchSettings
from services.domain.errors import Reason, RouterError
from services.domain.vocab import WireFamily
from services.runtime import host, status
from services.runtime.clock import SystemClock
from services.runtime.settings import CommonSettings, ProviderSettings
from tests.contract.transports import Serve
from tests.fakes.upstream import FakeUpstream, Fault
from tests.integration.dispatch.harness import ANTHROPIC, MODEL, body, catalog

SECRET = "sk-sentinel-0123456789"
SETTINGS = DispatchSettings(backoff_base_ms=1, response_header_timeout_seconds=2)


@dataclass
class Keys(credentials_rpc.CredentialsServiceServicer):
    """One key per provider; keeps what it was asked and told."""

    asked: list[credentials_pb.AcquireSecretRequest] = field(default_factory=list)
    told: list[credentials_pb.AttemptReport] = field(default_factory=list)
    is_down: bool = False
    refusal: RouterError | None = None
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def has_heard_ends(self, count: int) -> list[credentials_pb.AttemptReport]:
        """Return the reports of so many ends when they came; within 3 s."""
        async with asyncio.timeout(3):
            while len(ends := [row for row in self.told if row.HasField("ended")]) < count:
                self.news.clear()
                await self.news.wait()
        return ends

    async def AcquireSecret(  # noqa: N802 - name fixed by the proto
        self,
        request: credentials_pb.AcquireSecretRequest,
        context: grpc.aio.ServicerContext[
            credentials_pb.AcquireSecretRequest, credentials_pb.AcquireSecretResponse
        ],
    ) -> credentials_pb.AcquireSecretResponse:
        self._fail()
        self.asked.append(request)
        if self.refusal is not None:
            raise self.refusal
        provider = request.selection.binding.provider or "p1"
        answer = credentials_pb.AcquireSecretResponse(grant=grant_of(provider))
        if request.selection.purpose == credentials_pb.SECRET_PURPOSE_LIST_MODELS:
            answer.grant.binding.ClearField("model_id")
        answer.auth.scheme = credentials_pb.AUTH_SCHEME_X_API_KEY
        answer.auth.value_secret = SECRET
        answer.cache_until_time.FromSeconds(int(time.time()) + 50)
        return answer

    async def ReportAttempt(  # noqa: N802 - name fixed by the proto
        self,
        request: credentials_pb.ReportAttemptRequest,
        context: grpc.aio.ServicerContext[
            credentials_pb.ReportAttemptRequest, credentials_pb.ReportAttemptResponse
        ],
    ) -> credentials_pb.ReportAttemptResponse:
        self._fail()
        self.told.extend(request.reports)
        self.news.set()
        return credentials_pb.ReportAttemptResponse()

    def _fail(self) -> None:
        if self.is_down:
            raise RouterError(Reason.STORE_UNAVAILABLE, "down", retry_after_s=1.0)


def grant_of(provider: str) -> grant_pb2.CredentialGrant:
    return grant_pb2.CredentialGrant(
        grant_id=f"grant-{provider}",
        credential_id=f"credential-{provider}",
        credential_version=1,
        secret_cache_key=f"key-{provider}",
        binding=binding_pb2.BindingRef(model_id=MODEL, provider=provider),
        attribution=grant_pb2.CredentialAttribution(
            fingerprint="0a0b0c0d",
            kind=grant_pb2.CREDENTIAL_KIND_API_KEY,
            owner=grant_pb2.CREDENTIAL_OWNER_OPERATOR,
            bucket=grant_pb2.CREDENTIAL_BUCKET_CLEAN,
        ),
    )


async def _nothing() -> None:
    return


@pytest.fixture
def keys() -> Keys:
    return Keys()  # type: ignore[abstract]  # its other methods are never called


@pytest.fixture
async def second() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream() as running:
        yield running


@pytest.fixture
def bundle(keys: Keys, upstream: FakeUpstream, second: FakeUpstream) -> host.Bundle:
    credentials = host.in_process(
        host.Bundle(
            "pointsman.credentials.v1.CredentialsService",
            lambda server: credentials_rpc.add_CredentialsServiceServicer_to_server(keys, server),
            _nothing,
            _nothing,
        )
    )
    providers = {
        name: ProviderSettings(family=WireFamily.ANTHROPIC, base_url=fake.base_url)
        for name, fake in (("p1", upstream), ("p2", second))
    }
    return build(
        SETTINGS,
        CommonSettings(providers=providers),
        catalog=catalog("p1", "p2"),
        clock=SystemClock(),
        channel_to=lambda _: credentials.channel("dispatch"),
    )


def request(*providers: str, is_stream: bool = True) -> pb.DispatchRequest:
    message = pb.DispatchRequest(
        action=action_pb2.ActionContext(
            action_id="action-1", installation_id="i", surface=action_pb2.WIRE_FAMILY_ANTHROPIC
        ),
        kind=attempt_pb2.ATTEMPT_KIND_SERVE,
    )
    message.body.wire_family = action_pb2.WIRE_FAMILY_ANTHROPIC
    message.body.body = body(ANTHROPIC, is_stream=is_stream)
    message.eligibility.installation_id = "i"
    message.features.SetInParent()
    message.plan.first_attempt_number = 1
    for provider in providers or ("p1",):
        binding = message.plan.bindings.add().binding
        binding.model_id, binding.provider = MODEL, provider
    message.plan.grant.CopyFrom(grant_of(message.plan.bindings[0].binding.provider))
    return message


async def parts_of(
    stub: rpc.DispatchServiceAsyncStub, message: pb.DispatchRequest
) -> list[pb.DispatchResponse]:
    return [part async for part in stub.Dispatch(message, timeout=20)]


def kinds(parts: list[pb.DispatchResponse]) -> list[str]:
    """Return the kinds of the parts, a run of chunks as one."""
    named = [str(part.WhichOneof("part")) for part in parts]
    return [name for i, name in enumerate(named) if name != "chunk" or named[i - 1] != "chunk"]


@pytest.mark.parametrize("is_stream", [True, False])
async def test_an_answer_has_the_grammar_of_the_contract(
    serve: Serve, bundle: host.Bundle, upstream: FakeUpstream, is_stream: bool
) -> None:
    stub: rpc.DispatchServiceAsyncStub = rpc.DispatchServiceStub((await serve(bundle)).channel())
    parts = await parts_of(stub, request(is_stream=is_stream))
    assert kinds(parts) == ["attempt_started", "head", "chunk", "tail"]
    head, tail = parts[1].head, parts[-1].tail
    assert head.is_stream is is_stream
    assert head.http_status == 200
    assert head.credential.fingerprint == "0a0b0c0d"
    assert tail.attempt.usage.output_token_count == 4
    assert tail.attempt.outcome == attempt_pb2.ATTEMPT_OUTCOME_SERVED
    assert upstream.requests[0].key == SECRET
    chunks = b"".join(part.chunk for part in parts)
    assert tail.sent_bytes == len(chunks)


@pytest.mark.parametrize("is_stream", [True, False])
async def test_parts_that_are_ready_together_come_in_one_message_where_that_is_read(
    serve: Serve, bundle: host.Bundle, is_stream: bool
) -> None:
    stub: rpc.DispatchServiceAsyncStub = rpc.DispatchServiceStub((await serve(bundle)).channel())
    asked = request(is_stream=is_stream)
    single = await parts_of(stub, asked)
    asked.is_more_read = True
    messages = await parts_of(stub, asked)
    parts = [part for message in messages for part in (message, *message.more)]
    assert kinds(parts) == kinds(single)
    assert b"".join(part.chunk for part in parts) == b"".join(part.chunk for part in single)
    together = [kinds([message, *message.more]) for message in messages]
    assert together[0] == ["attempt_started"]
    assert together[1] == (["head", "chunk"] if is_stream else ["head", "chunk", "tail"])


@pytest.mark.spec("DSP-123")
async def test_a_rotation_and_a_hop_are_told_as_they_happen(
    serve: Serve, bundle: host.Bundle, upstream: FakeUpstream
) -> None:
    upstream.script(Fault(status=429, retry_after=7), times=None)
    stub: rpc.DispatchServiceAsyncStub = rpc.DispatchServiceStub((await serve(bundle)).channel())
    parts = await parts_of(stub, request("p1", "p2"))
    assert kinds(parts) == [
        "attempt_started",
        "attempt_failed",
        "attempt_started",
        "head",
        "chunk",
        "tail",
    ]
    failed, head = parts[1].attempt_failed, parts[3].head
    assert failed.next_step == pb.WALK_STEP_HOP
    assert failed.retry_delay.seconds == 7
    assert (head.plan_index, head.planned_provider, head.binding.provider) == (1, "p1", "p2")


async def test_a_walk_without_an_answer_ends_with_failed_and_status_ok(
    serve: Serve, bundle: host.Bundle, upstream: FakeUpstream
) -> None:
    fault = Fault(status=401, message=f"bad key {SECRET}")
    upstream.script(fault, times=None)
    stub: rpc.DispatchServiceAsyncStub = rpc.DispatchServiceStub((await serve(bundle)).channel())
    parts = await parts_of(stub, request())
    assert kinds(parts) == ["attempt_started", "attempt_failed", "failed"]
    failed = parts[-1].failed
    assert failed.failure_class == attempt_pb2.FAILURE_CLASS_AUTH
    assert failed.upstream_status == 401
    assert failed.walk_end == pb.WALK_END_EXHAUSTED
    assert not failed.is_caller_credential
    assert list(failed.attempts) == [parts[1].attempt_failed.attempt]
    assert orjson.loads(failed.body)["error"]["message"] == "bad key ***"


async def test_secrets_are_asked_for_once_and_reports_arrive_in_order(
    serve: Serve, bundle: host.Bundle, keys: Keys
) -> None:
    stub: rpc.DispatchServiceAsyncStub = rpc.DispatchServiceStub((await serve(bundle)).channel())
    for _ in range(3):
        await parts_of(stub, request())
    assert len(keys.asked) == 1
    ends = await keys.has_heard_ends(3)
    assert [row.sequence_number for row in ends] == [2] * 3
    assert ends[0].ended.kind == credentials_pb.END_KIND_SUCCEEDED
    before = [keys.told[i - 1] for i, row in enumerate(keys.told) if i and row.HasField("headers")]
    assert all(row.HasField("ended") for row in before)


async def test_reports_wait_for_a_credentials_service_that_is_down(
    serve: Serve, bundle: host.Bundle, keys: Keys
) -> None:
    stub: rpc.DispatchServiceAsyncStub = rpc.DispatchServiceStub((await serve(bundle)).channel())
    await parts_of(stub, request())
    keys.is_down = True
    parts = await parts_of(stub, request())
    assert kinds(parts)[-1] == "tail"
    await asyncio.sleep(0.1)
    told = sum(row.HasField("ended") for row in keys.told)
    keys.is_down = False
    await keys.has_heard_ends(2)
    assert told < 2


async def test_the_last_secret_serves_while_credentials_is_down_and_no_other_session(
    serve: Serve, bundle: host.Bundle, keys: Keys
) -> None:
    stub: rpc.DispatchServiceAsyncStub = rpc.DispatchServiceStub((await serve(bundle)).channel())
    await parts_of(stub, request())
    keys.is_down = True
    message = request()
    message.plan.ClearField("grant")
    assert kinds(await parts_of(stub, message))[-1] == "tail"
    message.action.session_key = b"another session."
    parts = await parts_of(stub, message)
    assert kinds(parts) == ["attempt_started", "attempt_failed", "failed"]
    failed = parts[-1].failed
    assert failed.failure_class == attempt_pb2.FAILURE_CLASS_CREDENTIALS_UNREACHABLE
    assert failed.retry_delay.seconds == 1


@pytest.mark.parametrize(
    ("refusal", "expected"),
    [
        (
            RouterError(Reason.ALL_CREDENTIALS_COOLING, "cooling", retry_after_s=9.0),
            attempt_pb2.FAILURE_CLASS_CREDENTIALS_COOLING,
        ),
        (
            RouterError(Reason.CREDENTIALS_UNAVAILABLE, "all off"),
            attempt_pb2.FAILURE_CLASS_CREDENTIALS_DISABLED,
        ),
        (
            RouterError(Reason.NO_ELIGIBLE_PROVIDER, "none"),
            attempt_pb2.FAILURE_CLASS_NO_ELIGIBLE_PROVIDER,
        ),
    ],
)
async def test_a_denial_has_its_class(
    serve: Serve,
    bundle: host.Bundle,
    keys: Keys,
    refusal: RouterError,
    expected: attempt_pb2.FailureClass,
) -> None:
    keys.refusal = refusal
    stub: rpc.DispatchServiceAsyncStub = rpc.DispatchServiceStub((await serve(bundle)).channel())
    failed = (await parts_of(stub, request()))[-1].failed
    assert failed.failure_class == expected
    assert failed.attempts[0].outcome == attempt_pb2.ATTEMPT_OUTCOME_SKIPPED
    assert failed.retry_delay.seconds == int(refusal.retry_after_s or 0)


@pytest.mark.spec("POL-38")
async def test_a_target_outside_the_record_is_a_fault_of_ours_and_nothing_is_sent(
    serve: Serve, bundle: host.Bundle, upstream: FakeUpstream
) -> None:
    stub: rpc.DispatchServiceAsyncStub = rpc.DispatchServiceStub((await serve(bundle)).channel())
    message = request()
    message.eligibility.excluded_models.add(model_id=MODEL)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await parts_of(stub, message)
    assert status.error_of(caught.value).reason is Reason.ELIGIBILITY_VIOLATION
    assert not upstream.requests


async def test_only_gateway_and_handover_may_ask(serve: Serve, bundle: host.Bundle) -> None:
    served = await serve(bundle)
    stub: rpc.DispatchServiceAsyncStub = rpc.DispatchServiceStub(served.channel("scorer"))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await parts_of(stub, request())
    assert status.error_of(caught.value).reason is Reason.CALLER_NOT_ALLOWED
    assert served.bundle.full_name == FULL_NAME


@pytest.mark.spec("DSP-3", "DSP-190")
async def test_cancelling_the_call_aborts_the_upstream_within_a_second(
    serve: Serve, bundle: host.Bundle, upstream: FakeUpstream
) -> None:
    upstream.script(Fault(chunks=400, chunk_delay=0.02))
    stub: rpc.DispatchServiceAsyncStub = rpc.DispatchServiceStub((await serve(bundle)).channel())
    call = stub.Dispatch(request(), timeout=20)
    for _ in range(3):
        await call.read()
    call.cancel()
    await upstream.wait_until(lambda: upstream.aborted == 1, timeout=1.0)


async def test_tokens_are_counted_upstream_and_estimated_when_that_fails(
    serve: Serve, bundle: host.Bundle, upstream: FakeUpstream
) -> None:
    stub: rpc.DispatchServiceAsyncStub = rpc.DispatchServiceStub((await serve(bundle)).channel())
    whole = request()
    message = pb.CountTokensRequest(
        action=whole.action, body=whole.body, eligibility=whole.eligibility
    )
    estimate = await stub.CountTokens(message, timeout=5)
    assert estimate.source == pb.COUNT_SOURCE_ESTIMATE
    message.binding.CopyFrom(whole.plan.bindings[0])
    counted = await stub.CountTokens(message, timeout=5)
    assert counted.source == pb.COUNT_SOURCE_UPSTREAM
    assert counted.binding.provider == "p1"
    assert counted.input_token_count > 0
    assert set(upstream.requests[0].json) == {"model", "messages"}
    assert upstream.requests[0].path == "/v1/messages/count_tokens"
    upstream.script(Fault(status=500))
    assert await stub.CountTokens(message, timeout=5) == estimate


async def test_models_are_listed_in_pages(serve: Serve, bundle: host.Bundle) -> None:
    stub: rpc.DispatchServiceAsyncStub = rpc.DispatchServiceStub((await serve(bundle)).channel())
    message = pb.ListUpstreamModelsRequest(provider="p1", page_size=1)
    first = await stub.ListUpstreamModels(message, timeout=5)
    message.page_token = first.next_page_token
    last = await stub.ListUpstreamModels(message, timeout=5)
    assert [row.upstream_id for row in (*first.models, *last.models)] == [
        "fake-large",
        "fake-small",
    ]
    assert not last.next_page_token


async def test_the_lists_of_two_providers_are_asked_for_with_a_grant_each(
    serve: Serve, bundle: host.Bundle, keys: Keys
) -> None:
    stub: rpc.DispatchServiceAsyncStub = rpc.DispatchServiceStub((await serve(bundle)).channel())
    for provider in ("p1", "p2"):
        await stub.ListUpstreamModels(pb.ListUpstreamModelsRequest(provider=provider), timeout=5)
    assert len({asked.selection.idempotency_key for asked in keys.asked}) == 2


async def test_a_list_is_asked_for_with_the_credential_of_its_tenant(
    serve: Serve, bundle: host.Bundle, keys: Keys
) -> None:
    stub: rpc.DispatchServiceAsyncStub = rpc.DispatchServiceStub((await serve(bundle)).channel())
    for tenant in ("", "tenant-1"):
        message = pb.ListUpstreamModelsRequest(provider="p1", installation_id=tenant)
        await stub.ListUpstreamModels(message, timeout=5)
    assert [asked.action.installation_id for asked in keys.asked] == ["", "tenant-1"]


@pytest.mark.parametrize(
    ("provider", "fault", "reason"),
    [
        ("nowhere", Fault(), Reason.PROVIDER_NOT_CONFIGURED),
        ("google", Fault(), Reason.METHOD_NOT_IMPLEMENTED),
        ("p2", Fault(status=500), Reason.UPSTREAM_UNAVAILABLE),
        ("p2", Fault(bad_json=True), Reason.UPSTREAM_UNAVAILABLE),
    ],
)
async def test_a_list_that_cannot_be_had_says_why(
    serve: Serve,
    bundle: host.Bundle,
    second: FakeUpstream,
    provider: str,
    fault: Fault,
    reason: Reason,
) -> None:
    second.script(fault, times=None)
    stub: rpc.DispatchServiceAsyncStub = rpc.DispatchServiceStub((await serve(bundle)).channel())
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.ListUpstreamModels(pb.ListUpstreamModelsRequest(provider=provider), timeout=5)
    assert status.error_of(caught.value).reason is reason
