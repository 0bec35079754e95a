"""Errors as clients see them and as upstreams say them."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class ErrorKind(enum.StrEnum):
    """What kind of error a client sees; fixes status, type and code in every dialect."""

    INVALID_REQUEST = "invalid_request"
    AUTHENTICATION = "authentication"
    BILLING = "billing"
    PERMISSION = "permission"
    NOT_FOUND = "not_found"
    BODY_TOO_LARGE = "body_too_large"
    CONTEXT_TOO_LARGE = "context_too_large"
    RATE_LIMIT = "rate_limit"
    INTERNAL = "internal"
    NOT_IMPLEMENTED = "not_implemented"
    UPSTREAM = "upstream"
    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"
    OVERLOADED = "overloaded"


@dataclass(frozen=True, slots=True)
class ClientError:
    """An error for a client. ``code`` is our stable machine code; ``param`` names a field."""

    kind: ErrorKind
    message: str
    code: str = ""
    param: str | None = None
    request_id: str = ""
    http_status: int | None = None
    """Overrides the kind's own status (an upstream's 4xx is kept)."""
    retry_after_s: float | None = None
    vendor_type: str = ""
    """An upstream's own error type, used instead of the kind's when it is of the same dialect."""


@dataclass(frozen=True, slots=True)
class UpstreamError:
    """What an upstream error says; ``http_status`` is the real or the mapped one."""

    http_status: int
    vendor_type: str = ""
    vendor_code: str = ""
    message: str = ""
    param: str | None = None
