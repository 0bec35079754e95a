"""What a client is told when an action fails: one table from causes to client errors. Pure.

Faults of our own services come as RouterError with a reason; what an upstream did comes as
dispatch's ``Failed`` with a class. A refusal of *our* credential (401, 402, 403) is 502 to the
client, who would else doubt its own key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.model import Denial
from services.domain.errors import Reason, RouterError
from services.domain.vocab import FailureClass, WireFamily
from services.domain.wire.errors import client_error_of, kind_of_status, mask_keys
from services.domain.wire.model import ClientError, ErrorKind, WireError
from services.domain.wire.openai_responses import is_event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.model import Failed, StreamFailure
    from services.domain.wire.codec import Codec

RETRY_SOON_S = 1.0
"""Wait named with every 503 whose cause may be gone at once."""

_REASON_KINDS: Mapping[Reason, ErrorKind] = {
    Reason.CONTEXT_WINDOW_EXCEEDED: ErrorKind.CONTEXT_TOO_LARGE,
    Reason.MESSAGE_TOO_LARGE: ErrorKind.BODY_TOO_LARGE,
}
"""Reasons whose HTTP status alone would name the wrong kind."""


def error_of(error: RouterError | WireError, request_id: str = "") -> ClientError:
    """Return what a client is told of a fault of ours, or of a body that cannot be read."""
    if isinstance(error, WireError):
        return _unreadable(error, request_id)
    status = error.trait.http_status
    kind = _REASON_KINDS.get(error.reason) or kind_of_status(status)
    wait = error.retry_after_s
    if wait is None and status == 503:
        wait = RETRY_SOON_S
    is_ours = kind is ErrorKind.INTERNAL
    return ClientError(
        kind=kind,
        message="internal error" if is_ours else mask_keys(error.message),
        code=error.metadata.get("code") or error.reason.value,
        param=error.metadata.get("field"),
        request_id=request_id,
        http_status=status,
        retry_after_s=wait,
    )


def _unreadable(error: WireError, request_id: str) -> ClientError:
    return ClientError(
        kind=ErrorKind.INVALID_REQUEST,
        message=mask_keys(str(error)),
        code=Reason.INVALID_REQUEST.value,
        param=error.path or None,
        request_id=request_id,
    )


def key_refused(denial: Denial) -> RouterError:
    """Return the refusal of a token; the same for unknown keys and for keys of another scope."""
    message = (
        "this router key has expired: make a new one with `pointsman keys create`"
        if denial is Denial.EXPIRED
        else "invalid router key: send a key made by `pointsman keys create` as a bearer token,"
        " x-api-key or x-router-key"
    )
    return RouterError(Reason.ROUTER_KEY_INVALID, message, metadata={"code": denial.value})


def auth_unavailable() -> RouterError:
    """Return the error for keys that cannot be looked up: a client must not doubt its key."""
    return RouterError(
        Reason.STORE_UNAVAILABLE,
        "router keys cannot be looked up now: try again",
        metadata={"code": "auth_unavailable"},
        retry_after_s=RETRY_SOON_S,
    )


# ---------------------------------------------------------------------------------------- upstream


@dataclass(frozen=True, slots=True)
class Rule:
    """How one failure class is rendered.

    ``kept`` is the range of upstream statuses that a client sees as they are; any other becomes
    ``kind``. ``is_credential`` marks refusals that are shown as such only to their owner.
    """

    kind: ErrorKind
    kept: range = range(0)
    is_credential: bool = False
    message: str = "upstream request failed"


_4XX = range(400, 500)
_5XX = range(500, 600)
_ANY = range(400, 600)

RULES: Mapping[FailureClass, Rule] = {
    FailureClass.UPSTREAM_STATUS: Rule(ErrorKind.UPSTREAM, _5XX),
    FailureClass.RATE_LIMITED: Rule(
        ErrorKind.RATE_LIMIT, range(429, 430), message="the provider limits the rate of requests"
    ),
    FailureClass.OVERLOADED: Rule(ErrorKind.OVERLOADED, message="the provider is overloaded"),
    FailureClass.TRANSPORT: Rule(ErrorKind.UPSTREAM, message="the provider cannot be reached"),
    FailureClass.HEADER_TIMEOUT: Rule(
        ErrorKind.TIMEOUT, message="the provider did not begin to answer in time"
    ),
    FailureClass.STALL: Rule(ErrorKind.TIMEOUT, message="the provider stopped answering"),
    FailureClass.STREAM_EMPTY: Rule(
        ErrorKind.UPSTREAM, message="the provider answered with an empty stream"
    ),
    FailureClass.STREAM_INCOMPLETE: Rule(
        ErrorKind.UPSTREAM, message="the provider's answer broke off"
    ),
    FailureClass.MODEL_NOT_FOUND: Rule(
        ErrorKind.NOT_FOUND, range(404, 405), message="the provider does not serve this model"
    ),
    FailureClass.BILLING: Rule(ErrorKind.BILLING, _4XX, is_credential=True),
    FailureClass.AUTH: Rule(ErrorKind.AUTHENTICATION, _4XX, is_credential=True),
    FailureClass.PLAN_EXHAUSTED: Rule(
        ErrorKind.RATE_LIMIT, _ANY, message="the subscription plan is used up"
    ),
    FailureClass.CAPABILITY: Rule(ErrorKind.INVALID_REQUEST, _4XX),
    FailureClass.SCHEMA: Rule(ErrorKind.INVALID_REQUEST, _4XX),
    FailureClass.SIGNATURE: Rule(ErrorKind.INVALID_REQUEST, _4XX),
    FailureClass.CONTEXT_OVERFLOW: Rule(
        ErrorKind.CONTEXT_TOO_LARGE, message="the conversation does not fit the model's window"
    ),
    FailureClass.CYBER_REFUSAL: Rule(ErrorKind.INVALID_REQUEST, _ANY),
    FailureClass.CONTENT_POLICY: Rule(ErrorKind.INVALID_REQUEST, _4XX),
    FailureClass.REJECTED: Rule(ErrorKind.INVALID_REQUEST, _4XX),
    FailureClass.PROVIDER_NOT_CONFIGURED: Rule(
        ErrorKind.UPSTREAM, message="the planned provider is not configured"
    ),
    FailureClass.CREDENTIALS_COOLING: Rule(
        ErrorKind.RATE_LIMIT, message="every credential for this model is limited now"
    ),
    FailureClass.CREDENTIALS_DISABLED: Rule(
        ErrorKind.UNAVAILABLE,
        message="every credential for this model is switched off, without a token now, or needs a"
        " new login",
    ),
    FailureClass.NO_ELIGIBLE_PROVIDER: Rule(
        ErrorKind.INVALID_REQUEST,
        message="no credential is configured for this model: set the provider's api_key",
    ),
    FailureClass.CREDENTIALS_UNREACHABLE: Rule(
        ErrorKind.UNAVAILABLE, message="credentials cannot be had now: try again"
    ),
    FailureClass.FORCED_MODEL_UNSERVABLE: Rule(
        ErrorKind.UNAVAILABLE, message="no provider can serve the forced model now"
    ),
    FailureClass.UNBUILDABLE: Rule(
        ErrorKind.UPSTREAM, message="the routed model cannot take this request"
    ),
    FailureClass.CANCELLED: Rule(ErrorKind.TIMEOUT, message="the action ran out of time"),
    FailureClass.BAD_RESPONSE: Rule(
        ErrorKind.UPSTREAM, message="the provider's answer cannot be read"
    ),
}
"""Every failure class and its rendering."""

_OWN_CREDENTIAL_STATUSES = frozenset({401, 402, 403})
_NAMED_WAITS = frozenset({FailureClass.CREDENTIALS_DISABLED, FailureClass.FORCED_MODEL_UNSERVABLE})


def is_kept(failed: Failed, surface: WireFamily) -> bool:
    """Return whether the upstream's error goes to the client as it came: bytes and status."""
    rule = RULES[failed.failure]
    status = failed.upstream_status
    if status is None or failed.wire_family is not surface or failed.is_body_truncated:
        return False
    if not failed.body.lstrip().startswith(b"{"):
        return False
    if surface is WireFamily.OPENAI_RESPONSES and is_event(failed.body):
        return False
    if _is_masked(failed, status):
        return False
    return status in rule.kept or failed.failure is FailureClass.CONTEXT_OVERFLOW


