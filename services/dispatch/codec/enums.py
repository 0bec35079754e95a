"""Enums of the contract and our own, by name: a test holds each table against the contract."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from pointsman.common.v1 import action_pb2, attempt_pb2, grant_pb2, usage_pb2
from pointsman.credentials.v1 import credentials_pb2
from pointsman.dispatch.v1 import dispatch_pb2

from services.dispatch.model import enums
from services.domain import vocab
from services.domain.errors import InvalidRequestError
from services.domain.wire.model import StopReason, TransformAction
from services.domain.wire.state.kept import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

E = TypeVar("E", bound=enum.StrEnum)


class _Wire(Protocol):
    def items(self) -> list[tuple[str, int]]: ...


class Table(Generic[E]):
    """One enum of the contract beside ours; members that only one side has do not cross."""

    def __init__(self, wire: _Wire, ours: type[E], prefix: str) -> None:
        self.ours = ours
        self.prefix = prefix
        self.numbers: Mapping[str, int] = dict(wire.items())
        members = {
            self.numbers[prefix + member.name]: member
            for member in ours
            if prefix + member.name in self.numbers
        }
        numbers: dict[E | None, int | None] = {None: None}
        numbers.update((member, number) for number, member in members.items())
        self.number: Callable[[E | None], int | None] = numbers.__getitem__
        """Returns the contract's number of a member; None stays unspecified."""
        self.get: Callable[[int], E | None] = members.get
        """Returns our member; None for unspecified and unknown numbers."""


FAMILY = Table(action_pb2.WireFamily, vocab.WireFamily, "WIRE_FAMILY_")
KIND = Table(attempt_pb2.AttemptKind, enums.AttemptKind, "ATTEMPT_KIND_")
CAUSE = Table(attempt_pb2.AttemptCause, enums.AttemptCause, "ATTEMPT_CAUSE_")
OUTCOME = Table(attempt_pb2.AttemptOutcome, enums.AttemptOutcome, "ATTEMPT_OUTCOME_")
FAILURE = Table(attempt_pb2.FailureClass, vocab.FailureClass, "FAILURE_CLASS_")
STEP = Table(dispatch_pb2.WalkStep, enums.WalkStep, "WALK_STEP_")
EFFECT = Table(dispatch_pb2.SessionEffectKind, enums.EffectKind, "SESSION_EFFECT_KIND_")
WALK_END = Table(dispatch_pb2.WalkEnd, enums.WalkEnd, "WALK_END_")
TRANSFORM = Table(dispatch_pb2.TransformAction, TransformAction, "TRANSFORM_ACTION_")
PLACE = Table(dispatch_pb2.StatePlace, Place, "STATE_PLACE_")
STOP = Table(usage_pb2.StopReason, StopReason, "STOP_REASON_")
USAGE_SOURCE = Table(usage_pb2.UsageSource, enums.UsageSource, "USAGE_SOURCE_")
CREDENTIAL_KIND = Table(grant_pb2.CredentialKind, vocab.CredentialKind, "CREDENTIAL_KIND_")
OWNER = Table(grant_pb2.CredentialOwner, vocab.CredentialOwner, "CREDENTIAL_OWNER_")
BUCKET = Table(grant_pb2.CredentialBucket, enums.CredentialBucket, "CREDENTIAL_BUCKET_")
AUTH_SCHEME = Table(credentials_pb2.AuthScheme, enums.AuthScheme, "AUTH_SCHEME_")
PURPOSE = Table(credentials_pb2.SecretPurpose, enums.SecretPurpose, "SECRET_PURPOSE_")
END_KIND = Table(credentials_pb2.EndKind, enums.EndKind, "END_KIND_")


def required(table: Table[E], number: int, field: str) -> E:
    """Return our member of a required enum field.

    Raises:
        InvalidRequestError: it is unspecified or unknown.
    """
    member = table.get(number)
    if member is None:
        raise InvalidRequestError.of(field, "must be set to a value of the contract")
    return member
