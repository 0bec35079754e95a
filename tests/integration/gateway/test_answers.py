"""Whole answers, errors and refusals over real HTTP, in the caller's dialect."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from gateway.eligibility import Policy
from gateway.model import (
    AttemptStarted,
    Failed,
    PresentedIdentity,
    ProviderState,
    Snapshot,
    StreamFailure,
)
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialKind, FailureClass, WireFamily
from tests.integration.gateway.conftest import Stack, head, tail

MESSAGES = {
    "model": "claude-large",
    "max_tokens": 50,
    "messages": [{"role": "user", "content": "hello"}],
}
CHAT = {"model": "claude-large", "messages": [{"role": "user", "content": "hello"}]}
STARTED = AttemptStarted(1, "acme", "claude-large")

A_BODY = (
    b'{ "id":"msg_1","type":"message","role":"assistant","model":"claude-large",'
    b'"content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","stop_sequence":null,'
    b'"usage":{"input_tokens":7,"output_tokens":3}, "unknown" : 1.50 }'
)
O_BODY = (
    b'{"id":"c1","object":"chat.completion","created":1,"model":"claude-large","choices":['
    b'{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}'
)


@pytest.mark.spec("XLT-42", "DSP-137", "XLT-10")
@pytest.mark.parametrize(
    ("path", "body", "family", "answer"),
    [
        ("/v1/messages", MESSAGES, WireFamily.ANTHROPIC, A_BODY),
        ("/v1/chat/completions", CHAT, WireFamily.OPENAI_CHAT, O_BODY),
    ],
)
async def test_a_whole_answer_of_the_same_family_keeps_its_bytes(
    stack: Stack, path: str, body: dict[str, object], family: WireFamily, answer: bytes
) -> None:
    headers = (
        ("content-type", "application/json; charset=utf-8"),
        ("request-id", "req_up"),
        ("connection", "close, x-private"),
        ("x-private", "1"),
        ("content-length", "5"),
        ("set-cookie", "a=b"),
    )
    stack.dispatch.steps = [
        STARTED,
        head(family, is_stream=False, headers=headers),
        answer[:40],
        answer[40:],
        tail(),
    ]
    async with stack.session.post(path, json=body) as got:
        assert got.status == 200
        assert await got.read() == answer
        assert got.headers["content-type"] == "application/json; charset=utf-8"
        assert got.headers["request-id"] == "req_up"
        assert "x-private" not in got.headers
        assert "set-cookie" not in got.headers
        assert "cache-control" not in got.headers
        assert "x-router-model" in got.headers["access-control-expose-headers"]
        assert got.headers["x-router-action-id"].startswith("act_")


async def test_whole_answers_are_translated_both_ways(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, head(WireFamily.OPENAI_CHAT, is_stream=False), O_BODY, tail()]
    async with stack.session.post("/v1/messages", json=MESSAGES) as got:
        message = await got.json()
    assert message["content"] == [{"type": "text", "text": "Hi"}]
    assert message["stop_reason"] == "end_turn"
    assert message["usage"]["input_tokens"] == 7

    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC, is_stream=False), A_BODY, tail()]
    async with stack.session.post("/v1/chat/completions", json=CHAT) as got:
        completion = await got.json()
    assert completion["choices"][0]["message"]["content"] == "Hi"
    assert completion["usage"]["total_tokens"] == 10


async def test_a_stream_wanted_of_a_provider_that_answers_whole_is_a_stream(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC, is_stream=False), A_BODY, tail()]
    async with stack.session.post("/v1/messages", json={**MESSAGES, "stream": True}) as got:
        assert got.headers["content-type"] == "text/event-stream"
        text = (await got.read()).decode()
    assert text.startswith("event: message_start")
    assert "event: message_stop" in text


async def test_an_answer_that_cannot_be_read_is_502(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC, is_stream=False), b"<html>", tail()]
    async with stack.session.post("/v1/chat/completions", json=CHAT) as got:
        assert got.status == 502
        assert (await got.json())["error"]["code"] == "upstream_error"


async def test_a_tenants_alias_is_replaced_by_the_catalog_id(stack: Stack) -> None:
    aliased = head(WireFamily.ANTHROPIC, is_stream=False, is_model_aliased=True)
    aliased = replace(aliased, binding=replace(aliased.binding, upstream_id="our-alias"))
    body = A_BODY.replace(b'"model":"claude-large"', b'"model" : "our-alias"')
    stack.dispatch.steps = [STARTED, aliased, body, tail()]
    async with stack.session.post("/v1/messages", json=MESSAGES) as got:
        assert await got.read() == body.replace(b"our-alias", b"claude-large")


async def test_a_body_that_breaks_off_keeps_an_error_status(stack: Stack) -> None:
    stack.dispatch.steps = [
        STARTED,
        head(WireFamily.ANTHROPIC, is_stream=False),
        A_BODY[:20],
        tail(StreamFailure(504, message="stalled")),
    ]
    async with stack.session.post("/v1/messages", json=MESSAGES) as got:
        assert got.status == 504
        assert (await got.json())["error"]["type"] == "timeout_error"


# ------------------------------------------------------------------------------------------ errors


UPSTREAM_ERROR = b'{"type":"error","error":{"type":"rate_limit_error","message":"slow"},"x":1}'


@pytest.mark.spec("XLT-205", "DSP-150")
async def test_an_upstream_error_of_the_same_dialect_keeps_its_bytes(stack: Stack) -> None:
    stack.dispatch.steps = [
        STARTED,
        Failed(
            FailureClass.RATE_LIMITED,
            upstream_status=429,
            body=UPSTREAM_ERROR,
            headers=(("retry-after", "7"), ("content-type", "text/plain")),
            retry_after_s=6.2,
            wire_family=WireFamily.ANTHROPIC,
        ),
    ]
    async with stack.session.post("/v1/messages", json=MESSAGES) as got:
        assert got.status == 429
        assert await got.read() == UPSTREAM_ERROR
        assert got.headers["retry-after"] == "7"
        assert got.headers["content-type"] == "application/json"
    async with stack.session.post("/v1/chat/completions", json=CHAT) as got:
        assert got.status == 429
        error = (await got.json())["error"]
        assert error["type"] == "rate_limit_error"
        assert error["code"] == "rate_limit_exceeded"
        assert error["message"] == "slow"


@pytest.mark.spec("XLT-205")
@pytest.mark.parametrize("status", [401, 402, 403])
async def test_a_refusal_of_our_credential_is_502_and_of_the_callers_own_is_kept(
    stack: Stack, status: int
) -> None:
    refusal = b'{"type":"error","error":{"type":"authentication_error","message":"bad sk-ant-x1"}}'
    failed = Failed(
        FailureClass.AUTH,
        upstream_status=status,
        body=refusal,
        wire_family=WireFamily.ANTHROPIC,
    )
    stack.dispatch.steps = [STARTED, failed]
    async with stack.session.post("/v1/messages", json=MESSAGES) as got:
        assert got.status == 502
        error = (await got.json())["error"]
        assert error["type"] == "api_error"
        assert "bad" not in error["message"]
    stack.dispatch.steps = [STARTED, replace(failed, is_caller_credential=True)]
    async with stack.session.post("/v1/messages", json=MESSAGES) as got:
        assert got.status == status


@pytest.mark.spec("XLT-204")
async def test_overload_is_529_on_messages_and_503_elsewhere(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, Failed(FailureClass.OVERLOADED, upstream_status=529)]
    async with stack.session.post("/v1/messages", json=MESSAGES) as got:
        assert got.status == 529
        assert (await got.json())["error"]["type"] == "overloaded_error"
    async with stack.session.post("/v1/chat/completions", json=CHAT) as got:
        assert got.status == 503


@pytest.mark.spec("XLT-196", "XLT-206")
async def test_an_unknown_model_is_404_and_names_what_looks_like_it(stack: Stack) -> None:
    async with stack.session.post("/v1/messages", json={**MESSAGES, "model": "claude-larg"}) as got:
        assert got.status == 404
        body = await got.json()
        assert body["error"]["type"] == "not_found_error"
        assert "claude-large" in body["error"]["message"]
        assert body["request_id"] == got.headers["request-id"]
    async with stack.session.post("/v1/chat/completions", json={**CHAT, "model": "zzz"}) as got:
        assert got.status == 404
        assert (await got.json())["error"]["code"] == "model_not_found"
    assert not stack.dispatch.orders


@pytest.mark.spec("POL-35", "XLT-192")
async def test_a_forced_model_serves_and_an_unknown_one_is_400(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC, is_stream=False), A_BODY, tail()]
    forced = {"x-router-force-model": "claude-large"}
    body = {**MESSAGES, "model": "whatever"}
    async with stack.session.post("/v1/messages", json=body, headers=forced) as got:
        assert got.status == 200
        assert got.headers["x-router-decision"] == "forced"
    order = stack.dispatch.orders[0]
    assert order.plan.is_user_forced
    assert order.record.forced_model == "claude-large"
    unknown = {"x-router-force-model": "nope"}
    async with stack.session.post("/v1/messages", json=MESSAGES, headers=unknown) as got:
        assert got.status == 400
        assert (await got.json())["error"]["type"] == "invalid_request_error"


@pytest.mark.spec("XLT-164")
async def test_a_forced_effort_goes_with_the_plan_and_an_unknown_one_is_400(stack: Stack) -> None:
    asked: tuple[tuple[dict[str, str], object], ...] = (
        ({"x-router-effort": "Ultra"}, MESSAGES["model"]),
        ({}, "claude-large:xhigh"),
    )
    for headers, model in asked:
        stack.dispatch.steps = [
            STARTED,
            head(WireFamily.ANTHROPIC, is_stream=False),
            A_BODY,
            tail(),
        ]
        body = {**MESSAGES, "model": model}
        async with stack.session.post("/v1/messages", json=body, headers=headers) as got:
            assert got.status == 200
        assert stack.dispatch.orders[-1].plan.effort == "xhigh"
    odd = {"x-router-effort": "loud"}
    async with stack.session.post("/v1/messages", json=MESSAGES, headers=odd) as got:
        assert got.status == 400
        assert "x-router-effort" in (await got.json())["error"]["message"]
    assert len(stack.dispatch.orders) == len(asked)


@pytest.mark.spec("DSP-160", "POL-40")
async def test_a_model_without_any_key_is_400_and_names_the_setting(stack: Stack) -> None:
    async with stack.session.post("/v1/messages", json={**MESSAGES, "model": "orphan"}) as got:
        assert got.status == 400
        assert "[providers.nowhere]" in (await got.json())["error"]["message"]


@pytest.mark.spec("DSP-162", "XLT-197")
async def test_a_conversation_over_every_window_is_413_of_the_request_kind(stack: Stack) -> None:
    long = {**MESSAGES, "model": "tiny", "messages": [{"role": "user", "content": "x" * 2000}]}
    async with stack.session.post("/v1/messages", json=long) as got:
        assert got.status == 413
        assert (await got.json())["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    ("refusal", "status", "wait"),
    [
        (RouterError(Reason.NO_ELIGIBLE_PROVIDER, "none"), 400, None),
        (RouterError(Reason.CREDENTIALS_UNAVAILABLE, "off"), 503, "1"),
        (RouterError(Reason.ALL_CREDENTIALS_COOLING, "wait", retry_after_s=11.2), 429, "12"),
        (RouterError(Reason.CREDENTIAL_CONCURRENCY, "busy", retry_after_s=0.2), 429, "1"),
    ],
)
async def test_a_selection_that_is_denied_ends_the_action(
    stack: Stack, refusal: RouterError, status: int, wait: str | None
) -> None:
    stack.credentials.refusal = refusal
    async with stack.session.post("/v1/messages", json=MESSAGES) as got:
        assert got.status == status
        assert got.headers.get("retry-after") == wait
    assert not stack.dispatch.orders


async def test_without_credentials_the_plan_goes_out_without_a_grant(stack: Stack) -> None:
    stack.credentials.is_away = True
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC, is_stream=False), A_BODY, tail()]
    async with stack.session.post("/v1/messages", json=MESSAGES) as got:
        assert got.status == 200
    order = stack.dispatch.orders[0]
    assert order.grant is None
    assert order.record.credentials_version == ""
    assert [binding.provider for binding in order.plan.bindings] == ["acme"]


@pytest.mark.spec("XLT-20", "DSP-11")
async def test_a_brought_credential_goes_to_its_own_provider_only(stack: Stack) -> None:
    identity = PresentedIdentity("f" * 32, CredentialKind.API_KEY, "globex")
    stack.credentials.known = {"sk-caller": identity}
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC, is_stream=False), A_BODY, tail()]
    headers = {
        "x-router-key": stack.session.headers["authorization"].removeprefix("Bearer "),
        "authorization": "Bearer sk-caller",
        "x-api-key": "rk_never_relayed_0123456789",
    }
    async with stack.session.post("/v1/messages", json=MESSAGES, headers=headers) as got:
        assert got.status == 200
    order = stack.dispatch.orders[0]
    assert [binding.provider for binding in order.plan.bindings] == ["globex"]
    assert [item.presented_secret for item, _ in order.plan.presented] == ["sk-caller"]
    assert order.record.presented_hashes == ("f" * 32,)
    assert [item.presented_secret for item in stack.credentials.asked[0][1]] == ["sk-caller"]


async def test_a_tenants_own_credentials_forbid_a_hop(stack: Stack) -> None:
    providers = (ProviderState("acme"), ProviderState("globex"))
    stack.credentials.snapshot = Snapshot("v", providers, has_tenant_credentials=True)
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC, is_stream=False), A_BODY, tail()]
    async with stack.session.post("/v1/messages", json=MESSAGES) as got:
        assert got.status == 200
    assert len(stack.dispatch.orders[0].plan.bindings) == 1


@pytest.fixture
async def operated(tmp_path: Path) -> AsyncIterator[Stack]:
    running = Stack(
        tmp_path,
        policy=Policy(
            "cfg",
            ("acme",),
            known_providers=("acme", "globex"),
            excluded_models=frozenset({"tiny"}),
            excluded_providers=frozenset({"acme"}),
            override_reason="debugging",
        ),
    )
    await running.start()
    yield running
    await running.aclose()


@pytest.mark.spec("POL-8", "POL-44")
async def test_operator_exclusions_bind_and_are_named(operated: Stack) -> None:
    async with operated.session.post("/v1/messages", json={**MESSAGES, "model": "tiny"}) as got:
        assert got.status == 400
        assert "excluded_models" in (await got.json())["error"]["message"]
    operated.dispatch.steps = [
        STARTED,
        head(WireFamily.ANTHROPIC, is_stream=False),
        A_BODY,
        tail(),
    ]
    async with operated.session.post("/v1/messages", json=MESSAGES) as got:
        assert got.status == 200
    order = operated.dispatch.orders[0]
    assert [binding.provider for binding in order.plan.bindings] == ["globex"]
    assert order.record.override_reason == "debugging"


# ----------------------------------------------------------------------------------- other routes


@pytest.mark.spec("XLT-9")
async def test_tokens_are_counted_by_dispatch_or_estimated(stack: Stack) -> None:
    body = {"model": "claude-large", "messages": [{"role": "user", "content": "hello " * 40}]}
    stack.dispatch.counted = 42
    async with stack.session.post("/v1/messages/count_tokens?beta=true", json=body) as got:
        assert await got.json() == {"input_tokens": 42}
    stack.dispatch.counted = None
    async with stack.session.post("/v1/messages/count_tokens", json=body) as got:
        assert (await got.json())["input_tokens"] == 60
    unknown = {**body, "model": "nobody-serves-this"}
    async with stack.session.post("/v1/messages/count_tokens", json=unknown) as got:
        assert got.status == 200
    assert not stack.dispatch.orders


@pytest.mark.spec("XLT-16")
async def test_models_come_in_the_shape_of_the_client(stack: Stack) -> None:
    async with stack.session.get("/v1/models") as got:
        listed = await got.json()
        assert listed["object"] == "list"
        assert {row["id"] for row in listed["data"]} == {"claude-large", "tiny", "orphan"}
    anthropic = {"anthropic-version": "2023-06-01"}
    async with stack.session.get("/v1/models", headers=anthropic) as got:
        listed = await got.json()
        assert listed["has_more"] is False
        assert listed["first_id"] == listed["data"][0]["id"]
    async with stack.session.get("/v1/models", headers={"user-agent": "codex_cli_rs/1"}) as got:
        assert await got.json() == {"models": []}
    async with stack.session.get("/v1/models/claude-large-20260101") as got:
        assert (await got.json())["id"] == "claude-large"
    async with stack.session.get("/v1/models/nope") as got:
        assert got.status == 404
    async with stack.session.get("/v1/models", headers={"authorization": "Bearer x"}) as got:
        assert got.status == 401


@pytest.mark.spec("XLT-18", "OPS-89")
async def test_health_needs_no_key(stack: Stack) -> None:
    nobody = {"authorization": ""}
    async with stack.session.get("/health", headers=nobody) as got:
        assert (got.status, await got.json()) == (200, {"status": "ok"})
    async with stack.session.get("/readyz", headers=nobody) as got:
        assert (got.status, (await got.json())["needs"]) == (200, {"gateway": "up"})
    async with stack.session.get("/v1/version", headers=nobody) as got:
        assert "version" in await got.json()
    async with stack.session.head("/", headers=nobody) as got:
        assert got.status == 200
    async with stack.session.get("/", headers=nobody) as got:
        assert got.status == 200


@pytest.mark.spec("XLT-196")
async def test_unknown_routes_and_methods_answer_in_an_envelope(stack: Stack) -> None:
    async with stack.session.get("/v1/nothing") as got:
        assert got.status == 404
        assert (await got.json())["error"]["type"] == "invalid_request_error"
    async with stack.session.get("/nothing", headers={"anthropic-version": "x"}) as got:
        assert (await got.json())["error"]["type"] == "not_found_error"
    async with stack.session.get("/v1/messages") as got:
        assert got.status == 405
        assert got.headers["allow"] == "POST"
        assert (await got.json())["type"] == "error"


async def test_nothing_of_a_defect_reaches_the_client(stack: Stack) -> None:
    stack.credentials.snapshot = "broken"  # type: ignore[assignment]  # a defect behind a port
    async with stack.session.post("/v1/messages", json=MESSAGES) as got:
        assert got.status == 500
        body = orjson.loads(await got.read())
        assert body["error"]["type"] == "api_error"
        assert "Attribute" not in body["error"]["message"]
