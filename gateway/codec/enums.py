"""Closed sets of ours beside the enums of the contract, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.common.v1 import action_pb2, attempt_pb2, eligibility_pb2, grant_pb2, usage_pb2
from pointsman.dispatch.v1 import dispatch_pb2

from gateway.model import Availability, EffectKind, Layer, RescueCause
from gateway.model.record import AttemptOutcome, UsageSource
from services.domain.vocab import CredentialKind, FailureClass, TurnType, WireFamily
from services.domain.wire.features import LastKind, Requirement
from services.domain.wire.model import StopReason
from services.domain.wire.state.kept import Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

WIRE_FAMILIES: Mapping[WireFamily, action_pb2.WireFamily] = {
    family: getattr(action_pb2.WireFamily, f"WIRE_FAMILY_{family.name}") for family in WireFamily
}
TURN_TYPES: Mapping[TurnType, action_pb2.TurnType] = {
    kind: getattr(action_pb2.TurnType, f"TURN_TYPE_{kind.name}") for kind in TurnType
}
LAST_KINDS: Mapping[LastKind, action_pb2.LastKind] = {
    kind: getattr(action_pb2.LastKind, f"LAST_KIND_{kind.name}") for kind in LastKind
}
REQUIREMENTS: Mapping[Requirement, action_pb2.Requirement] = {
    need: getattr(action_pb2.Requirement, f"REQUIREMENT_{need.name}") for need in Requirement
}
STATE_PLACES: Mapping[Place, dispatch_pb2.StatePlace] = {
    place: getattr(dispatch_pb2.StatePlace, f"STATE_PLACE_{place.name}") for place in Place
}
LAYERS: Mapping[Layer, eligibility_pb2.ExclusionLayer] = {
    layer: getattr(eligibility_pb2.ExclusionLayer, f"EXCLUSION_LAYER_{layer.name}")
    for layer in Layer
}
AVAILABILITIES: Mapping[Availability, eligibility_pb2.ProviderAvailability] = {
    state: getattr(eligibility_pb2.ProviderAvailability, f"PROVIDER_AVAILABILITY_{state.name}")
    for state in Availability
}
CREDENTIAL_KINDS: Mapping[CredentialKind, grant_pb2.CredentialKind] = {
    kind: getattr(grant_pb2.CredentialKind, f"CREDENTIAL_KIND_{kind.name}")
    for kind in CredentialKind
}
OWNERS: Mapping[str, grant_pb2.CredentialOwner] = {
    "operator": grant_pb2.CREDENTIAL_OWNER_OPERATOR,
    "tenant": grant_pb2.CREDENTIAL_OWNER_TENANT,
    "caller": grant_pb2.CREDENTIAL_OWNER_CALLER,
}
FAMILY_OF = {number: family for family, number in WIRE_FAMILIES.items()}
AVAILABILITY_OF = {number: state for state, number in AVAILABILITIES.items()}
KIND_OF = {number: kind for kind, number in CREDENTIAL_KINDS.items()}
OWNER_OF = {number: owner for owner, number in OWNERS.items()}
FAILURE_OF = {
    getattr(attempt_pb2.FailureClass, f"FAILURE_CLASS_{name.name}"): name for name in FailureClass
}
STOP_OF = {getattr(usage_pb2.StopReason, f"STOP_REASON_{stop.name}"): stop for stop in StopReason}
OUTCOME_OF = {
    getattr(attempt_pb2.AttemptOutcome, f"ATTEMPT_OUTCOME_{outcome.name}"): outcome
    for outcome in AttemptOutcome
}
SOURCE_OF = {
    getattr(usage_pb2.UsageSource, f"USAGE_SOURCE_{source.name}"): source for source in UsageSource
}
STEP_OF = {
    number: name.removeprefix("WALK_STEP_").lower()
    for name, number in dispatch_pb2.WalkStep.items()
    if number
}
STEPS: Mapping[str, dispatch_pb2.WalkStep] = {
    step: getattr(dispatch_pb2.WalkStep, f"WALK_STEP_{step.upper()}") for step in STEP_OF.values()
}
EFFECT_OF = {
    getattr(dispatch_pb2.SessionEffectKind, f"SESSION_EFFECT_KIND_{kind.name}"): kind
    for kind in EffectKind
}
RESCUE_CAUSES: Mapping[RescueCause, attempt_pb2.AttemptCause] = {
    cause: getattr(attempt_pb2.AttemptCause, f"ATTEMPT_CAUSE_{cause.name}") for cause in RescueCause
}
CAUSE_OF = {
    number: name.removeprefix("ATTEMPT_CAUSE_").lower()
    for name, number in attempt_pb2.AttemptCause.items()
    if number
}
CAUSES: Mapping[str, attempt_pb2.AttemptCause] = {
    cause: getattr(attempt_pb2.AttemptCause, f"ATTEMPT_CAUSE_{cause.upper()}")
    for cause in CAUSE_OF.values()
}
FAILURES = {failure.value: number for number, failure in FAILURE_OF.items()}
OUTCOMES = {outcome: number for number, outcome in OUTCOME_OF.items()}


def name_of(kind: EnumTypeWrapper, number: int) -> str:
    """Return the short name of an enum value; empty: not said, or not known here."""
    if not number or number not in kind.values():
        return ""
    return kind.Name(number).removeprefix(kind.Name(0).removesuffix("UNSPECIFIED")).lower()
