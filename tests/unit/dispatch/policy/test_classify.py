from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.dispatch.policy.classify import class_of, class_of_denial
from services.domain.errors import Reason
from services.domain.vocab import CredentialKind, FailureClass
from services.domain.wire.model import UpstreamError

KEY = CredentialKind.API_KEY


def classed(
    status: int,
    message: str = "",
    *,
    vendor_type: str = "",
    code: str = "",
    kind: CredentialKind = KEY,
) -> FailureClass:
    return class_of(status, UpstreamError(status, vendor_type, code, message), kind)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (301, FailureClass.TRANSPORT),
        (400, FailureClass.REJECTED),
        (401, FailureClass.AUTH),
        (402, FailureClass.BILLING),
        (403, FailureClass.AUTH),
        (404, FailureClass.MODEL_NOT_FOUND),
        (408, FailureClass.UPSTREAM_STATUS),
        (409, FailureClass.REJECTED),
        (413, FailureClass.REJECTED),
        (422, FailureClass.REJECTED),
        (429, FailureClass.RATE_LIMITED),
        (500, FailureClass.UPSTREAM_STATUS),
        (503, FailureClass.UPSTREAM_STATUS),
        (529, FailureClass.OVERLOADED),
        (599, FailureClass.UPSTREAM_STATUS),
    ],
)
def test_a_status_without_words_has_its_class(status: int, expected: FailureClass) -> None:
    assert classed(status) is expected


@pytest.mark.spec("DSP-121")
@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (400, "This model does not support image input", FailureClass.CAPABILITY),
        (400, "Qwen is NOT A MULTIMODAL MODEL", FailureClass.CAPABILITY),
        (400, "Failed to compile grammar for tool 3", FailureClass.SCHEMA),
        (400, "Invalid function schema", FailureClass.SCHEMA),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", FailureClass.CONTEXT_OVERFLOW),
        (400, "This model's maximum context length is 8192", FailureClass.CONTEXT_OVERFLOW),
        (413, "input is too long", FailureClass.CONTEXT_OVERFLOW),
        (400, "Your credit balance is too low", FailureClass.BILLING),
        (403, "blocked by our content policy", FailureClass.CONTENT_POLICY),
        (400, "flagged for possible cybersecurity risk", FailureClass.CYBER_REFUSAL),
        (500, "does not support image input", FailureClass.UPSTREAM_STATUS),
        (422, "does not support image input", FailureClass.REJECTED),
    ],
)
def test_words_decide_only_at_their_statuses(
    status: int, message: str, expected: FailureClass
) -> None:
    assert classed(status, message) is expected


def test_a_quota_body_means_money_for_a_key_and_a_spent_plan_for_a_plan() -> None:
    assert classed(429, code="insufficient_quota") is FailureClass.BILLING
    plan = classed(429, code="usage_limit_reached", kind=CredentialKind.CODEX_OAUTH)
    assert plan is FailureClass.PLAN_EXHAUSTED
    assert classed(429, code="usage_limit_reached") is FailureClass.RATE_LIMITED


def test_one_vendor_refuses_a_key_as_a_bad_request() -> None:
    assert classed(400, code="API_KEY_INVALID") is FailureClass.AUTH
    assert classed(400, "API key expired. Please renew the API key.") is FailureClass.AUTH


def test_an_overload_is_told_by_its_type_whatever_the_status() -> None:
    assert classed(500, vendor_type="overloaded_error") is FailureClass.OVERLOADED


@given(st.integers(300, 599), st.text(), st.sampled_from(list(CredentialKind)))
def test_every_answer_has_a_class(status: int, message: str, kind: CredentialKind) -> None:
    assert isinstance(classed(status, message, kind=kind), FailureClass)


@pytest.mark.parametrize("reason", list(Reason), ids=str)
def test_every_denial_has_a_class(reason: Reason) -> None:
    assert class_of_denial(reason) in {
        FailureClass.CREDENTIALS_COOLING,
        FailureClass.CREDENTIALS_DISABLED,
        FailureClass.CREDENTIALS_UNREACHABLE,
        FailureClass.NO_ELIGIBLE_PROVIDER,
    }
