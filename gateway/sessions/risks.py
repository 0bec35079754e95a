"""The running mean of what the scorer says of each model. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.sessions.model import MeanRisk, Risks
from services.domain.copying import replace
from services.domain.risk import running_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.sessions.model import Session

MAX_MODELS = 32
MAX_COUNTED_ACTIONS = 16


def record_risks(session: Session, action_id: str, risks: Mapping[str, float]) -> Session:
    """Return the session after an action was scored; one that was counted already changes nothing.

    ``risks`` are chances in [0, 1] by model; models that are not scored keep their mean.
    """
    known = session.risks
    if not risks or action_id in known.counted_actions:
        return session
    means = {each.model_id: each.mean for each in known.means}
    newest = tuple(
        MeanRisk(model_id, running_mean(means.get(model_id), risk, known.action_count))
        for model_id, risk in sorted(risks.items())
    )
    older = tuple(each for each in known.means if each.model_id not in risks)
    return replace(
        session,
        risks=Risks(
            means=(newest + older)[:MAX_MODELS],
            action_count=known.action_count + 1,
            counted_actions=(action_id, *known.counted_actions)[:MAX_COUNTED_ACTIONS],
        ),
    )


def mean_risk(session: Session, model_id: str) -> float | None:
    """Return the mean of a model; None: it was never scored here."""
    for each in session.risks.means:
        if each.model_id == model_id:
            return each.mean
    return None
