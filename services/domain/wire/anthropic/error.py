"""Errors of the Messages dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.errors import anthropic_type, mask_keys, status_of_anthropic_type
from services.domain.wire.model import UpstreamError
from services.domain.wire.reading import dump, mapping, peek, text, well_formed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import ClientError, Observation


def decode_error(status: int, body: bytes) -> UpstreamError:
    """Return what an error body says; a body of any other shape gives an empty message."""
    return error_of(mapping(peek(body)), status)


def error_of(envelope: Mapping[str, object], status: int | None = None) -> UpstreamError:
    """Return the error of an envelope; without ``status`` its type gives the status."""
    error = envelope.get("error")
    if isinstance(error, str):
        return UpstreamError(status or 500, message=mask_keys(error))
    members = mapping(error)
    vendor_type = well_formed(members.get("type"))
    message = text(members.get("message")) or text(envelope.get("message"))
    return UpstreamError(
        http_status=status or status_of_anthropic_type(vendor_type),
        vendor_type=vendor_type,
        vendor_code=well_formed(members.get("code")),
        message=mask_keys(message),
        param=well_formed(members.get("param")) or None,
    )


def encode_error(error: ClientError) -> bytes:
    """Return the error envelope; ``request_id`` is always there and null when none is known."""
    return dump(
        {
            "type": "error",
            "error": {"type": anthropic_type(error), "message": mask_keys(error.message)},
            "request_id": error.request_id or None,
        }
    )


def encode_stream_error(error: ClientError, _: Observation | None = None) -> bytes:
    """Return the frame that ends a started stream with an error."""
    return b"event: error\ndata: " + encode_error(error) + b"\n\n"
