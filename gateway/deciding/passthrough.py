"""The model that a caller names, on the plan that the caller brings. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.eligibility.removals import permits
from gateway.eligibility.subsidies import PLANS, covers
from gateway.model.decision import DecisionPath
from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from gateway.deciding.pinned import Moment
    from gateway.ground import Ground
    from gateway.model.decision import Decision
    from services.domain.catalog import Model

CLASSIFIER_REASON = "classifier_subscription_passthrough"
CONVERSATION_REASON = "subscription_passthrough"
EXHAUSTED_RATIO = 0.999
_CLAUDE = frozenset({CredentialKind.CLAUDE_OAUTH})


@dataclass(frozen=True, slots=True)
class Covered:
    """A model that a plan of the caller's covers."""

    model: Model
    provider: str


def covered_classifier(ground: Ground, moment: Moment) -> Covered | None:
    """Return the model of a classifier that the caller's Claude plan covers and that it asks for.

    None: there is no such plan, or it was seen to be exhausted.
    """
    return _covered(ground, moment, _CLAUDE, EXHAUSTED_RATIO)


def covered_conversation(ground: Ground, moment: Moment, below_ratio: float) -> Covered | None:
    """Return the model that a plan of the caller's covers and that the action asks for.

    ``below_ratio`` is the use from which on a plan is spared; one that was never seen counts as
    unused.
    """
    return _covered(ground, moment, PLANS, min(below_ratio, EXHAUSTED_RATIO))


def passed(ground: Ground, covered: Covered, reason: str) -> Decision:
    """Return the decision that a covered model serves; the session's pin stays as it is."""
    path = DecisionPath.PASSTHROUGH
    return ground.decision(covered.model, path, reason, provider=covered.provider)


def _covered(
    ground: Ground, moment: Moment, kinds: frozenset[CredentialKind], below_ratio: float
) -> Covered | None:
    model = moment.catalog.resolve(ground.action.features.requested_model)
    if model is None or not model.bindings:
        return None
    for brought in ground.known.identities:
        is_left = not brought.is_exhausted and (brought.used_ratio or 0.0) < below_ratio
        if (
            brought.kind in kinds
            and covers(brought, model)
            and is_left
            and permits(moment.record, model.id, brought.provider)
        ):
            return Covered(model, brought.provider)
    return None
