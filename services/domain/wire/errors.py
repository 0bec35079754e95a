"""What an error looks like to a client: status, type and code of every kind in every dialect.

Context overflow keeps status 413 but is an ``invalid_request_error``; only a body over the byte
limit is ``request_too_large``. Overload is 529 where the client speaks Messages and 503 elsewhere,
because other clients do not know the number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from services.domain.vocab import WireFamily
from services.domain.wire.model import ClientError, ErrorKind, UpstreamError
from services.domain.wire.reading import join_surrogates

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_MESSAGE_BYTES = 8 * 1024
"""Longest upstream message that is shown to a client."""

OVERLOADED_STATUS = 529
"""Status of an overloaded upstream in the Messages dialect."""

GENERIC_MESSAGE = "upstream request failed"
"""Message of an upstream error that says nothing readable."""


class Wording(NamedTuple):
    """How one kind of error is worded: HTTP status, Messages type, OpenAI type and code."""

    http_status: int
    anthropic_type: str
    openai_type: str
    openai_code: str | None = None


WORDINGS: Mapping[ErrorKind, Wording] = {
    ErrorKind.INVALID_REQUEST: Wording(400, "invalid_request_error", "invalid_request_error"),
    ErrorKind.AUTHENTICATION: Wording(
        401, "authentication_error", "invalid_request_error", "invalid_api_key"
    ),
    ErrorKind.BILLING: Wording(402, "billing_error", "insufficient_quota", "insufficient_quota"),
    ErrorKind.PERMISSION: Wording(
        403, "permission_error", "invalid_request_error", "permission_denied"
    ),
    ErrorKind.NOT_FOUND: Wording(
        404, "not_found_error", "invalid_request_error", "model_not_found"
    ),
    ErrorKind.BODY_TOO_LARGE: Wording(
        413, "request_too_large", "invalid_request_error", "request_too_large"
    ),
    ErrorKind.CONTEXT_TOO_LARGE: Wording(
        413, "invalid_request_error", "invalid_request_error", "context_length_exceeded"
    ),
    ErrorKind.RATE_LIMIT: Wording(
        429, "rate_limit_error", "rate_limit_error", "rate_limit_exceeded"
    ),
    ErrorKind.INTERNAL: Wording(500, "api_error", "server_error"),
    ErrorKind.NOT_IMPLEMENTED: Wording(501, "api_error", "server_error", "not_implemented"),
    ErrorKind.UPSTREAM: Wording(502, "api_error", "server_error", "upstream_error"),
    ErrorKind.UNAVAILABLE: Wording(503, "overloaded_error", "server_error", "unavailable"),
    ErrorKind.TIMEOUT: Wording(504, "timeout_error", "server_error", "timeout"),
    ErrorKind.OVERLOADED: Wording(
        OVERLOADED_STATUS, "overloaded_error", "server_error", "overloaded"
    ),
}

_STATUS_KINDS: Mapping[int, ErrorKind] = {
    400: ErrorKind.INVALID_REQUEST,
    401: ErrorKind.AUTHENTICATION,
    402: ErrorKind.BILLING,
    403: ErrorKind.PERMISSION,
    404: ErrorKind.NOT_FOUND,
    408: ErrorKind.TIMEOUT,
    413: ErrorKind.BODY_TOO_LARGE,
    429: ErrorKind.RATE_LIMIT,
    500: ErrorKind.INTERNAL,
    501: ErrorKind.NOT_IMPLEMENTED,
    502: ErrorKind.UPSTREAM,
    503: ErrorKind.UNAVAILABLE,
    504: ErrorKind.TIMEOUT,
    OVERLOADED_STATUS: ErrorKind.OVERLOADED,
}

_ANTHROPIC_STATUSES: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": OVERLOADED_STATUS,
}

_MASK = "***"
_KEY_LIKE = re.compile(
    r"\b(?:sk|rk|pk|gsk|xai|key|ak)[-_][A-Za-z0-9_*.\-]{6,}"
    r"|\bAIza[A-Za-z0-9_\-]{10,}"
    r"|\bya29\.[A-Za-z0-9_\-.]{8,}"
    r"|\beyJ[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]+){0,2}"
    r"|(?<=Bearer )\S+"
    r"|(?P<long>[A-Za-z0-9_\-]{40,})"
    r"|\b[\w.+\-]{1,64}@[\w\-]{1,64}(?:\.[\w\-]{1,64})+"
)


def status_of(error: ClientError, family: WireFamily) -> int:
    """Return the HTTP status of ``error`` for a client of ``family``."""
    status = error.http_status or WORDINGS[error.kind].http_status
    if status == OVERLOADED_STATUS and family is not WireFamily.ANTHROPIC:
        return 503
    return status


def anthropic_type(error: ClientError) -> str:
    """Return the Messages error type; an upstream's own type of that dialect wins."""
    return error.vendor_type or WORDINGS[error.kind].anthropic_type


def openai_type(error: ClientError) -> str:
    """Return the OpenAI error type; an upstream's own type of that dialect wins."""
    return error.vendor_type or WORDINGS[error.kind].openai_type


def openai_code(error: ClientError) -> str | None:
    """Return the OpenAI error code: an upstream's own, else the kind's, else ours."""
    if error.vendor_type and error.code:
        return error.code
    return WORDINGS[error.kind].openai_code or error.code or None


def kind_of_status(status: int) -> ErrorKind:
    """Return the kind that an HTTP status stands for; unknown 4xx are bad requests."""
    kind = _STATUS_KINDS.get(status)
    if kind is not None:
        return kind
    return ErrorKind.INVALID_REQUEST if 400 <= status < 500 else ErrorKind.UPSTREAM


def status_of_anthropic_type(vendor_type: str) -> int:
    """Return the HTTP status that a Messages error type stands for inside a 200 stream."""
    return _ANTHROPIC_STATUSES.get(vendor_type, 500)


def client_error_of(
    error: UpstreamError, *, is_same_family: bool, request_id: str = ""
) -> ClientError:
    """Return what a client is told of an upstream error: status kept, message masked.

    The upstream's own type and code are kept only for a client of the same dialect.
    """
    return ClientError(
        kind=kind_of_status(error.http_status),
        message=mask_keys(error.message) or GENERIC_MESSAGE,
        code=error.vendor_code if is_same_family else "",
        param=error.param if is_same_family else None,
        request_id=request_id,
        http_status=error.http_status,
        vendor_type=error.vendor_type if is_same_family else "",
    )


def mask_keys(message: str) -> str:
    """Return ``message`` cut to 8 KiB of UTF-8 with key-like strings and addresses masked."""
    text = join_surrogates(message[:MAX_MESSAGE_BYTES])
    text = _KEY_LIKE.sub(_masked, text)
    encoded = text.encode()
    if len(encoded) <= MAX_MESSAGE_BYTES:
        return text
    return encoded[:MAX_MESSAGE_BYTES].decode("utf-8", "ignore")


def _masked(match: re.Match[str]) -> str:
    """Return the mask; a long word is only key-like when it mixes letters and digits."""
    word = match["long"]
    if word and not any(char.isdigit() for char in word):
        return word
    return _MASK
