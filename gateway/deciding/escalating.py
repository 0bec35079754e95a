"""A stronger model for an agent that goes round in circles, once per session. Pure."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from gateway.deciding.hard_pins import may_pick
from gateway.sessions.pins import TIER_ORDER
from services.domain.vocab import ModelTier

if TYPE_CHECKING:
    from gateway.deciding.kinds import Rules
    from gateway.deciding.pinned import Moment
    from gateway.sessions.model import Choice, Session
    from services.domain.catalog import Model

ESCALATION_REASON = "loop_escalation"
_KEY_DIGITS = 4


class Escalation(enum.StrEnum):
    """What was done about a loop."""

    ESCALATED = "escalated"
    HOLDOUT = "holdout"
    """Nothing, so that there is something to compare with."""
    ALREADY_STRONG = "already_strong"
    DISABLED = "disabled"


def escalation_of(
    session: Session, pin: Choice | None, moment: Moment, rules: Rules
) -> tuple[Escalation, Model | None]:
    """Return what to do about the first loop of a session, and the model to escalate to."""
    model = _strong_model(moment, rules)
    if not rules.is_escalation_on or model is None:
        return Escalation.DISABLED, None
    serving = pin.model_id if pin is not None else session.last_served_model
    known = moment.catalog.models.get(serving)
    if serving == model.id or (known is not None and known.tier is ModelTier.TOP):
        return Escalation.ALREADY_STRONG, None
    key = int.from_bytes(session.address.key[:_KEY_DIGITS], "big")
    if key % 100 < rules.escalation_holdout_percent:
        return Escalation.HOLDOUT, None
    return Escalation.ESCALATED, model


def _strong_model(moment: Moment, rules: Rules) -> Model | None:
    """Return the operator's model, else the dearest of the highest tier that may serve."""
    if rules.escalation_model:
        fixed = moment.catalog.models.get(rules.escalation_model)
        return fixed if fixed is not None and moment.may_serve(fixed.id) else None
    able = [
        model
        for model in moment.catalog.models.values()
        if model.tier in TIER_ORDER and may_pick(model.id, moment)
    ]
    return max(able, key=_strength, default=None)


def _strength(model: Model) -> tuple[int, float, str]:
    return TIER_ORDER[model.tier], model.bindings[0].price.input_usd_per_mtok, model.id
