"""The one place where errors become ``google.rpc.Status`` and back.

Every status we send has one ErrorInfo (domain ``pointsman``), BadRequest on field errors and
RetryInfo when a wait is known. :func:`error_of` turns what a stub raises into our own errors: a
caller acts on ``reason``, never on the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.protobuf.message import DecodeError
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from services.domain.errors import (
    FieldViolation,
    InvalidRequestError,
    PeerError,
    Reason,
    RouterError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.protobuf.message import Message

ERROR_DOMAIN = "pointsman"
_DETAILS_KEY = "grpc-status-details-bin"

MAX_TEXT_BYTES = 512
"""Longest message, field, description or metadata value that is sent."""
MAX_DETAIL_BYTES = 1100
"""Size of one detail beyond which the rest of its entries is left out. gRPC drops headers above
8 KiB, encoding included, and a status that does not arrive has no reason."""

_REASONS = {reason.value: reason for reason in Reason}
_WITHOUT_DETAILS = {
    grpc.StatusCode.RESOURCE_EXHAUSTED: Reason.MESSAGE_TOO_LARGE,
    grpc.StatusCode.INVALID_ARGUMENT: Reason.INVALID_REQUEST,
    grpc.StatusCode.PERMISSION_DENIED: Reason.CALLER_NOT_ALLOWED,
    # Who refuses to know us between services refuses us, not the client's key.
    grpc.StatusCode.UNAUTHENTICATED: Reason.CALLER_NOT_ALLOWED,
}
_PEER_DOWN = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.UNIMPLEMENTED,
    }
)
_BROKEN = _PEER_DOWN | {
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.DATA_LOSS,
}
"""What a transport says of a call that it lost; our own faults come with details."""


def status_of(error: RouterError) -> status_pb2.Status:
    """Return the status message of ``error``, details included and cut to what can travel."""
    details: list[Message] = [_error_info(error)]
    if isinstance(error, InvalidRequestError):
        details.append(_bad_request(error.violations))
    if error.retry_after_s is not None:
        delay = duration_pb2.Duration()
        delay.FromNanoseconds(round(max(0.0, error.retry_after_s) * 1_000_000_000))
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    return status_pb2.Status(
        code=code_pb2.Code.Value(error.trait.code.value),
        message=_cut(error.message),
        details=[_packed(detail) for detail in details],
    )


def _error_info(error: RouterError) -> error_details_pb2.ErrorInfo:
    info = error_details_pb2.ErrorInfo(reason=error.reason.value, domain=ERROR_DOMAIN)
    for key, value in error.metadata.items():
        info.metadata[key] = _cut(value)
        if info.ByteSize() > MAX_DETAIL_BYTES:
            del info.metadata[key]
            break
    return info


def _bad_request(violations: Sequence[FieldViolation]) -> error_details_pb2.BadRequest:
    bad_request = error_details_pb2.BadRequest()
    for violation in violations:
        bad_request.field_violations.add(
            field=_cut(violation.field), description=_cut(violation.description)
        )
        if bad_request.ByteSize() > MAX_DETAIL_BYTES:
            if len(bad_request.field_violations) > 1:
                del bad_request.field_violations[-1]
            break
    return bad_request


def _cut(text: str) -> str:
    """Return ``text``, or as much of its start as fits, with a mark."""
    raw = text.encode(errors="replace")
    if len(raw) <= MAX_TEXT_BYTES:
        return raw.decode()
    return raw[: MAX_TEXT_BYTES - 3].decode(errors="ignore") + "…"


def grpc_status_of(error: RouterError) -> grpc.Status:
    """Return ``error`` in the form that ``abort_with_status`` takes."""
    return rpc_status.to_status(status_of(error))


def error_of(failure: grpc.aio.AioRpcError) -> RouterError:
    """Return our error for what a stub raised.

    A peer that is down, late or draining is a PeerError: its callers have fallbacks. A status
    without our details keeps its canonical meaning.
    """
    code = failure.code()
    status = _status_sent(failure)
    if status is None:
        return _without_details(code, failure.details() or code.name)
    info = error_details_pb2.ErrorInfo()
    retry = error_details_pb2.RetryInfo()
    bad_request = error_details_pb2.BadRequest()
    retry_after_s: float | None = None
    for detail in status.details:
        if detail.Unpack(info):
            continue
        if detail.Unpack(retry):
            retry_after_s = retry.retry_delay.ToNanoseconds() / 1_000_000_000
        else:
            detail.Unpack(bad_request)
    reason = _REASONS.get(info.reason) if info.domain == ERROR_DOMAIN else None
    if reason is None:
        return _without_details(code, status.message)
    if bad_request.field_violations:
        violations = [FieldViolation(v.field, v.description) for v in bad_request.field_violations]
        return InvalidRequestError(violations, reason=reason)
    kind = PeerError if code in _PEER_DOWN else RouterError
    return kind(reason, status.message, metadata=dict(info.metadata), retry_after_s=retry_after_s)


def _status_sent(failure: grpc.aio.AioRpcError) -> status_pb2.Status | None:
    """Return the status that the peer sent, if the call ended with it.

    One that arrives as the deadline passes or the connection breaks is not how the call ended.
    """
    for key, value in failure.trailing_metadata() or ():
        if key == _DETAILS_KEY:
            try:
                sent = status_pb2.Status.FromString(value)
            except DecodeError:
                return None
            return sent if sent.code == failure.code().value[0] else None
    return None


def _without_details(code: grpc.StatusCode, message: str) -> RouterError:
    if code in _BROKEN:  # the transport's text may name addresses: it is not for clients
        return PeerError(
            Reason.ROUTING_UNAVAILABLE,
            f"a service of the router does not answer ({code.name})",
            retry_after_s=1.0,
        )
    return RouterError(_WITHOUT_DETAILS.get(code, Reason.INTERNAL), message)


def _packed(message: Message) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(message)
    return packed
