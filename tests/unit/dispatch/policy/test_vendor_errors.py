"""Errors as the vendors of each dialect send them, and the class that each has. Texts are ours."""

from __future__ import annotations

import orjson
import pytest
from prometheus_client import REGISTRY

from services.dispatch.policy.classify import class_of
from services.dispatch.policy.words import is_recognised
from services.dispatch.server.metrics import count_unrecognised
from services.domain.vocab import CredentialKind, FailureClass, WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import UpstreamError

ANTHROPIC, CHAT = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT
RESPONSES, GEMINI = WireFamily.OPENAI_RESPONSES, WireFamily.GEMINI
KEY, CODEX = CredentialKind.API_KEY, CredentialKind.CODEX_OAUTH
CLAUDE = CredentialKind.CLAUDE_OAUTH


def anthropic(kind: str, message: str = "no") -> bytes:
    return orjson.dumps({"type": "error", "error": {"type": kind, "message": message}})


def openai(
    message: str = "no", kind: str = "invalid_request_error", code: object = None, param: str = ""
) -> bytes:
    error = {"message": message, "type": kind, "param": param or None, "code": code}
    return orjson.dumps({"error": error})


def google(status: str, message: str = "no", reason: str = "") -> bytes:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}]
    error = {
        "code": 400,
        "message": message,
        "status": status,
        "details": details if reason else [],
    }
    return orjson.dumps({"error": error})


Row = tuple[WireFamily, int, bytes, CredentialKind, FailureClass]

