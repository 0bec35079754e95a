"""Which knobs are in force: the caller's over the artifact's, mapped, floored and hashed."""

from __future__ import annotations

import functools
import hashlib

from services.domain.errors import FieldViolation, InvalidRequestError, Reason
from services.scorer.model.artifact import Artifact
from services.scorer.model.decision import EffectiveKnobs
from services.scorer.model.question import Knobs

SUM_TOLERANCE = 1e-9
EXTREME_QUALITY = 0.9
EXTREME_TOGETHER = 0.95
"""Alpha, and alpha with speed, above which a caller's knobs are worth a look in the log."""
MOST_RISK_PRICE_FACTOR = 1e6
"""What the dial at its very end makes of the price of risk: quality whatever it costs."""


def effective(
    knobs: Knobs, artifact: Artifact, breakpoints: tuple[float, ...], risk_price_usd: float
) -> EffectiveKnobs:
    """Return the knobs in force for one request.

    Where the artifact has risk, alpha and speed have no meaning; the dial then scales the price of
    risk, from 0 over the default in the middle to whatever it costs.

    Raises:
        InvalidRequestError: alpha and speed are above 1 together in some cluster.
    """
    own = artifact.knobs
    price = 0.0
    alpha: tuple[float, ...] = ()
    speed = 0.0
    if artifact.has_risk:
        base = risk_price_usd if knobs.risk_price_usd is None else knobs.risk_price_usd
        price = base if knobs.quality_bias is None else base * dial_factor(knobs.quality_bias)
    else:
        alpha = _alpha(knobs, artifact, breakpoints)
        speed = own.speed_weight if knobs.speed_weight is None else knobs.speed_weight
        _refuse_too_much(alpha, speed)
    ratio, output = knobs.output_cost_ratio, knobs.expected_output_tokens
    verbosity = knobs.is_verbosity_per_model
    values = (
        alpha,
        speed,
        own.output_cost_ratio if ratio is None else ratio,
        own.expected_output_tokens if output is None else output,
        own.is_verbosity_per_model if verbosity is None else verbosity,
        price,
    )
    return EffectiveKnobs(*values, hash=knobs_hash(*values))


def is_extreme(asked: Knobs, found: EffectiveKnobs) -> bool:
    """Return whether a caller turned knobs so far that money hardly counts."""
    if asked.alpha is None and asked.quality_bias is None and asked.speed_weight is None:
        return False
    if not found.alpha:
        return asked.quality_bias is not None and asked.quality_bias > EXTREME_QUALITY
    alpha = max(found.alpha)
    return alpha > EXTREME_QUALITY or alpha + found.speed_weight > EXTREME_TOGETHER


def dial_factor(bias: float) -> float:
    """Return what a dial position in [0, 1] makes of the price of risk: ``t / (1 - t)``."""
    if bias >= 1:
        return MOST_RISK_PRICE_FACTOR
    return min(bias / (1 - bias), MOST_RISK_PRICE_FACTOR)


def interpolated(breakpoints: tuple[float, ...], bias: float) -> float:
    """Return the alpha at a dial position: linear between breakpoints in equal steps."""
    if len(breakpoints) < 2:
        return bias
    place = bias * (len(breakpoints) - 1)
    left = min(int(place), len(breakpoints) - 2)
    low, high = breakpoints[left], breakpoints[left + 1]
    return low + (high - low) * (place - left)


@functools.lru_cache(maxsize=256)
def knobs_hash(
    alpha: tuple[float, ...],
    speed: float,
    ratio: float,
    output_tokens: int,
    is_verbosity: bool,
    risk_price_usd: float,
) -> str:
    """Return 64 bits in hex over a canonical encoding: equal knobs have equal hashes."""
    zero = 0.0  # takes the sign off -0.0, which equals it
    numbers = [zero + number for number in (*alpha, speed, ratio, risk_price_usd)]
    canonical = ",".join([*(number.hex() for number in numbers), str(output_tokens)])
    return hashlib.sha256(f"{canonical},{is_verbosity:d}".encode()).hexdigest()[:16]


def _alpha(knobs: Knobs, artifact: Artifact, breakpoints: tuple[float, ...]) -> tuple[float, ...]:
    own = artifact.knobs
    if knobs.quality_bias is not None:
        mapped = interpolated(breakpoints, knobs.quality_bias)
        # A caller who says nothing of speed may turn the dial to its end.
        most = 1.0 if knobs.speed_weight is not None else 1.0 - own.speed_weight
        return tuple(min(max(mapped, floor), most) for floor in own.alpha_floor)
    if knobs.alpha is not None:
        return (knobs.alpha,) * len(own.alpha)
    return own.alpha


def _refuse_too_much(alpha: tuple[float, ...], speed: float) -> None:
    if max(alpha) + speed > 1 + SUM_TOLERANCE:
        fault = f"must be at most {1 - max(alpha):g} beside an alpha of {max(alpha):g}"
        raise InvalidRequestError(
            (FieldViolation("knobs.speed_weight_ratio", fault),),
            reason=Reason.INVALID_ROUTING_KNOBS,
        )
