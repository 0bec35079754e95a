from __future__ import annotations

import pytest

from gateway.errors import (
    RULES,
    auth_unavailable,
    broken_stream,
    error_of,
    failure_of,
    is_kept,
    key_refused,
)
from gateway.model import Denial, Failed, StreamFailure
from services.domain.errors import Reason, RouterError
from services.domain.vocab import FailureClass, WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.errors import WORDINGS, status_of
from services.domain.wire.model import ErrorKind

A, O = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT  # noqa: E741 - the dialects' letters

STATUSES = {
    FailureClass.UPSTREAM_STATUS: 502,
    FailureClass.RATE_LIMITED: 429,
    FailureClass.OVERLOADED: 529,
    FailureClass.TRANSPORT: 502,
    FailureClass.HEADER_TIMEOUT: 504,
    FailureClass.STALL: 504,
    FailureClass.STREAM_EMPTY: 502,
    FailureClass.STREAM_INCOMPLETE: 502,
    FailureClass.MODEL_NOT_FOUND: 404,
    FailureClass.BILLING: 502,
    FailureClass.AUTH: 502,
    FailureClass.PLAN_EXHAUSTED: 429,
    FailureClass.CAPABILITY: 400,
    FailureClass.SCHEMA: 400,
    FailureClass.SIGNATURE: 400,
    FailureClass.CONTEXT_OVERFLOW: 413,
    FailureClass.CYBER_REFUSAL: 400,
    FailureClass.CONTENT_POLICY: 400,
    FailureClass.REJECTED: 400,
    FailureClass.PROVIDER_NOT_CONFIGURED: 502,
    FailureClass.CREDENTIALS_COOLING: 429,
    FailureClass.CREDENTIALS_DISABLED: 503,
    FailureClass.NO_ELIGIBLE_PROVIDER: 400,
    FailureClass.CREDENTIALS_UNREACHABLE: 503,
    FailureClass.FORCED_MODEL_UNSERVABLE: 503,
    FailureClass.UNBUILDABLE: 502,
    FailureClass.CANCELLED: 504,
    FailureClass.BAD_RESPONSE: 502,
}


@pytest.mark.spec("DSP-164", "XLT-206")
def test_what_cannot_be_said_to_a_model_is_named() -> None:
    failed = Failed(FailureClass.UNBUILDABLE, unbuildable_reason="messages[0]: has no form")
    error = failure_of(failed, A, None, "req")
    assert error.message == "the routed model cannot take this request: messages[0]: has no form"


@pytest.mark.spec("XLT-201", "XLT-203", "DSP-164", "DSP-165")
@pytest.mark.parametrize("failure", list(FailureClass))
def test_every_failure_class_has_its_status(failure: FailureClass) -> None:
    assert failure in RULES
    error = failure_of(Failed(failure), A, None, "req")
    assert status_of(error, A) == STATUSES[failure]
    assert error.request_id == "req"
    assert error.message


@pytest.mark.spec("DSP-163")
@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_is_rendered_with_its_status(reason: Reason) -> None:
    error = error_of(RouterError(reason, "why"), "req")
    expected = RouterError(reason, "why").trait.http_status
    assert status_of(error, A) == expected
    assert error.code == reason.value
    if expected == 503:
        assert error.retry_after_s == 1.0
    if expected == 413:
        is_body = reason is Reason.MESSAGE_TOO_LARGE
        assert (error.kind is ErrorKind.BODY_TOO_LARGE) == is_body


def test_the_cause_of_an_internal_fault_is_not_told() -> None:
    error = error_of(RouterError(Reason.INTERNAL, "at host db-7"))
    assert "db-7" not in error.message


