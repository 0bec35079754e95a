"""Models for a client's own compaction of its history: the session's family, newest first. Pure.

A summary of a conversation is written by what the conversation was held with. Claude Code stays
with Anthropic's models: those of its session, else of the family that it asks for, else the
operator's. Codex stays with the other vendor's that served it last. No warm cache is promised: of a
family the newest version serves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.deciding.hard_pins import may_pick
from gateway.turns import marks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway.deciding.pinned import Moment
    from gateway.model import Action
    from gateway.sessions.model import Choice, Session
    from services.domain.catalog import Model

_VENDOR = "anthropic"


def compaction_model(
    action: Action, session: Session, pin: Choice | None, moment: Moment, default: str = ""
) -> Model | None:
    """Return the model that compacts; None: neither session, client nor ``default`` names one."""
    for model in _named(action, session, pin, moment, default):
        found = _newest(model, moment)
        if found is not None:
            return found
    return None


def _named(
    action: Action, session: Session, pin: Choice | None, moment: Moment, default: str
) -> Iterator[Model]:
    """Yield what served the session, then what the client asks for, then the default.

    Codex goes by what served it last of another vendor than Anthropic, Claude Code by Anthropic's.
    """
    models = moment.catalog.models
    pinned = (pin.model_id,) if pin is not None else ()
    names = (*pinned, *(use.model_id for use in session.uses))
    served = [model for name in dict.fromkeys(names) if (model := models.get(name)) is not None]
    asked = moment.catalog.resolve(action.features.requested_model)
    last = (served[0] if served else None, asked, models.get(default))
    usual = [model for model in last if model is not None]
    match action.caller.client_app:
        case marks.CLAUDE_CODE:
            yield from sorted(usual, key=lambda model: not _is_of_vendor(model))
        case marks.CODEX:
            yield from (model for model in served if not _is_of_vendor(model))
            yield from usual
        case _:
            yield from usual


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
