"""Errors of our own services, as values that cross process borders without losing their reason.

The tree::

    RouterError                 any fault with a reason, a canonical code and an HTTP status
    ├── InvalidRequestError     a field is missing or out of range; names the field and the fix
    └── PeerError               another service of ours did not answer; the caller degrades

A reason is what callers act on; messages are for people. What an *upstream* said is never one of
these: it travels in dispatch's ``Failed`` part, classed by ``FailureClass``.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Code(enum.StrEnum):
    """Canonical status codes that our reasons use."""

    ABORTED = "ABORTED"
    ALREADY_EXISTS = "ALREADY_EXISTS"
    FAILED_PRECONDITION = "FAILED_PRECONDITION"
    INTERNAL = "INTERNAL"
    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    NOT_FOUND = "NOT_FOUND"
    OUT_OF_RANGE = "OUT_OF_RANGE"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    RESOURCE_EXHAUSTED = "RESOURCE_EXHAUSTED"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    UNAVAILABLE = "UNAVAILABLE"


class Reason(enum.StrEnum):
    """Closed list of reasons; equal to the contract's ErrorReason without its prefix."""

    INVALID_REQUEST = "INVALID_REQUEST"
    DEADLINE_REQUIRED = "DEADLINE_REQUIRED"
    CALLER_NOT_ALLOWED = "CALLER_NOT_ALLOWED"
    ROUTER_KEY_INVALID = "ROUTER_KEY_INVALID"
    SCOPE_MISSING = "SCOPE_MISSING"
    MESSAGE_TOO_LARGE = "MESSAGE_TOO_LARGE"
    SERVER_BUSY = "SERVER_BUSY"
    DRAINING = "DRAINING"
    INTERNAL = "INTERNAL"
    PLAINTEXT_SECRET_REFUSED = "PLAINTEXT_SECRET_REFUSED"
    KEY_RATE_LIMITED = "KEY_RATE_LIMITED"
    NOT_FOUND = "NOT_FOUND"
    NO_ELIGIBLE_PROVIDER = "NO_ELIGIBLE_PROVIDER"
    ALLOWLIST_EMPTIES_POOL = "ALLOWLIST_EMPTIES_POOL"
    GATEWAY_SERVES_NO_DEPLOYED_MODEL = "GATEWAY_SERVES_NO_DEPLOYED_MODEL"
    NO_ROUTABLE_MODELS = "NO_ROUTABLE_MODELS"
    FORCED_MODEL_EXCLUDED = "FORCED_MODEL_EXCLUDED"
    FORCED_MODEL_UNKNOWN = "FORCED_MODEL_UNKNOWN"
    FORCED_CLUSTER_UNSUPPORTED_STRATEGY = "FORCED_CLUSTER_UNSUPPORTED_STRATEGY"
    FORCED_CLUSTER_UNSERVABLE = "FORCED_CLUSTER_UNSERVABLE"
    INVALID_ROUTING_KNOBS = "INVALID_ROUTING_KNOBS"
    TRANSLATION_INTRINSICALLY_INCOMPATIBLE = "TRANSLATION_INTRINSICALLY_INCOMPATIBLE"
    TRANSLATION_PROVIDER_UNAVAILABLE = "TRANSLATION_PROVIDER_UNAVAILABLE"
    CONTEXT_WINDOW_EXCEEDED = "CONTEXT_WINDOW_EXCEEDED"
    CREDITS_EXHAUSTED = "CREDITS_EXHAUSTED"
    ROUTING_UNAVAILABLE = "ROUTING_UNAVAILABLE"
    POLICY_UNAVAILABLE = "POLICY_UNAVAILABLE"
    MODEL_NOT_FOUND = "MODEL_NOT_FOUND"
    ARTIFACT_NOT_FOUND = "ARTIFACT_NOT_FOUND"
    ALL_CREDENTIALS_COOLING = "ALL_CREDENTIALS_COOLING"
    CREDENTIALS_UNAVAILABLE = "CREDENTIALS_UNAVAILABLE"
    CREDENTIAL_CONCURRENCY = "CREDENTIAL_CONCURRENCY"
    GATEWAY_SERVES_NO_SUCH_MODEL = "GATEWAY_SERVES_NO_SUCH_MODEL"
    GRANT_UNKNOWN = "GRANT_UNKNOWN"
    GRANT_EXPIRED = "GRANT_EXPIRED"
    CREDENTIAL_NEEDS_LOGIN = "CREDENTIAL_NEEDS_LOGIN"
    CREDENTIAL_NOT_FOUND = "CREDENTIAL_NOT_FOUND"
    CREDENTIAL_DUPLICATE = "CREDENTIAL_DUPLICATE"
    VERSION_CONFLICT = "VERSION_CONFLICT"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    RESUME_TOKEN_EXPIRED = "RESUME_TOKEN_EXPIRED"
    SELECTION_NOT_FOUND = "SELECTION_NOT_FOUND"
    ALL_CREDENTIALS_TRIED = "ALL_CREDENTIALS_TRIED"
    TARGET_MISMATCH = "TARGET_MISMATCH"
    ELIGIBILITY_VIOLATION = "ELIGIBILITY_VIOLATION"
    PROVIDER_NOT_CONFIGURED = "PROVIDER_NOT_CONFIGURED"
    METHOD_NOT_IMPLEMENTED = "METHOD_NOT_IMPLEMENTED"
    UPSTREAM_UNAVAILABLE = "UPSTREAM_UNAVAILABLE"
    SCHEMA_UNSUPPORTED = "SCHEMA_UNSUPPORTED"
    INPUT_UNPROCESSABLE = "INPUT_UNPROCESSABLE"
    ARTIFACT_NOT_LOADED = "ARTIFACT_NOT_LOADED"


