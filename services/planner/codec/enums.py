"""Enums of the contract beside our own, by name; a member without a number stops the start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.common.v1 import binding_pb2
from pointsman.planner.v1 import planner_pb2 as pb

from services.domain.errors import InvalidRequestError
from services.domain.vocab import ModelTier
from services.planner.model.decision import Reason, RiskBasis, Verdict
from services.planner.model.question import CacheState, Economics

if TYPE_CHECKING:
    from collections.abc import Mapping

VERDICTS: Mapping[Verdict, pb.Verdict] = {
    Verdict.STAY: pb.VERDICT_STAY,
    Verdict.SWITCH: pb.VERDICT_SWITCH,
}
REASONS: Mapping[Reason, pb.PlanReason] = {
    Reason.NO_PIN: pb.PLAN_REASON_NO_PIN,
    Reason.SAME_MODEL: pb.PLAN_REASON_SAME_MODEL,
    Reason.PIN_MODEL_MISSING: pb.PLAN_REASON_PIN_MODEL_MISSING,
    Reason.NO_PRIOR_USAGE: pb.PLAN_REASON_NO_PRIOR_USAGE,
    Reason.PRICING_MISSING: pb.PLAN_REASON_PRICING_MISSING,
    Reason.EV_POSITIVE: pb.PLAN_REASON_EV_POSITIVE,
    Reason.TIER_UPGRADE: pb.PLAN_REASON_TIER_UPGRADE,
    Reason.COLD_PIN_FOLLOW_FRESH: pb.PLAN_REASON_COLD_PIN_FOLLOW_FRESH,
    Reason.EV_NEGATIVE: pb.PLAN_REASON_EV_NEGATIVE,
    Reason.VALUE_POSITIVE: pb.PLAN_REASON_VALUE_POSITIVE,
    Reason.VALUE_NEGATIVE: pb.PLAN_REASON_VALUE_NEGATIVE,
}
ECONOMICS: Mapping[Economics, pb.Economics] = {
    Economics.VALUE: pb.ECONOMICS_VALUE,
    Economics.CORRECTED: pb.ECONOMICS_CORRECTED,
    Economics.LEGACY: pb.ECONOMICS_LEGACY,
}
RISK_BASES: Mapping[RiskBasis, pb.RiskBasis] = {
    RiskBasis.SCORER: pb.RISK_BASIS_SCORER,
    RiskBasis.TIER_STEP: pb.RISK_BASIS_TIER_STEP,
    RiskBasis.NONE: pb.RISK_BASIS_NONE,
}

_ECONOMICS_OF: Mapping[int, Economics] = {number: member for member, number in ECONOMICS.items()}
_TIER_OF: Mapping[int, ModelTier] = {
    binding_pb2.MODEL_TIER_LOW: ModelTier.LOW,
    binding_pb2.MODEL_TIER_MID: ModelTier.MID,
    binding_pb2.MODEL_TIER_HIGH: ModelTier.HIGH,
    binding_pb2.MODEL_TIER_TOP: ModelTier.TOP,
}
_CACHE_STATE_OF: Mapping[int, CacheState] = {
    pb.CACHE_STATE_WARM: CacheState.WARM,
    pb.CACHE_STATE_COLD: CacheState.COLD,
    pb.CACHE_STATE_BROKEN: CacheState.BROKEN,
}


def economics(number: int, field: str) -> Economics:
    """Return the economics to use.

    Raises:
        InvalidRequestError: they are unspecified or not known here.
    """
    found = _ECONOMICS_OF.get(number)
    if found is None:
        raise InvalidRequestError.of(field, "must be value, corrected or legacy")
    return found


def tier(number: int, field: str) -> ModelTier:
    """Return a tier; one that is not known here is unknown.

    Raises:
        InvalidRequestError: it is unspecified.
    """
    return _TIER_OF.get(_specified(number, field), ModelTier.UNKNOWN)


def cache_state(number: int, field: str) -> CacheState:
    """Return the warmth of a cache; a state that is not known here is cold.

    Raises:
        InvalidRequestError: it is unspecified.
    """
    return _CACHE_STATE_OF.get(_specified(number, field), CacheState.COLD)


def _specified(number: int, field: str) -> int:
    if number == 0:
        raise InvalidRequestError.of(field, "must not be unspecified; leave it out")
    return number