def failure_of(
    failed: Failed, surface: WireFamily, codec: Codec | None, request_id: str
) -> ClientError:
    """Return what a client is told when no attempt served; ``codec`` is the upstream's."""
    rule = RULES[failed.failure]
    status = failed.upstream_status
    wait = failed.retry_after_s
    if _is_masked(failed, status):
        return ClientError(
            kind=ErrorKind.UPSTREAM,
            message="the provider refused the credential configured for it",
            code=failed.failure.value,
            request_id=request_id,
            retry_after_s=wait,
        )
    if status is not None and status in rule.kept and codec is not None and failed.body:
        told = client_error_of(
            codec.decode_error(status, failed.body),
            is_same_family=failed.wire_family is surface,
            request_id=request_id,
        )
        return ClientError(
            kind=told.kind,
            message=told.message,
            code=told.code or failed.failure.value,
            param=told.param,
            request_id=request_id,
            http_status=status,
            retry_after_s=wait,
            vendor_type=told.vendor_type,
        )
    kind = kind_of_status(status) if status is not None and status in rule.kept else rule.kind
    if wait is None and kind is ErrorKind.UNAVAILABLE and failed.failure not in _NAMED_WAITS:
        wait = RETRY_SOON_S
    reason = failed.unbuildable_reason
    return ClientError(
        kind=kind,
        message=f"{rule.message}: {reason}" if reason else rule.message,
        code=failed.failure.value,
        request_id=request_id,
        http_status=status if status is not None and status in rule.kept else None,
        retry_after_s=wait,
    )


def broken_stream(failure: StreamFailure, request_id: str = "") -> ClientError:
    """Return what a client is told of an error after the commit point."""
    return ClientError(
        kind=kind_of_status(failure.http_status) if failure.http_status else ErrorKind.UPSTREAM,
        message=mask_keys(failure.message) or "upstream stream failed",
        code="upstream_error",
        request_id=request_id,
    )


def _is_masked(failed: Failed, status: int | None) -> bool:
    """Return whether the error is about a credential that is not the caller's."""
    if failed.is_caller_credential:
        return False
    return RULES[failed.failure].is_credential or status in _OWN_CREDENTIAL_STATUSES
