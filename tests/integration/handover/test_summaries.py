"""Summaries through the real dispatch service, with a fake provider behind it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import grpc
import orjson
import pytest
from pointsman.common.v1 import action_pb2, attempt_pb2, binding_pb2, grant_pb2, usage_pb2
from pointsman.credentials.v1 import credentials_pb2 as credentials_pb
from pointsman.credentials.v1 import credentials_pb2_grpc as credentials_rpc
from pointsman.handover.v1 import handover_pb2 as pb
from pointsman.handover.v1 import handover_pb2_grpc as rpc

import services.dispatch.build
import services.handover.build
from services.dispatch.settings import DispatchSettings
from services.domain.catalog import build_catalog
from services.domain.vocab import WireFamily
from services.handover.settings import HandoverSettings
from services.runtime import host
from services.runtime.clock import SystemClock
from services.runtime.settings import CommonSettings, ProviderSettings
from tests.fakes.upstream import FakeUpstream, Fault, Scenario, Usage
from tests.unit.handover.conversations import ANTHROPIC, CHAT, body, messages_of, tool_loop

SMALL, LARGE = "m-small", "m-large"
KEY = "sk-sentinel-0123456789"


@dataclass
class Keys(credentials_rpc.CredentialsServiceServicer):
    """One key for everybody; keeps what it was asked."""

    asked: list[credentials_pb.AcquireSecretRequest] = field(default_factory=list)

    async def AcquireSecret(  # noqa: N802 - name fixed by the proto
        self,
        request: credentials_pb.AcquireSecretRequest,
        context: grpc.aio.ServicerContext[
            credentials_pb.AcquireSecretRequest, credentials_pb.AcquireSecretResponse
        ],
    ) -> credentials_pb.AcquireSecretResponse:
        self.asked.append(request)
        answer = credentials_pb.AcquireSecretResponse(
            grant=grant_pb2.CredentialGrant(
                grant_id="g",
                credential_id="c",
                credential_version=1,
                binding=binding_pb2.BindingRef(
                    model_id=request.selection.binding.model_id,
                    provider=request.selection.binding.provider,
                ),
                attribution=grant_pb2.CredentialAttribution(
                    fingerprint="0a0b0c0d",
                    kind=grant_pb2.CREDENTIAL_KIND_API_KEY,
                    owner=grant_pb2.CREDENTIAL_OWNER_OPERATOR,
                    bucket=grant_pb2.CREDENTIAL_BUCKET_CLEAN,
                ),
            )
        )
        answer.auth.scheme = credentials_pb.AUTH_SCHEME_X_API_KEY
        answer.auth.value_secret = KEY
        answer.cache_until_time.FromSeconds(int(time.time()) + 50)
        return answer

    async def ReportAttempt(  # noqa: N802 - name fixed by the proto
        self,
        request: credentials_pb.ReportAttemptRequest,
        context: grpc.aio.ServicerContext[
            credentials_pb.ReportAttemptRequest, credentials_pb.ReportAttemptResponse
        ],
    ) -> credentials_pb.ReportAttemptResponse:
        return credentials_pb.ReportAttemptResponse()


async def _nothing() -> None:
    return


@dataclass(slots=True)
class Stand:
    """A provider, its keys, and handover before them."""

    upstream: FakeUpstream
    keys: Keys
    stub: rpc.HandoverServiceAsyncStub

    async def summarize(
        self, family: WireFamily = ANTHROPIC, timeout: float = 8.0
    ) -> pb.SummarizeResponse:
        return await self.stub.Summarize(request(family), timeout=timeout)


@contextlib.asynccontextmanager
async def standing(family: WireFamily) -> AsyncIterator[Stand]:
    """Give handover, dispatch, keys and one provider that speaks ``family``."""
    keys = Keys()  # type: ignore[abstract]  # its other methods are never called
    async with contextlib.AsyncExitStack() as stack:
        upstream = await stack.enter_async_context(FakeUpstream())
        path = "" if family is ANTHROPIC else "/v1"
        provider = ProviderSettings(family=family, base_url=upstream.base_url + path)
        common = CommonSettings(providers={"p1": provider})
        price = {"input_usd_per_mtok": 1.0, "output_usd_per_mtok": 2.0}
        catalog = build_catalog(
            [
                {
                    "models": [
                        {
                            "id": name,
                            "bindings": [{"provider": "p1", "upstream_id": f"up-{name}", **price}],
                        }
                        for name in (SMALL, LARGE)
                    ]
                }
            ]
        )
        credentials = host.in_process(
            host.Bundle(
                "pointsman.credentials.v1.CredentialsService",
                lambda server: credentials_rpc.add_CredentialsServiceServicer_to_server(
                    keys, server
                ),
                _nothing,
                _nothing,
            )
        )
        dispatch = services.dispatch.build.build(
            DispatchSettings(backoff_base_ms=1),
            common,
            catalog=catalog,
            clock=SystemClock(),
            channel_to=lambda _: credentials.channel("dispatch"),
        )
        handover = services.handover.build.build(
            HandoverSettings(model=SMALL, provider="p1"),
            common,
            catalog=catalog,
            clock=SystemClock(),
            channel_to=lambda _: host.in_process(dispatch).channel("handover"),
        )
        for bundle in (dispatch, handover):
            stack.push_async_callback(bundle.aclose)
            await bundle.start()
        yield Stand(
            upstream, keys, rpc.HandoverServiceStub(host.in_process(handover).channel("gateway"))
        )


def request(family: WireFamily) -> pb.SummarizeRequest:
    message = pb.SummarizeRequest(
        action=action_pb2.ActionContext(action_id="a-1", installation_id="i"),
        kind=pb.SUMMARY_KIND_SWITCH,
        credential_scope=pb.CREDENTIAL_SCOPE_DEPLOYMENT,
        first_attempt_number=1,
    )
    is_messages = family is ANTHROPIC
    message.body.wire_family = (
        action_pb2.WIRE_FAMILY_ANTHROPIC if is_messages else action_pb2.WIRE_FAMILY_OPENAI_CHAT
    )
    message.body.body = body(
        tool_loop(family),
        tools=[{"name": "Bash", "input_schema": {"type": "object"}}] if is_messages else [],
        thinking={"type": "enabled", "budget_tokens": 1024},
        metadata={"user_id": "u"},
    )
    message.features.SetInParent()
    message.eligibility.installation_id = "i"
    message.from_binding.model_id = message.to_binding.model_id = LARGE
    message.from_binding.provider = message.to_binding.provider = "p1"
    return message


@pytest.mark.spec("HND-5", "HND-10", "HND-12", "HND-16", "HND-17")
@pytest.mark.parametrize("client", [ANTHROPIC, CHAT])
@pytest.mark.parametrize("provider", [ANTHROPIC, CHAT])
async def test_a_history_of_either_dialect_is_summarised_by_a_model_of_either(
    client: WireFamily, provider: WireFamily
) -> None:
    async with standing(provider) as stand:
        stand.upstream.scenario = Scenario(text="All went well.")
        stand.upstream.script(Fault(usage=Usage(input=900, output=12, cached=100)))
        answer = await stand.summarize(client)
        assert answer.outcome == pb.SUMMARY_OUTCOME_SUMMARIZED
        assert "All went well." in messages_of(answer.body.body)[-2]["content"]  # type: ignore[operator]  # JSON
        (sent,) = stand.upstream.requests
        asked = orjson.loads(sent.body)
        assert asked["model"] == "up-m-small"
        assert not asked.get("stream")
        assert not {"tools", "tool_choice", "thinking", "metadata"} & set(asked)
        assert b"tool_use" not in sent.body
        assert b"tool_calls" not in sent.body
        assert b"two files" in sent.body
        (row,) = answer.attempts
        assert row.kind == attempt_pb2.ATTEMPT_KIND_SWITCH_SUMMARY
        assert row.outcome == attempt_pb2.ATTEMPT_OUTCOME_SERVED
        assert row.usage.output_token_count == 12
        assert row.usage.cache_read_token_count == 100
        assert row.usage.source == usage_pb2.USAGE_SOURCE_REPORTED
        assert row.credential.fingerprint == "0a0b0c0d"
        (secret,) = stand.keys.asked
        assert secret.selection.purpose == credentials_pb.SECRET_PURPOSE_AUXILIARY
        assert secret.selection.idempotency_key == "a-1/s1"
        if provider is ANTHROPIC:
            assert asked["max_tokens"] == 800
            assert sent.headers["anthropic-version"] == "2023-06-01"


@pytest.mark.spec("HND-15", "HND-27")
@pytest.mark.parametrize(
    ("fault", "outcome", "attempts"),
    [
        (Fault(status=503), pb.SUMMARY_OUTCOME_UPSTREAM_FAILED, 2),
        (Fault(status=429), pb.SUMMARY_OUTCOME_UPSTREAM_FAILED, 2),
        (Fault(status=429, retry_after=3), pb.SUMMARY_OUTCOME_UPSTREAM_FAILED, 1),
        (Fault(status=400, message="no"), pb.SUMMARY_OUTCOME_UPSTREAM_FAILED, 1),
        (Fault(bad_json=True), pb.SUMMARY_OUTCOME_UPSTREAM_FAILED, 1),
        (Fault(text=""), pb.SUMMARY_OUTCOME_EMPTY, 1),
        (Fault(drop=True), pb.SUMMARY_OUTCOME_UPSTREAM_FAILED, 2),
    ],
)
async def test_a_provider_that_fails_costs_its_attempts_and_no_history(
    fault: Fault, outcome: int, attempts: int
) -> None:
    async with standing(ANTHROPIC) as stand:
        stand.upstream.script(fault, times=None)
        answer = await stand.summarize()
        assert answer.outcome == outcome
        assert not answer.HasField("body")
        assert [row.attempt_number for row in answer.attempts] == list(range(1, attempts + 1))


@pytest.mark.spec("HND-14", "HND-27")
async def test_a_provider_that_is_slow_is_let_go_before_the_caller_gives_up() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.upstream.script(Fault(delay=20.0), times=None)
        answer = await stand.summarize(timeout=1.4)
        assert answer.outcome == pb.SUMMARY_OUTCOME_TIMEOUT
        (row,) = answer.attempts
        assert row.failure_class == attempt_pb2.FAILURE_CLASS_HEADER_TIMEOUT
        assert row.credential.fingerprint == "0a0b0c0d"
