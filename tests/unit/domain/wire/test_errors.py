from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.vocab import WireFamily
from services.domain.wire.errors import (
    MAX_MESSAGE_BYTES,
    anthropic_type,
    client_error_of,
    kind_of_status,
    mask_keys,
    openai_code,
    openai_type,
    status_of,
    status_of_anthropic_type,
)
from services.domain.wire.model import ClientError, ErrorKind, UpstreamError

ROWS = [
    (ErrorKind.INVALID_REQUEST, 400, "invalid_request_error", "invalid_request_error", None),
    (
        ErrorKind.AUTHENTICATION,
        401,
        "authentication_error",
        "invalid_request_error",
        "invalid_api_key",
    ),
    (ErrorKind.BILLING, 402, "billing_error", "insufficient_quota", "insufficient_quota"),
    (ErrorKind.PERMISSION, 403, "permission_error", "invalid_request_error", "permission_denied"),
    (ErrorKind.NOT_FOUND, 404, "not_found_error", "invalid_request_error", "model_not_found"),
    (
        ErrorKind.BODY_TOO_LARGE,
        413,
        "request_too_large",
        "invalid_request_error",
        "request_too_large",
    ),
    (
        ErrorKind.CONTEXT_TOO_LARGE,
        413,
        "invalid_request_error",
        "invalid_request_error",
        "context_length_exceeded",
    ),
    (ErrorKind.RATE_LIMIT, 429, "rate_limit_error", "rate_limit_error", "rate_limit_exceeded"),
    (ErrorKind.INTERNAL, 500, "api_error", "server_error", None),
    (ErrorKind.NOT_IMPLEMENTED, 501, "api_error", "server_error", "not_implemented"),
    (ErrorKind.UPSTREAM, 502, "api_error", "server_error", "upstream_error"),
    (ErrorKind.UNAVAILABLE, 503, "overloaded_error", "server_error", "unavailable"),
    (ErrorKind.TIMEOUT, 504, "timeout_error", "server_error", "timeout"),
]


@pytest.mark.spec(
    "XLT-192", "XLT-193", "XLT-194", "XLT-195", "XLT-196", "XLT-197", "XLT-198", "XLT-199",
    "XLT-200", "XLT-201", "XLT-202", "XLT-203",
)  # fmt: skip
@pytest.mark.parametrize(("kind", "status", "a_type", "o_type", "o_code"), ROWS)
def test_every_kind_has_its_status_type_and_code(
    kind: ErrorKind, status: int, a_type: str, o_type: str, o_code: str | None
) -> None:
    error = ClientError(kind, "m")
    assert status_of(error, WireFamily.ANTHROPIC) == status
    assert status_of(error, WireFamily.OPENAI_CHAT) == status
    assert (anthropic_type(error), openai_type(error), openai_code(error)) == (
        a_type,
        o_type,
        o_code,
    )


@pytest.mark.spec("XLT-204")
def test_overload_is_529_for_messages_clients_only() -> None:
    error = ClientError(ErrorKind.OVERLOADED, "m")
    assert status_of(error, WireFamily.ANTHROPIC) == 529
    assert status_of(error, WireFamily.OPENAI_CHAT) == 503
    kept = ClientError(ErrorKind.UPSTREAM, "m", http_status=529)
    assert status_of(kept, WireFamily.OPENAI_CHAT) == 503


@pytest.mark.spec("XLT-148")
@pytest.mark.parametrize(
    ("vendor_type", "status"),
    [
        ("overloaded_error", 529),
        ("rate_limit_error", 429),
        ("authentication_error", 401),
        ("permission_error", 403),
        ("not_found_error", 404),
        ("invalid_request_error", 400),
        ("api_error", 500),
        ("new_kind", 500),
    ],
)
def test_an_error_type_inside_a_stream_stands_for_a_status(vendor_type: str, status: int) -> None:
    assert status_of_anthropic_type(vendor_type) == status


@pytest.mark.spec("XLT-205")
def test_an_upstream_error_keeps_status_and_words_but_not_foreign_types() -> None:
    upstream = UpstreamError(422, "odd_error", "odd", "bad field", "x")
    foreign = client_error_of(upstream, is_same_family=False, request_id="r")
    assert (foreign.http_status, foreign.message, foreign.request_id) == (422, "bad field", "r")
    assert (anthropic_type(foreign), foreign.param) == ("invalid_request_error", None)
    own = client_error_of(upstream, is_same_family=True)
    assert (openai_type(own), openai_code(own), own.param) == ("odd_error", "odd", "x")
    assert client_error_of(UpstreamError(500), is_same_family=False).message
    assert kind_of_status(599) is ErrorKind.UPSTREAM


@pytest.mark.spec("XLT-205")
@pytest.mark.parametrize(
    "secret",
    [
        "sk-ant-api03-abcdefghijk",
        "sk-abc***xyz12",
        "rk_live0123456789",
        "AIzaSyA1234567890abcdef",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.abc",
        "0123456789abcdef0123456789abcdef0123456789",
        "someone@example.org",
    ],
)
def test_key_like_strings_are_masked(secret: str) -> None:
    masked = mask_keys(f"key {secret}, see docs")
    assert secret not in masked
    assert masked.startswith("key ***")


def test_ordinary_words_and_request_ids_are_left_alone() -> None:
    text = "messages.3: tool_use ids toolu_3d8112b982ca488d96be08c5 were found, req_011CSabc"
    assert mask_keys(text) == text


@given(st.text(max_size=300))
def test_masking_never_fails_and_keeps_to_the_limit(text: str) -> None:
    masked = mask_keys(text * 40)
    assert len(masked.encode()) <= MAX_MESSAGE_BYTES