ROWS: list[Row] = [
    # Messages: https://docs.claude.com/en/api/errors
    (ANTHROPIC, 400, anthropic("invalid_request_error"), KEY, FailureClass.REJECTED),
    (
        ANTHROPIC,
        400,
        anthropic("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
        KEY,
        FailureClass.CONTEXT_OVERFLOW,
    ),
    (
        ANTHROPIC,
        400,
        anthropic(
            "invalid_request_error", "input length and `max_tokens` exceed context limit: 9 + 1"
        ),
        KEY,
        FailureClass.CONTEXT_OVERFLOW,
    ),
    (
        ANTHROPIC,
        400,
        anthropic("invalid_request_error", "Your credit balance is too low"),
        KEY,
        FailureClass.BILLING,
    ),
    (
        ANTHROPIC,
        400,
        anthropic("invalid_request_error", "x: Invalid `signature` in `thinking` block"),
        KEY,
        FailureClass.SIGNATURE,
    ),
    (
        ANTHROPIC,
        400,
        anthropic("invalid_request_error", "Output blocked by content filtering policy"),
        KEY,
        FailureClass.CONTENT_POLICY,
    ),
    (
        ANTHROPIC,
        400,
        anthropic("invalid_request_error", "Third-party apps are not on plan limits"),
        CLAUDE,
        FailureClass.AUTH,
    ),
    (ANTHROPIC, 401, anthropic("authentication_error"), KEY, FailureClass.AUTH),
    (ANTHROPIC, 402, anthropic("billing_error"), KEY, FailureClass.BILLING),
    (ANTHROPIC, 403, anthropic("permission_error"), KEY, FailureClass.AUTH),
    (ANTHROPIC, 404, anthropic("not_found_error"), KEY, FailureClass.MODEL_NOT_FOUND),
    (ANTHROPIC, 413, anthropic("request_too_large"), KEY, FailureClass.REJECTED),
    (ANTHROPIC, 429, anthropic("rate_limit_error"), KEY, FailureClass.RATE_LIMITED),
    (ANTHROPIC, 500, anthropic("api_error"), KEY, FailureClass.UPSTREAM_STATUS),
    (ANTHROPIC, 504, anthropic("timeout_error"), KEY, FailureClass.UPSTREAM_STATUS),
    (ANTHROPIC, 529, anthropic("overloaded_error"), KEY, FailureClass.OVERLOADED),
    # Chat: https://platform.openai.com/docs/guides/error-codes
    (CHAT, 400, openai(code="context_length_exceeded"), KEY, FailureClass.CONTEXT_OVERFLOW),
    (CHAT, 400, openai(code="content_policy_violation"), KEY, FailureClass.CONTENT_POLICY),
    (CHAT, 400, openai(code="unsupported_parameter", param="x"), KEY, FailureClass.REJECTED),
    (
        CHAT,
        400,
        openai("Invalid schema for function 'f': bad", code="invalid_function_parameters"),
        KEY,
        FailureClass.SCHEMA,
    ),
    (CHAT, 400, openai("no such model", param="model"), KEY, FailureClass.MODEL_NOT_FOUND),
    (CHAT, 401, openai(code="invalid_api_key"), KEY, FailureClass.AUTH),
    (
        CHAT,
        403,
        openai(code="unsupported_country_region_territory"),
        KEY,
        FailureClass.AUTH,
    ),
    (CHAT, 404, openai(code="model_not_found"), KEY, FailureClass.MODEL_NOT_FOUND),
    (CHAT, 429, openai(kind="tokens", code="rate_limit_exceeded"), KEY, FailureClass.RATE_LIMITED),
    (
        CHAT,
        429,
        openai(kind="insufficient_quota", code="insufficient_quota"),
        KEY,
        FailureClass.BILLING,
    ),
    (CHAT, 500, openai(kind="server_error"), KEY, FailureClass.UPSTREAM_STATUS),
    (
        CHAT,
        503,
        openai("The engine is overloaded", "server_error"),
        KEY,
        FailureClass.UPSTREAM_STATUS,
    ),
    # compatible servers: vLLM, Together, xAI, OpenRouter
    (
        CHAT,
        400,
        openai("This model's maximum context length is 8 tokens.", "BadRequestError", 400),
        KEY,
        FailureClass.CONTEXT_OVERFLOW,
    ),
    (
        CHAT,
        422,
        openai("`inputs` tokens + `max_new_tokens` must be <= 8"),
        KEY,
        FailureClass.CONTEXT_OVERFLOW,
    ),
    (
        CHAT,
        400,
        openai("This model's maximum prompt length is 8 but the request contains 9"),
        KEY,
        FailureClass.CONTEXT_OVERFLOW,
    ),
    (CHAT, 400, openai("m is not a multimodal model"), KEY, FailureClass.CAPABILITY),
    (CHAT, 402, openai("Insufficient credits", code=402), KEY, FailureClass.BILLING),
    # Responses, and the Codex backend
    (RESPONSES, 400, openai(code="cyber_policy"), KEY, FailureClass.CYBER_REFUSAL),
    (
        RESPONSES,
        403,
        openai("This request was flagged for possible cybersecurity risk."),
        KEY,
        FailureClass.CYBER_REFUSAL,
    ),
    (RESPONSES, 400, openai(code="invalid_prompt"), KEY, FailureClass.REJECTED),
    (RESPONSES, 429, openai(kind="usage_limit_reached"), CODEX, FailureClass.PLAN_EXHAUSTED),
    (RESPONSES, 403, openai(kind="usage_not_included"), CODEX, FailureClass.PLAN_EXHAUSTED),
    (RESPONSES, 429, openai(kind="insufficient_quota"), CODEX, FailureClass.PLAN_EXHAUSTED),
    (RESPONSES, 429, openai(code="rate_limit_exceeded"), CODEX, FailureClass.RATE_LIMITED),
    (RESPONSES, 400, openai(code="unsupported_model"), CODEX, FailureClass.MODEL_NOT_FOUND),
    # Gemini: https://ai.google.dev/gemini-api/docs/troubleshooting
    (GEMINI, 400, google("INVALID_ARGUMENT"), KEY, FailureClass.REJECTED),
    (
        GEMINI,
        400,
        google("INVALID_ARGUMENT", "API key not valid.", "API_KEY_INVALID"),
        KEY,
        FailureClass.AUTH,
    ),
    (
        GEMINI,
        400,
        google("INVALID_ARGUMENT", "The input token count exceeds the maximum"),
        KEY,
        FailureClass.CONTEXT_OVERFLOW,
    ),
    (
        GEMINI,
        400,
        google("INVALID_ARGUMENT", "Function call is missing a thought_signature"),
        KEY,
        FailureClass.SIGNATURE,
    ),
    (
        GEMINI,
        400,
        google("FAILED_PRECONDITION", "Not in your country; please enable billing"),
        KEY,
        FailureClass.BILLING,
    ),
    (GEMINI, 403, google("PERMISSION_DENIED"), KEY, FailureClass.AUTH),
    (GEMINI, 404, google("NOT_FOUND"), KEY, FailureClass.MODEL_NOT_FOUND),
    (GEMINI, 429, google("RESOURCE_EXHAUSTED"), KEY, FailureClass.RATE_LIMITED),
    (GEMINI, 500, google("INTERNAL"), KEY, FailureClass.UPSTREAM_STATUS),
    (GEMINI, 503, google("UNAVAILABLE"), KEY, FailureClass.UPSTREAM_STATUS),
    (GEMINI, 504, google("DEADLINE_EXCEEDED"), KEY, FailureClass.UPSTREAM_STATUS),
]


@pytest.mark.spec("DSP-121", "DSP-100", "DSP-85")
@pytest.mark.parametrize(("family", "status", "body", "kind", "expected"), ROWS)
def test_a_vendors_error_has_its_class_and_is_recognised(
    family: WireFamily, status: int, body: bytes, kind: CredentialKind, expected: FailureClass
) -> None:
    error = codec_for(family).decode_error(status, body)
    assert class_of(status, error, kind, body) is expected
    assert is_recognised(family, error)


@pytest.mark.parametrize("family", WireFamily)
@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (502, b"<html>bad gateway</html>", FailureClass.UPSTREAM_STATUS),
        (503, b"", FailureClass.UPSTREAM_STATUS),
        (429, b'"slow"', FailureClass.RATE_LIMITED),
        (400, b'{"error":{"type":"brand_new_error","message":"?"}}', FailureClass.REJECTED),
        (404, b"[]", FailureClass.MODEL_NOT_FOUND),
    ],
)
def test_an_unknown_body_is_classed_by_its_status_and_counted(
    family: WireFamily, status: int, body: bytes, expected: FailureClass
) -> None:
    error = codec_for(family).decode_error(status, body)
    assert class_of(status, error, KEY, body) is expected
    assert counted(family, error) == 1


def test_a_word_of_the_dialect_is_not_counted() -> None:
    assert counted(ANTHROPIC, UpstreamError(529, "overloaded_error")) == 0


def test_a_status_out_of_range_has_no_label_of_its_own() -> None:
    assert counted(ANTHROPIC, UpstreamError(799), "other") == 1


def counted(family: WireFamily, error: UpstreamError, label: str = "") -> float:
    """Return by how much the counter moves for an error."""
    labels = {"family": family.value, "status": label or f"{error.http_status // 100}xx"}
    name = "pointsman_upstream_errors_unrecognised_total"
    before = REGISTRY.get_sample_value(name, labels) or 0.0
    count_unrecognised(family, error)
    return (REGISTRY.get_sample_value(name, labels) or 0.0) - before