@pytest.mark.spec("XLT-205", "DSP-151", "DSP-152")
@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (FailureClass.UPSTREAM_STATUS, 500),
        (FailureClass.UPSTREAM_STATUS, 503),
        (FailureClass.RATE_LIMITED, 429),
        (FailureClass.REJECTED, 422),
        (FailureClass.CONTEXT_OVERFLOW, 400),
        (FailureClass.CONTENT_POLICY, 400),
        (FailureClass.MODEL_NOT_FOUND, 404),
    ],
)
def test_bytes_are_kept_on_the_same_dialect_only(failure: FailureClass, status: int) -> None:
    failed = Failed(failure, upstream_status=status, body=b'{"error":{}}', wire_family=O)
    assert is_kept(failed, O)
    assert not is_kept(failed, A)


@pytest.mark.parametrize(
    "failed",
    [
        Failed(FailureClass.REJECTED, upstream_status=400, body=b"<html>", wire_family=A),
        Failed(FailureClass.REJECTED, upstream_status=400, body=b"", wire_family=A),
        Failed(
            FailureClass.REJECTED,
            upstream_status=400,
            body=b'{"a":',
            is_body_truncated=True,
            wire_family=A,
        ),
        Failed(FailureClass.TRANSPORT, wire_family=A),
        Failed(FailureClass.AUTH, upstream_status=401, body=b"{}", wire_family=A),
        Failed(FailureClass.REJECTED, upstream_status=403, body=b"{}", wire_family=A),
    ],
)
def test_what_is_no_error_document_of_the_client_is_never_kept(failed: Failed) -> None:
    assert not is_kept(failed, A)


def test_an_upstream_status_outside_its_class_is_not_shown() -> None:
    failed = Failed(FailureClass.UPSTREAM_STATUS, upstream_status=408, wire_family=A)
    assert status_of(failure_of(failed, A, codec_for(A), ""), A) == 502


@pytest.mark.spec("XLT-205")
def test_a_foreign_error_keeps_status_and_message_and_loses_keys() -> None:
    body = b'{"error":{"message":"bad key sk-abcdefghijklmnop","type":"t","code":"c"}}'
    failed = Failed(FailureClass.REJECTED, upstream_status=422, body=body, wire_family=O)
    error = failure_of(failed, A, codec_for(O), "")
    assert status_of(error, A) == 422
    assert "bad key" in error.message
    assert "abcdefghijklmnop" not in error.message
    assert error.vendor_type == ""


def test_a_callers_own_refusal_is_kept() -> None:
    failed = Failed(
        FailureClass.BILLING,
        upstream_status=402,
        body=b'{"error":{"message":"pay"}}',
        wire_family=O,
        is_caller_credential=True,
    )
    assert is_kept(failed, O)
    assert status_of(failure_of(failed, A, codec_for(O), ""), A) == 402


def test_waits_are_passed_on() -> None:
    failed = Failed(FailureClass.CREDENTIALS_COOLING, retry_after_s=12.5)
    assert failure_of(failed, A, None, "").retry_after_s == 12.5
    unreachable = Failed(FailureClass.CREDENTIALS_UNREACHABLE)
    assert failure_of(unreachable, A, None, "").retry_after_s == 1.0


@pytest.mark.spec("OPS-18")
def test_key_errors_tell_a_bad_key_from_a_store_that_is_down() -> None:
    assert error_of(key_refused(Denial.INVALID)).code == "invalid_key"
    assert error_of(key_refused(Denial.EXPIRED)).code == "key_expired"
    down = error_of(auth_unavailable())
    assert (down.code, down.retry_after_s, down.kind) == (
        "auth_unavailable",
        1.0,
        ErrorKind.UNAVAILABLE,
    )


@pytest.mark.spec("DSP-150")
def test_a_broken_stream_has_a_default_text() -> None:
    assert broken_stream(StreamFailure(0)).message == "upstream stream failed"
    assert broken_stream(StreamFailure(0)).kind is ErrorKind.UPSTREAM
    assert broken_stream(StreamFailure(529, message="busy")).kind is ErrorKind.OVERLOADED


def test_every_kind_has_a_wording() -> None:
    assert set(WORDINGS) == set(ErrorKind)
