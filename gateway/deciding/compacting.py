"""Models for a client's own compaction of its history: the session's family, newest first. Pure.

A summary of a conversation is written by what the conversation was held with. Claude Code stays
with Anthropic's models: those of its session, else of the family that it asks for. No warm cache is
promised: of a family the newest version serves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.deciding.hard_pins import may_pick
from gateway.turns.marks import CLAUDE_CODE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway.deciding.pinned import Moment
    from gateway.model import Action
    from gateway.sessions.model import Choice, Session
    from services.domain.catalog import Model

_VENDOR = "anthropic"


def compaction_model(
    action: Action, session: Session, pin: Choice | None, moment: Moment
) -> Model | None:
    """Return the model that compacts; None: neither the session nor the client names one."""
    named = list(_named(action, session, pin, moment))
    if action.caller.client_app == CLAUDE_CODE:
        named.sort(key=lambda model: not _is_of_vendor(model))
    for model in named:
        found = _newest(model, moment)
        if found is not None:
            return found
    return None


def _named(action: Action, session: Session, pin: Choice | None, moment: Moment) -> Iterator[Model]:
    """Return what served the session, then what the client asks for."""
    last = moment.catalog.models.get(pin.model_id if pin is not None else session.last_served_model)
    if last is not None:
        yield last
    asked = moment.catalog.resolve(action.features.requested_model)
    if asked is not None:
        yield asked


def _newest(model: Model, moment: Moment) -> Model | None:
    """Return the newest version of a model's family that may serve; None: none may."""
    kin = [
        other
        for other in moment.catalog.models.values()
        if model.family and other.family == model.family
    ]
    able = [other for other in (model, *kin) if moment.may_serve(other.id)]
    able = [other for other in able if may_pick(other.id, moment)] or able
    return max(able, key=lambda other: other.version, default=None)


def _is_of_vendor(model: Model) -> bool:
    return bool(model.bindings) and model.bindings[0].provider == _VENDOR
