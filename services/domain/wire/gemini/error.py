"""Errors of this dialect: reading an upstream's, writing a client's.

Source: https://google.aip.dev/193
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.errors import mask_keys, status_of
from services.domain.wire.model import ClientError, ErrorKind, UpstreamError
from services.domain.wire.reading import dump, mapping, peek, rows, text, well_formed, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Observation

_STATUSES: Mapping[ErrorKind, str] = {
    ErrorKind.INVALID_REQUEST: "INVALID_ARGUMENT",
    ErrorKind.AUTHENTICATION: "UNAUTHENTICATED",
    ErrorKind.BILLING: "FAILED_PRECONDITION",
    ErrorKind.PERMISSION: "PERMISSION_DENIED",
    ErrorKind.NOT_FOUND: "NOT_FOUND",
    ErrorKind.BODY_TOO_LARGE: "INVALID_ARGUMENT",
    ErrorKind.CONTEXT_TOO_LARGE: "INVALID_ARGUMENT",
    ErrorKind.RATE_LIMIT: "RESOURCE_EXHAUSTED",
    ErrorKind.INTERNAL: "INTERNAL",
    ErrorKind.NOT_IMPLEMENTED: "UNIMPLEMENTED",
    ErrorKind.UPSTREAM: "UNAVAILABLE",
    ErrorKind.UNAVAILABLE: "UNAVAILABLE",
    ErrorKind.TIMEOUT: "DEADLINE_EXCEEDED",
    ErrorKind.OVERLOADED: "UNAVAILABLE",
}
_HTTP_STATUSES: Mapping[str, int] = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "OUT_OF_RANGE": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ABORTED": 409,
    "ALREADY_EXISTS": 409,
    "RESOURCE_EXHAUSTED": 429,
    "CANCELLED": 499,
    "INTERNAL": 500,
    "UNKNOWN": 500,
    "DATA_LOSS": 500,
    "UNIMPLEMENTED": 501,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
_NOBODY_MAY_SERVE = "NO_ELIGIBLE_PROVIDER"


def decode_error(status: int, body: bytes) -> UpstreamError:
    """Return what an error body says; one of any other shape gives an empty message.

    An answer that was asked for as an array carries its error as the array's only element.
    """
    envelope = peek(body)
    found = rows(envelope)
    return error_of(mapping(found[0] if found else envelope), status)


def error_of(envelope: Mapping[str, object], status: int | None = None) -> UpstreamError:
    """Return the error of an envelope; without ``status`` its own code or name gives it."""
    error = envelope.get("error")
    if isinstance(error, str):
        return UpstreamError(status or 502, message=mask_keys(error))
    told = mapping(error)
    name = well_formed(told.get("status"))
    code = whole(told.get("code"))
    own = code if code is not None and 400 <= code <= 599 else _HTTP_STATUSES.get(name, 502)
    details = [mapping(row) for row in rows(told.get("details"))]
    return UpstreamError(
        http_status=status or own,
        vendor_type=name,
        vendor_code=next(filter(None, (well_formed(row.get("reason")) for row in details)), ""),
        message=mask_keys(text(told.get("message")) or text(envelope.get("message"))),
        param=_field(details),
    )


def _field(details: list[Mapping[str, object]]) -> str | None:
    for row in details:
        for violation in rows(row.get("fieldViolations")):
            if field := well_formed(mapping(violation).get("field")):
                return field
    return None


def encode_error(error: ClientError) -> bytes:
    """Return ``error`` in the envelope ``{"error":{code,message,status,details}}``."""
    return dump({"error": {**_told(error), "details": []}})


def encode_stream_error(error: ClientError, _: Observation | None = None) -> bytes:
    """Return ``error`` as the frame that ends a started stream."""
    return b"data: " + dump({"error": _told(error)}) + b"\n\n"


def _told(error: ClientError) -> dict[str, object]:
    name = error.vendor_type or _STATUSES[error.kind]
    if error.code == _NOBODY_MAY_SERVE and not error.vendor_type:
        name = "FAILED_PRECONDITION"
    code = status_of(error, WireFamily.GEMINI)
    return {"code": code, "message": mask_keys(error.message), "status": name}
