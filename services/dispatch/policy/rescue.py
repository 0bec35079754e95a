"""Which rescue follows when the bindings of a plan have failed. The order is fixed.

A rescue changes the model, or the purse: cyber refusal, baseline, Claude plan, Codex plan, larger
window, sibling. The caller's list names every target that its policy allows; the rules here say
which of them the fault at hand opens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.dispatch.model.enums import RESCUES, AttemptCause
from services.dispatch.policy.step import RETRYABLE
from services.domain.vocab import CredentialKind, FailureClass

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from services.dispatch.model.plan import Rescue, RescueFlags

_SHAPE = frozenset(
    {
        FailureClass.CAPABILITY,
        FailureClass.SCHEMA,
        FailureClass.SIGNATURE,
        FailureClass.UNBUILDABLE,
    }
)
"""The model can never take this request: no outage."""

_OUTAGE = RETRYABLE | {
    FailureClass.BAD_RESPONSE,
    FailureClass.BILLING,
    FailureClass.CREDENTIALS_COOLING,
    FailureClass.CREDENTIALS_DISABLED,
    FailureClass.CREDENTIALS_UNREACHABLE,
    FailureClass.MODEL_NOT_FOUND,
    FailureClass.NO_ELIGIBLE_PROVIDER,
    FailureClass.PLAN_EXHAUSTED,
    FailureClass.PROVIDER_NOT_CONFIGURED,
}
"""Every binding has failed, and another model may do better."""

_TRIGGERS: Mapping[AttemptCause, frozenset[FailureClass]] = {
    AttemptCause.CYBER_REFUSAL: frozenset({FailureClass.CYBER_REFUSAL}),
    AttemptCause.BASELINE: (_OUTAGE - {FailureClass.PLAN_EXHAUSTED}) | _SHAPE,
    AttemptCause.CLAUDE_PLAN: RETRYABLE | {FailureClass.AUTH, FailureClass.PLAN_EXHAUSTED},
    AttemptCause.CODEX_PLAN: RETRYABLE
    | {FailureClass.AUTH, FailureClass.PLAN_EXHAUSTED, FailureClass.MODEL_NOT_FOUND},
    AttemptCause.LARGER_WINDOW: frozenset({FailureClass.CONTEXT_OVERFLOW}),
    AttemptCause.SIBLING: _OUTAGE | (_SHAPE - {FailureClass.CAPABILITY}),
}
_PLANS: Mapping[AttemptCause, CredentialKind] = {
    AttemptCause.CLAUDE_PLAN: CredentialKind.CLAUDE_OAUTH,
    AttemptCause.CODEX_PLAN: CredentialKind.CODEX_OAUTH,
}
_CLAUDE_REFUSALS = frozenset({"authentication_error", "permission_error", "invalid_request_error"})


@dataclass(frozen=True, slots=True)
class Cause:
    """The fault that the bindings of the plan ended with."""

    failure_class: FailureClass
    credential_kind: CredentialKind = CredentialKind.NONE
    """Of the credential that failed last."""
    vendor_type: str = ""
    window_tokens: int = 0
    """Largest window among the targets that were tried."""


def next_rescue(
    cause: Cause, rescues: Sequence[Rescue], tried: Collection[int], flags: RescueFlags
) -> int | None:
    """Return the place of the target to try now; None: nothing is left that the fault opens.

    ``tried`` are places in ``rescues``. Within one rescue healthy targets go first, then cooling
    ones by soonest end; siblings at other providers go before those at the same one.
    """
    if flags.is_shadow:
        return None
    open_places = [
        place
        for place, rescue in enumerate(rescues)
        if place not in tried and _is_open(cause, rescue, flags)
    ]
    return min(open_places, key=lambda place: (*_rank(rescues[place]), place), default=None)


def _is_open(cause: Cause, rescue: Rescue, flags: RescueFlags) -> bool:
    name, failure_class = rescue.cause, cause.failure_class
    if failure_class not in _TRIGGERS[name]:
        return False
    match name:
        case AttemptCause.CYBER_REFUSAL:
            is_barred = flags.is_hard_pinned or flags.is_subscription_only
            return flags.is_cyber_retry_enabled and not is_barred
        case AttemptCause.BASELINE:
            return not flags.is_authoritative or failure_class in _SHAPE
        case AttemptCause.CLAUDE_PLAN | AttemptCause.CODEX_PLAN:
            is_plan = cause.credential_kind is _PLANS[name]
            return is_plan and not flags.is_subscription_only and _is_of_plan(cause)
        case AttemptCause.LARGER_WINDOW:
            return max(row.context_window_tokens for row in rescue.bindings) > cause.window_tokens
        case _:
            return not flags.is_subscription_only


def _is_of_plan(cause: Cause) -> bool:
    """Return whether a refusal is about the plan: other refusals of Claude's are about the text."""
    is_claude = cause.credential_kind is CredentialKind.CLAUDE_OAUTH
    if not is_claude or cause.failure_class is not FailureClass.AUTH:
        return True
    return cause.vendor_type in _CLAUDE_REFUSALS


def _rank(rescue: Rescue) -> tuple[int, bool, float, bool]:
    return (
        RESCUES.index(rescue.cause),
        rescue.is_cooling,
        rescue.cooldown_end_unix_s if rescue.is_cooling else 0.0,
        not rescue.is_other_provider,
    )
