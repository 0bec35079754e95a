"""Fields that many messages share: times, enums, and the complaints about them."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, TypeVar

from pointsman.common.v1 import action_pb2, eligibility_pb2, grant_pb2
from pointsman.credentials.v1 import credentials_pb2 as pb

from services.credentials.model import (
    CALENDAR_END_UNIX_S,
    AuthScheme,
    Availability,
    Bucket,
    Cause,
    CoolingPolicy,
    EndKind,
    IdentityFormat,
    MarkKind,
    Origin,
    OveragePolicy,
    PlanStatus,
    Purpose,
    ReportOutcome,
    Strategy,
    SystemState,
    Verdict,
)
from services.domain.errors import InvalidRequestError
from services.domain.vocab import CredentialKind, CredentialOwner, WireFamily

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.protobuf import duration_pb2, timestamp_pb2
    from google.protobuf.message import Message

    from services.domain.fields import Fields

E = TypeVar("E")
M = TypeVar("M", bound=enum.Enum)
N = TypeVar("N", bound=int)


def _table(members: type[M], numbers: type[N], prefix: str) -> Mapping[M, N]:
    """Return the number on the wire of each member; a missing one stops the start."""
    return {
        one: numbers.Value(f"{prefix}_{one.name}")  # type: ignore[attr-defined]  # a wrapper at run time
        for one in members
    }


KINDS = _table(CredentialKind, grant_pb2.CredentialKind, "CREDENTIAL_KIND")
OWNERS = _table(CredentialOwner, grant_pb2.CredentialOwner, "CREDENTIAL_OWNER")
BUCKETS = _table(Bucket, grant_pb2.CredentialBucket, "CREDENTIAL_BUCKET")
SURFACES = _table(WireFamily, action_pb2.WireFamily, "WIRE_FAMILY")
AVAILABILITIES = _table(Availability, eligibility_pb2.ProviderAvailability, "PROVIDER_AVAILABILITY")
PLAN_STATUSES = _table(PlanStatus, eligibility_pb2.PlanStatus, "PLAN_STATUS")
PURPOSES = _table(Purpose, pb.SecretPurpose, "SECRET_PURPOSE")
STRATEGIES = _table(Strategy, pb.SelectionStrategy, "SELECTION_STRATEGY")
VERDICTS = _table(Verdict, pb.VerdictKind, "VERDICT_KIND")
SCHEMES = _table(AuthScheme, pb.AuthScheme, "AUTH_SCHEME")
END_KINDS = _table(EndKind, pb.EndKind, "END_KIND")
OUTCOMES = _table(ReportOutcome, pb.ReportOutcome, "REPORT_OUTCOME")
CAUSES = _table(Cause, pb.TransitionCause, "TRANSITION_CAUSE")
MARK_KINDS = _table(MarkKind, pb.MarkKind, "MARK_KIND")
SYSTEM_STATES = _table(SystemState, pb.SystemState, "SYSTEM_STATE")
ORIGINS = _table(Origin, pb.CredentialOrigin, "CREDENTIAL_ORIGIN")
OVERAGES = _table(OveragePolicy, pb.OveragePolicy, "OVERAGE_POLICY")
COOLINGS = _table(CoolingPolicy, pb.CoolingPolicy, "COOLING_POLICY")
IDENTITY_FORMATS = _table(IdentityFormat, pb.IdentityFormat, "IDENTITY_FORMAT")

_NANOS = 1_000_000_000
MAX_ID_CHARACTERS = 64


def inverse(table: Mapping[E, int]) -> Mapping[int, E]:
    """Return the table read from the wire."""
    return {number: member for member, number in table.items()}


KIND_OF = inverse(KINDS)
OWNER_OF = inverse(OWNERS)


def member(table: Mapping[int, E], number: int, field: str) -> E:
    """Return the member that a number on the wire means.

    Raises:
        InvalidRequestError: it is unspecified or not known.
    """
    found = table.get(number)
    if found is None:
        names = ", ".join(str(one) for one in table.values())
        raise InvalidRequestError.of(field, f"must be one of {names}")
    return found


def required(text: str, field: str, limit: int = MAX_ID_CHARACTERS) -> str:
    """Return a text that must be there and is at most ``limit`` characters long.

    Raises:
        InvalidRequestError: it is empty or too long.
    """
    if not text:
        raise InvalidRequestError.of(field, "must be set")
    if len(text) > limit:
        raise InvalidRequestError.of(field, f"must be at most {limit} characters")
    return text


def not_negative(number: int, field: str) -> int:
    """Return a number that is 0 or more.

    Raises:
        InvalidRequestError: it is less.
    """
    if number < 0:
        raise InvalidRequestError.of(field, "must be 0 or more")
    return number


def present(message: Message, field: str, path: str = "") -> None:
    """Check that a sub-message is there.

    Raises:
        InvalidRequestError: it is not.
    """
    if not message.HasField(field):
        raise InvalidRequestError.of(path or field, "must be set")


def unix_s(time: timestamp_pb2.Timestamp) -> float:
    """Return a time in seconds since 1970."""
    return time.seconds + time.nanos / _NANOS


def is_told(time: timestamp_pb2.Timestamp) -> bool:
    """Return whether a time is one that there is: of 1970 to 9999, absent included."""
    return 0 <= time.seconds < CALENDAR_END_UNIX_S and 0 <= time.nanos < _NANOS


def told_unix_s(time: timestamp_pb2.Timestamp, field: str) -> float:
    """Return a time in seconds since 1970.

    Raises:
        InvalidRequestError: it is before 1970 or after 9999.
    """
    if not is_told(time):
        raise InvalidRequestError.of(field, "must be a time from 1970 to 9999")
    return unix_s(time)


def seconds_of(span: duration_pb2.Duration) -> float:
    """Return a span of time in seconds."""
    return span.seconds + span.nanos / _NANOS


def timestamp(time_unix_s: float) -> Fields:
    """Return the fields of the message of a time in seconds since 1970."""
    seconds, rest = divmod(round(time_unix_s * 1_000_000), 1_000_000)
    return {"seconds": seconds, "nanos": rest * 1_000}


def optional_timestamp(time_unix_s: float | None) -> Fields | None:
    """Return the fields of the message of a time; None stays None, which leaves it absent."""
    return None if time_unix_s is None else timestamp(time_unix_s)
