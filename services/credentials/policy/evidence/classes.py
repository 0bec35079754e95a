"""Sorts reports: each falls into exactly one class."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from services.credentials.model import PLAN_KINDS, EndKind, Phase
from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from services.credentials.model import Credential, Report
    from services.credentials.policy.evidence.bodies import BodyFacts


class Effect(enum.Enum):
    """What a report says about the credential."""

    NOTHING = enum.auto()
    """A request fault, a caller who left, a fault of the provider's own."""
    SUCCESS = enum.auto()
    THROTTLED = enum.auto()
    REFUSED = enum.auto()
    FORBIDDEN = enum.auto()
    UNPAID = enum.auto()
    UNSUPPORTED = enum.auto()
    NO_SUCH_MODEL = enum.auto()
    FEATURE = enum.auto()


class Transient(enum.Enum):
    """What a report says about faults that pass by themselves."""

    NOTHING = enum.auto()
    FAILED = enum.auto()
    SERVED = enum.auto()


def transient_of(report: Report) -> Transient:
    """Return whether the provider failed: 408, 5xx, no answer, or a stream without a payload."""
    if report.end_kind in (EndKind.CALLER_GONE, EndKind.NOT_SENT) or report.phase is Phase.ALIVE:
        return Transient.NOTHING
    status = report.http_status
    if report.end_kind is EndKind.EMPTY_STREAM or (
        status is None and report.end_kind is EndKind.FAILED
    ):
        return Transient.FAILED
    if status is None or report.is_challenge_page:
        return Transient.NOTHING
    if status == 408 or status >= 500:
        return Transient.FAILED
    is_whole = report.end_kind in (None, EndKind.SUCCEEDED)
    return Transient.SERVED if 200 <= status < 300 and is_whole else Transient.NOTHING


def effect_of(report: Report, facts: BodyFacts) -> Effect:
    """Return the one class that a report falls into.

    A missing status is no success; a caller who left, a request fault, an overload and a failure
    of the provider say nothing about the credential.
    """
    if report.end_kind in (EndKind.CALLER_GONE, EndKind.NOT_SENT) or report.phase is Phase.ALIVE:
        return Effect.NOTHING
    if report.is_model_not_found:
        return Effect.NO_SUCH_MODEL
    status = report.http_status
    if status is None or report.is_challenge_page:
        return Effect.NOTHING
    if 200 <= status < 300:
        is_broken = report.end_kind in (EndKind.FAILED, EndKind.EMPTY_STREAM)
        return Effect.NOTHING if is_broken else Effect.SUCCESS
    return _refusal(status, report, facts)


def _refusal(status: int, report: Report, facts: BodyFacts) -> Effect:
    if report.refused_feature and status in (400, 429):
        return Effect.FEATURE
    if status == 402 or (status in (400, 403, 429) and facts.is_about_money):
        return Effect.UNPAID
    match status:
        case 401:
            return Effect.REFUSED
        case 429 if not facts.is_overload:
            return Effect.THROTTLED
        case 400 | 422 if facts.is_unsupported_model:
            return Effect.UNSUPPORTED
        case 403 if facts.is_forbidden:
            return Effect.FORBIDDEN
        case _:
            return Effect.NOTHING


def is_stale(credential: Credential, report: Report, effect: Effect) -> bool:
    """Return whether a report is about an older secret and so says nothing about this one."""
    return 0 < report.credential_version < credential.credential_version and effect in (
        Effect.REFUSED,
        Effect.UNPAID,
        Effect.FORBIDDEN,
        Effect.SUCCESS,
    )


def is_remembered(kind: CredentialKind, effect: Effect) -> bool:
    """Return whether a kind of credential is remembered not to serve a model.

    Vendors' keys never are: what they do not know now they may know at once. Accounts of plans
    differ in what they may use, and endpoints of tenants in what they have.
    """
    if effect is Effect.NO_SUCH_MODEL:
        return kind is CredentialKind.GATEWAY or kind in PLAN_KINDS
    return kind in PLAN_KINDS
