"""What a session should remember of the attempts of one walk.

A strike says something of a model in one session, so only the fault that made the walk leave the
model counts: not a retry that helped, nor a binding whose neighbour answered. Overload, a missing
model, credentials and callers that left are never held against a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.dispatch.model.enums import AttemptCause, EffectKind
from services.dispatch.policy.step import RETRYABLE
from services.domain.vocab import FailureClass

if TYPE_CHECKING:
    from services.dispatch.model.plan import Conduct

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

_TRANSIENT_STATUSES = frozenset({502, 503, 504})

_SILENCES = frozenset({FailureClass.HEADER_TIMEOUT, FailureClass.STALL})

_REFUSALS = frozenset(
    {
        FailureClass.AUTH,
        FailureClass.BILLING,
        FailureClass.CONTENT_POLICY,
        FailureClass.CYBER_REFUSAL,
        FailureClass.MODEL_NOT_FOUND,
        FailureClass.REJECTED,
    }
)
"""Upstream answers of the 4xx range that no retry helps."""


def if_rescued(
    failure_class: FailureClass, http_status: int | None, conduct: Conduct
) -> EffectKind | None:
    """Return what to remember of a model that failed, once another one answered."""
    if failure_class in _NEVER_FIT:
        return EffectKind.EVICT_PIN
    if failure_class is FailureClass.CONTEXT_OVERFLOW:
        return EffectKind.CORRECT_ESTIMATE
    return _of_conduct(failure_class, http_status, conduct)


def _of_conduct(
    failure_class: FailureClass, http_status: int | None, conduct: Conduct
) -> EffectKind | None:
    if failure_class is FailureClass.RATE_LIMITED:
        return EffectKind.COOLDOWN if conduct.is_throttle_cooling else EffectKind.DEMOTE
    if failure_class is FailureClass.OVERLOADED:
        return EffectKind.DEMOTE if conduct.is_overload_struck else None
    if failure_class not in _BAD_CONDUCT:
        return None
    is_transient = http_status in _TRANSIENT_STATUSES and conduct.is_transient_cooling
    return EffectKind.COOLDOWN if is_transient else EffectKind.DEMOTE


def if_unserved(failure_class: FailureClass, rescue: AttemptCause | None) -> EffectKind | None:
    """Return what to remember of a model that failed when nothing answered.

    ``rescue`` is the rescue that goes on from here: an overload is not counted after a baseline.
    """
    if failure_class in _NEVER_FIT:
        return EffectKind.EVICT_PIN
    if failure_class is FailureClass.CONTEXT_OVERFLOW:
        return EffectKind.CORRECT_ESTIMATE
    if failure_class is FailureClass.OVERLOADED:
        return None if rescue is AttemptCause.BASELINE else EffectKind.COUNT_OVERLOAD
    if failure_class in _SILENCES:
        return EffectKind.DEMOTE
    return EffectKind.COUNT_REFUSAL if failure_class in _REFUSALS else None


def if_answered(failure_class: FailureClass | None, conduct: Conduct) -> EffectKind | None:
    """Return what to remember of the model whose answer was sent; ``failure_class`` broke it.

    What broke after its first output is no passing fault of a gateway, whatever its status.
    """
    if failure_class is None:
        return EffectKind.CLEAR_COUNTS
    return _of_conduct(failure_class, None, conduct)