@dataclass(frozen=True, slots=True)
class Trait:
    """How one reason looks on gRPC and on HTTP."""

    code: Code
    http_status: int


TRAITS: Mapping[Reason, Trait] = {
    Reason.INVALID_REQUEST: Trait(Code.INVALID_ARGUMENT, 400),
    Reason.DEADLINE_REQUIRED: Trait(Code.INVALID_ARGUMENT, 500),
    Reason.CALLER_NOT_ALLOWED: Trait(Code.PERMISSION_DENIED, 500),
    Reason.ROUTER_KEY_INVALID: Trait(Code.UNAUTHENTICATED, 401),
    Reason.SCOPE_MISSING: Trait(Code.PERMISSION_DENIED, 403),
    Reason.MESSAGE_TOO_LARGE: Trait(Code.RESOURCE_EXHAUSTED, 413),
    Reason.SERVER_BUSY: Trait(Code.RESOURCE_EXHAUSTED, 503),
    Reason.DRAINING: Trait(Code.UNAVAILABLE, 503),
    Reason.INTERNAL: Trait(Code.INTERNAL, 500),
    Reason.PLAINTEXT_SECRET_REFUSED: Trait(Code.FAILED_PRECONDITION, 500),
    Reason.KEY_RATE_LIMITED: Trait(Code.RESOURCE_EXHAUSTED, 429),
    Reason.NOT_FOUND: Trait(Code.NOT_FOUND, 404),
    Reason.NO_ELIGIBLE_PROVIDER: Trait(Code.FAILED_PRECONDITION, 400),
    Reason.ALLOWLIST_EMPTIES_POOL: Trait(Code.FAILED_PRECONDITION, 400),
    Reason.GATEWAY_SERVES_NO_DEPLOYED_MODEL: Trait(Code.FAILED_PRECONDITION, 400),
    Reason.NO_ROUTABLE_MODELS: Trait(Code.FAILED_PRECONDITION, 400),
    Reason.FORCED_MODEL_EXCLUDED: Trait(Code.FAILED_PRECONDITION, 400),
    Reason.FORCED_MODEL_UNKNOWN: Trait(Code.FAILED_PRECONDITION, 400),
    Reason.FORCED_CLUSTER_UNSUPPORTED_STRATEGY: Trait(Code.FAILED_PRECONDITION, 400),
    Reason.FORCED_CLUSTER_UNSERVABLE: Trait(Code.FAILED_PRECONDITION, 400),
    Reason.INVALID_ROUTING_KNOBS: Trait(Code.INVALID_ARGUMENT, 400),
    Reason.TRANSLATION_INTRINSICALLY_INCOMPATIBLE: Trait(Code.FAILED_PRECONDITION, 400),
    Reason.TRANSLATION_PROVIDER_UNAVAILABLE: Trait(Code.UNAVAILABLE, 503),
    Reason.CONTEXT_WINDOW_EXCEEDED: Trait(Code.OUT_OF_RANGE, 413),
    Reason.CREDITS_EXHAUSTED: Trait(Code.RESOURCE_EXHAUSTED, 402),
    Reason.ROUTING_UNAVAILABLE: Trait(Code.UNAVAILABLE, 503),
    Reason.POLICY_UNAVAILABLE: Trait(Code.UNAVAILABLE, 503),
    Reason.MODEL_NOT_FOUND: Trait(Code.NOT_FOUND, 404),
    Reason.ARTIFACT_NOT_FOUND: Trait(Code.NOT_FOUND, 400),
    Reason.ALL_CREDENTIALS_COOLING: Trait(Code.RESOURCE_EXHAUSTED, 429),
    Reason.CREDENTIALS_UNAVAILABLE: Trait(Code.FAILED_PRECONDITION, 503),
    Reason.CREDENTIAL_CONCURRENCY: Trait(Code.RESOURCE_EXHAUSTED, 429),
    Reason.GATEWAY_SERVES_NO_SUCH_MODEL: Trait(Code.FAILED_PRECONDITION, 400),
    Reason.GRANT_UNKNOWN: Trait(Code.NOT_FOUND, 503),
    Reason.GRANT_EXPIRED: Trait(Code.FAILED_PRECONDITION, 503),
    Reason.CREDENTIAL_NEEDS_LOGIN: Trait(Code.FAILED_PRECONDITION, 503),
    Reason.CREDENTIAL_NOT_FOUND: Trait(Code.NOT_FOUND, 404),
    Reason.CREDENTIAL_DUPLICATE: Trait(Code.ALREADY_EXISTS, 409),
    Reason.VERSION_CONFLICT: Trait(Code.ABORTED, 409),
    Reason.STORE_UNAVAILABLE: Trait(Code.UNAVAILABLE, 503),
    Reason.RESUME_TOKEN_EXPIRED: Trait(Code.OUT_OF_RANGE, 410),
    Reason.SELECTION_NOT_FOUND: Trait(Code.NOT_FOUND, 404),
    Reason.ALL_CREDENTIALS_TRIED: Trait(Code.FAILED_PRECONDITION, 502),
    Reason.TARGET_MISMATCH: Trait(Code.INTERNAL, 502),
    Reason.ELIGIBILITY_VIOLATION: Trait(Code.INTERNAL, 500),
    Reason.PROVIDER_NOT_CONFIGURED: Trait(Code.FAILED_PRECONDITION, 502),
    Reason.METHOD_NOT_IMPLEMENTED: Trait(Code.FAILED_PRECONDITION, 501),
    Reason.UPSTREAM_UNAVAILABLE: Trait(Code.UNAVAILABLE, 502),
    Reason.SCHEMA_UNSUPPORTED: Trait(Code.INVALID_ARGUMENT, 503),
    Reason.INPUT_UNPROCESSABLE: Trait(Code.FAILED_PRECONDITION, 503),
    Reason.ARTIFACT_NOT_LOADED: Trait(Code.UNAVAILABLE, 503),
}


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One bad field: its dotted path and what to do about it."""

    field: str
    description: str


class RouterError(Exception):
    """A fault with a reason, a message for people and, where known, a wait.

    ``metadata`` holds every variable part of the message. ``retry_after_s`` is the wait in seconds
    after which the same call may succeed; None says that none is known.
    """

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        metadata: Mapping[str, str] | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.metadata = dict(metadata or {})
        self.retry_after_s = retry_after_s

    @property
    def trait(self) -> Trait:
        """The canonical code and HTTP status of the reason."""
        return TRAITS[self.reason]


class InvalidRequestError(RouterError):
    """A request that cannot be read: every bad field with its fix."""

    def __init__(
        self,
        violations: Sequence[FieldViolation],
        *,
        reason: Reason = Reason.INVALID_REQUEST,
    ) -> None:
        self.violations = tuple(violations)
        message = "; ".join(f"{v.field}: {v.description}" for v in self.violations)
        super().__init__(reason, message, metadata={"field": self.violations[0].field})

    @classmethod
    def of(cls, field: str, description: str) -> InvalidRequestError:
        """Return the error about one field."""
        return cls((FieldViolation(field, description),))


class PeerError(RouterError):
    """Another service of ours did not answer in time or at all; the caller's fallback applies."""
