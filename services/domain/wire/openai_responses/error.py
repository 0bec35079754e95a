"""Errors of this dialect: reading an upstream's, writing a client's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.errors import mask_keys, openai_code
from services.domain.wire.model import ClientError, UpstreamError
from services.domain.wire.openai_chat import error as envelope
from services.domain.wire.reading import dump, mapping, peek, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Observation

_STATUSES: Mapping[str, int] = {
    "invalid_prompt": 400,
    "context_length_exceeded": 400,
    "usage_limit_reached": 429,
    "usage_not_included": 429,
    "slow_down": 503,
    "server_is_overloaded": 503,
}
"""What codes mean that only this dialect has."""

encode_error = envelope.encode_error


def decode_error(status: int, body: bytes) -> UpstreamError:
    """Return what an upstream error says: an error body, an error event or a failed answer."""
    told = mapping(peek(body))
    failed = mapping(told.get("response")).get("error")
    if failed is None and told.get("type") == "error" and "error" not in told:
        failed = told
    if not isinstance(failed, dict):
        return envelope.decode_error(status, body)
    error = told_error(failed)
    return UpstreamError(status, error.vendor_type, error.vendor_code, error.message, error.param)


def is_event(body: bytes) -> bool:
    """Return whether an error's JSON is that of a stream's event, which is no body of an answer."""
    told = mapping(peek(body))
    kind = text(told.get("type"))
    is_bare = kind == "error" and not isinstance(told.get("error"), dict)
    return is_bare or kind.startswith("response.")


def told_error(raw: object) -> UpstreamError:
    """Return the error of a failed answer, with the status that its code stands for."""
    told = dict(mapping(raw))
    if told.get("type") == "error":
        del told["type"]
    error = envelope.error_of(502, {"error": told})
    code = text(told.get("code")) or text(told.get("type"))
    status = 400 if code.startswith("invalid_image") else _STATUSES.get(code, error.http_status)
    return UpstreamError(status, error.vendor_type, error.vendor_code, error.message, error.param)


def error_of_event(event: Mapping[str, object]) -> UpstreamError:
    """Return the error that an ``error`` event holds, nested or flat."""
    nested = event.get("error")
    return told_error(nested if isinstance(nested, dict) else event)


def error_member(error: ClientError) -> dict[str, object]:
    """Return the ``error`` member of a failed answer."""
    return {"code": openai_code(error) or "server_error", "message": mask_keys(error.message)}


def encode_stream_error(error: ClientError, seen: Observation | None = None) -> bytes:
    """Return ``error`` as the frame that ends a started stream: the answer failed.

    It repeats the answer's id and goes on with its numbers, where they were seen, for clients that
    take another answer's frame for a defect. What was said before is not repeated.
    """
    answer_id = seen.answer_id if seen is not None else ""
    failed: dict[str, object] = {
        "id": answer_id or f"resp_{error.request_id or 'failed'}",
        "object": "response",
        "status": "failed",
        "error": error_member(error),
        "incomplete_details": None,
        "output": [],
        "usage": None,
    }
    number = seen.next_number if seen is not None else 0
    frame = {"type": "response.failed", "sequence_number": number, "response": failed}
    return b"event: response.failed\ndata: " + dump(frame) + b"\n\n"
