"""Errors of this dialect: reading an upstream's, writing a client's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.errors import GENERIC_MESSAGE, mask_keys, openai_code, openai_type
from services.domain.wire.model import ClientError, UpstreamError
from services.domain.wire.reading import dump, mapping, peek, text, well_formed, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Observation

_SIGNS = (
    ("insufficient_quota", 429),
    ("rate_limit", 429),
    ("too_many_requests", 429),
    ("overloaded", 503),
    ("unavailable", 503),
    ("timeout", 504),
    ("invalid_api_key", 401),
    ("authentication", 401),
    ("permission", 403),
    ("model_not_found", 404),
    ("not_found", 404),
    ("invalid_request", 400),
    ("context_length_exceeded", 400),
    ("content_filter", 400),
    ("server_error", 500),
)
"""What types and codes mean where no HTTP status can be seen, most telling first."""


def decode_error(status: int, body: bytes) -> UpstreamError:
    """Return what an upstream error body says; a body of another form gives what it can."""
    parsed = peek(body)
    if isinstance(parsed, list) and parsed:
        parsed = parsed[0]
    if not isinstance(parsed, dict):
        return UpstreamError(status, message=GENERIC_MESSAGE)
    return _told(status, parsed)


def error_of(default_status: int, chunk: Mapping[str, object]) -> UpstreamError:
    """Return the error that a frame of a 200 stream holds, with the status it stands for."""
    told = _told(default_status, chunk)
    code = mapping(chunk.get("error")).get("code")
    status = whole(code) or (int(code) if isinstance(code, str) and _is_status(code) else 0)
    if not 400 <= status <= 599:
        signs = f"{told.vendor_code} {told.vendor_type}".lower()
        status = next((found for sign, found in _SIGNS if sign in signs), default_status)
    return UpstreamError(status, told.vendor_type, told.vendor_code, told.message, told.param)


def _is_status(code: str) -> bool:
    return len(code) == 3 and code.isascii() and code.isdigit()


def _told(status: int, body: Mapping[str, object]) -> UpstreamError:
    error = body.get("error")
    if isinstance(error, str):
        return UpstreamError(status, message=well_formed(error))
    told = error if isinstance(error, dict) else body
    code = told.get("code")
    return UpstreamError(
        http_status=status,
        vendor_type=well_formed(told.get("type")),
        vendor_code=str(code) if isinstance(code, int) else well_formed(code),
        message=well_formed(text(told.get("message")) or told.get("detail")) or GENERIC_MESSAGE,
        param=well_formed(told.get("param")) or None,
    )


def encode_error(error: ClientError) -> bytes:
    """Return ``error`` in the envelope ``{"error":{message,type,param,code}}``."""
    return dump(
        {
            "error": {
                "message": mask_keys(error.message),
                "type": openai_type(error),
                "param": error.param,
                "code": openai_code(error),
            }
        }
    )


def encode_stream_error(error: ClientError, _: Observation | None = None) -> bytes:
    """Return ``error`` as the frame that ends a started stream; no end mark comes after it."""
    return b"data: " + encode_error(error) + b"\n\n"
