"""The class of a failed attempt, from its status and what the upstream says, by tables.

Phrases are matched in lower case, without backticks, against the vendor's type, code and message
only. A phrase table belongs to one class and to a few statuses, so that prose of a server fault
decides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.errors import Reason
from services.domain.vocab import CredentialKind, FailureClass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import UpstreamError

PLAN_KINDS = frozenset(
    {CredentialKind.CLAUDE_OAUTH, CredentialKind.CODEX_OAUTH, CredentialKind.GEMINI_OAUTH}
)

CYBER_CODE = "cyber_policy"
_CYBER_PHRASE = b"flagged for possible cybersecurity risk"


def is_cyber_refusal(said: bytes) -> bool:
    """Return whether an error, as a body or as a frame of a stream, is a cyber refusal.

    The code counts when it stands in quotes; other filters of content have other codes.
    """
    lowered = said.lower()
    return _CYBER_PHRASE in lowered or b'"cyber_policy"' in lowered


_REFUSALS: tuple[tuple[frozenset[int], FailureClass, tuple[str, ...]], ...] = (
    (
        frozenset({400, 413, 422}),
        FailureClass.CONTEXT_OVERFLOW,
        (
            "context_length_exceeded",
            "maximum context length",
            "prompt is too long",
            "exceeds the context window",
            "exceed context limit",
            "input is too long",
            "exceeds the maximum number of tokens",
            "input token count exceeds",
            "maximum prompt length",
            "max_new_tokens must be <=",
        ),
    ),
    (
        frozenset({400, 403, 422}),
        FailureClass.CONTENT_POLICY,
        (
            "content_policy",
            "content_filter",
            "content management policy",
            "content filtering policy",
            "content policy",
            "usage policies",
            "safety system",
            "responsibleaipolicy",
        ),
    ),
    (
        frozenset({400, 403, 429}),
        FailureClass.BILLING,
        (
            "insufficient_quota",
            "credit balance is too low",
            "billing_hard_limit_reached",
            "billing_not_active",
            "billing_error",
            "insufficient credits",
            "please enable billing",
        ),
    ),
    (
        frozenset({400}),
        FailureClass.CAPABILITY,
        (
            "not a multimodal model",
            "does not support image",
            "image input is not supported",
            "image input is unsupported",
            "does not support vision",
            "multimodal input is not supported",
            "multimodal input is unsupported",
        ),
    ),
    (
        frozenset({400}),
        FailureClass.SCHEMA,
        (
            "conflict in schema definitions",
            "failed to compile grammar",
            "could not compile grammar",
            "invalid tool schema",
            "invalid function schema",
            "invalid schema for function",
            "invalid input schema",
            "schema is not representable",
        ),
    ),
    (
        frozenset({400}),
        FailureClass.SIGNATURE,
        ("thought_signature", "thought signature", "signature in thinking block"),
    ),
    (
        frozenset({400}),
        FailureClass.AUTH,
        ("api_key_invalid", "api key not valid", "api key expired"),
    ),
    (
        frozenset({400}),
        FailureClass.AUTH,
        ("third-party apps", "third party apps"),
    ),
    (
        frozenset({400, 403}),
        FailureClass.MODEL_NOT_FOUND,
        ("model_not_found", "unsupported_model", "model_not_available"),
    ),
)

_STATUSES: Mapping[int, FailureClass] = {
    401: FailureClass.AUTH,
    402: FailureClass.BILLING,
    403: FailureClass.AUTH,
    404: FailureClass.MODEL_NOT_FOUND,
    408: FailureClass.UPSTREAM_STATUS,
    429: FailureClass.RATE_LIMITED,
    529: FailureClass.OVERLOADED,
}

_PLAN_SPENT = ("usage_limit_reached", "usage_not_included", "insufficient_quota")


def class_of(
    status: int, error: UpstreamError, kind: CredentialKind, body: bytes = b""
) -> FailureClass:
    """Return the class of an upstream's error answer, whether a status or an in-stream error.

    ``kind`` is that of the credential: what means money for a key means a spent plan for a plan.
    ``body`` is the error as it came.
    """
    said = f"{error.vendor_type} {error.vendor_code} {error.message}".lower().replace("`", "")
    if error.vendor_code == CYBER_CODE or is_cyber_refusal(body or said.encode()):
        return FailureClass.CYBER_REFUSAL
    if kind in PLAN_KINDS and status in (400, 402, 403, 429) and _has(said, _PLAN_SPENT):
        return FailureClass.PLAN_EXHAUSTED
    for statuses, failure_class, phrases in _REFUSALS:
        if status in statuses and _has(said, phrases):
            return failure_class
    if error.param == "model" and status in (400, 404):
        return FailureClass.MODEL_NOT_FOUND
    if status >= 500 and error.vendor_type == "overloaded_error":
        return FailureClass.OVERLOADED
    found = _STATUSES.get(status)
    if found is not None:
        return found
    if status < 400:
        return FailureClass.TRANSPORT
    return FailureClass.UPSTREAM_STATUS if status >= 500 else FailureClass.REJECTED


def _has(said: str, phrases: tuple[str, ...]) -> bool:
    return any(phrase in said for phrase in phrases)


_DENIALS: Mapping[Reason, FailureClass] = {
    Reason.ALL_CREDENTIALS_COOLING: FailureClass.CREDENTIALS_COOLING,
    Reason.CREDENTIAL_CONCURRENCY: FailureClass.CREDENTIALS_COOLING,
    Reason.CREDENTIALS_UNAVAILABLE: FailureClass.CREDENTIALS_DISABLED,
    Reason.CREDENTIAL_NEEDS_LOGIN: FailureClass.CREDENTIALS_DISABLED,
    Reason.ALL_CREDENTIALS_TRIED: FailureClass.CREDENTIALS_DISABLED,
    Reason.NO_ELIGIBLE_PROVIDER: FailureClass.NO_ELIGIBLE_PROVIDER,
    Reason.GATEWAY_SERVES_NO_SUCH_MODEL: FailureClass.NO_ELIGIBLE_PROVIDER,
}


def class_of_denial(reason: Reason) -> FailureClass:
    """Return the class of a refusal of the credentials service; unknown ones are unreachable."""
    return _DENIALS.get(reason, FailureClass.CREDENTIALS_UNREACHABLE)
