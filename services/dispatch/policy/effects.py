"""What a session should remember of the attempts of one walk.

A strike says something of a model in one session, so only the fault that made the walk leave the
model counts: not a retry that helped, nor a binding whose neighbour answered. Overload, a missing
model, credentials and callers that left are never held against a model.
"""

from __future__ import annotations

from services.dispatch.model.enums import AttemptCause, EffectKind
from services.dispatch.policy.step import RETRYABLE
from services.domain.vocab import FailureClass

_NEVER_FIT = frozenset(
    {
        FailureClass.CAPABILITY,
        FailureClass.SCHEMA,
        FailureClass.SIGNATURE,
        FailureClass.UNBUILDABLE,
    }
)
"""The model can never take this session's requests."""

_BAD_CONDUCT = (RETRYABLE | {FailureClass.BAD_RESPONSE, FailureClass.BILLING}) - {
    FailureClass.OVERLOADED,
    FailureClass.RATE_LIMITED,
}

_SILENCES = frozenset({FailureClass.HEADER_TIMEOUT, FailureClass.STALL})

_REFUSALS = frozenset(
    {
        FailureClass.AUTH,
        FailureClass.BILLING,
        FailureClass.CONTENT_POLICY,
        FailureClass.CONTEXT_OVERFLOW,
        FailureClass.CYBER_REFUSAL,
        FailureClass.MODEL_NOT_FOUND,
        FailureClass.REJECTED,
    }
)
"""Upstream answers of the 4xx range that no retry helps."""


def if_rescued(failure_class: FailureClass, *, is_throttle_cooling: bool) -> EffectKind | None:
    """Return what to remember of a model that failed, once another one answered.

    ``is_throttle_cooling``: a throttled model cools for a while; else it is struck like others.
    """
    if failure_class in _NEVER_FIT:
        return EffectKind.EVICT_PIN
    if failure_class is FailureClass.RATE_LIMITED:
        return EffectKind.COOLDOWN if is_throttle_cooling else EffectKind.DEMOTE
    return EffectKind.DEMOTE if failure_class in _BAD_CONDUCT else None


def if_unserved(failure_class: FailureClass, rescue: AttemptCause | None) -> EffectKind | None:
    """Return what to remember of a model that failed when nothing answered.

    ``rescue`` is the rescue that goes on from here: an overload is not counted after a baseline.
    """
    if failure_class in _NEVER_FIT:
        return EffectKind.EVICT_PIN
    if failure_class is FailureClass.OVERLOADED:
        return None if rescue is AttemptCause.BASELINE else EffectKind.COUNT_OVERLOAD
    if failure_class in _SILENCES:
        return EffectKind.DEMOTE
    return EffectKind.COUNT_REFUSAL if failure_class in _REFUSALS else None


def if_answered(
    failure_class: FailureClass | None, *, is_throttle_cooling: bool
) -> EffectKind | None:
    """Return what to remember of the model whose answer was sent; ``failure_class`` broke it."""
    if failure_class is None:
        return EffectKind.CLEAR_COUNTS
    if failure_class is FailureClass.RATE_LIMITED and is_throttle_cooling:
        return EffectKind.COOLDOWN
    is_struck = failure_class in _BAD_CONDUCT or failure_class is FailureClass.RATE_LIMITED
    return EffectKind.DEMOTE if is_struck else None
