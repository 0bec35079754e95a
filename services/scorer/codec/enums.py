"""Enums of the contract beside our own, by name; a member without a number stops the start."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pointsman.common.v1 import binding_pb2, eligibility_pb2
from pointsman.scorer.v1 import scorer_pb2 as pb

from services.domain.errors import InvalidRequestError
from services.domain.vocab import ModelTier
from services.scorer.model.decision import Evidence, Filter
from services.scorer.model.question import CandidateOrder, Layer


def _name(value_of: Callable[[str], int], name: str) -> str:
    """Return a name of the contract after looking it up."""
    value_of(name)
    return name


TIERS: Mapping[ModelTier, binding_pb2.ModelTier] = {
    ModelTier.UNKNOWN: binding_pb2.MODEL_TIER_UNSPECIFIED,
    ModelTier.LOW: binding_pb2.MODEL_TIER_LOW,
    ModelTier.MID: binding_pb2.MODEL_TIER_MID,
    ModelTier.HIGH: binding_pb2.MODEL_TIER_HIGH,
    ModelTier.TOP: binding_pb2.MODEL_TIER_TOP,
}
EVIDENCE: Mapping[Evidence, str] = {
    member: _name(pb.EvidenceSource.Value, f"EVIDENCE_SOURCE_{member.name}") for member in Evidence
}
FILTERS: Mapping[Filter, str] = {
    member: _name(pb.CandidateFilter.Value, f"CANDIDATE_FILTER_{member.name}") for member in Filter
}
_LAYER = "EXCLUSION_LAYER_"
LAYERS: Mapping[Layer, str] = {
    member: _name(
        eligibility_pb2.ExclusionLayer.Value,
        f"{_LAYER}{'UNSPECIFIED' if member is Layer.UNKNOWN else member.name}",
    )
    for member in Layer
}
_LAYER_OF: Mapping[int, Layer] = {
    eligibility_pb2.ExclusionLayer.Value(name): member for member, name in LAYERS.items()
}


def layer(number: int, field: str) -> Layer:
    """Return a layer; one that is not known here has no name.

    Raises:
        InvalidRequestError: it is unspecified.
    """
    return _LAYER_OF.get(_specified(number, field), Layer.UNKNOWN)


def is_acting(number: int, field: str) -> bool:
    """Return whether a decision acts; a mode that is not known here does not.

    Raises:
        InvalidRequestError: it is unspecified.
    """
    return _specified(number, field) == pb.SCORE_MODE_ACTING


def order(number: int, field: str) -> CandidateOrder:
    """Return an order; one that is not known here is by model.

    Raises:
        InvalidRequestError: it is unspecified.
    """
    is_speed = _specified(number, field) == pb.CANDIDATE_ORDER_SPEED
    return CandidateOrder.SPEED if is_speed else CandidateOrder.MODEL


def _specified(number: int, field: str) -> int:
    if number == 0:
        raise InvalidRequestError.of(field, "must not be unspecified")
    return number
