"""Conversations that outgrow the windows: which, under what limits, and who summarises. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from gateway.deciding.summaries import WRITING_TIERS
from gateway.eligibility.removals import serving_bindings
from gateway.eligibility.windows import reserve_of, window_of
from gateway.model import BindingRef
from gateway.model.compaction import CompactionLimits
from services.domain.vocab import TurnType, WireFamily

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.deciding.kinds import Rules
    from gateway.deciding.pinned import Moment
    from gateway.model import Action
    from gateway.sessions.model import Choice
    from services.domain.catalog import Binding, Model

LARGE_WINDOW_MODEL = "claude-opus-5"
"""Its family writes the summary where no other may."""

_COMPACTED = frozenset(
    {TurnType.MAIN_LOOP, TurnType.TOOL_RESULT, TurnType.RECAP, TurnType.SUB_AGENT_DISPATCH}
)
"""Kinds of actions whose history is no more than a history."""


@dataclass(frozen=True, slots=True)
class Compacting:
    """What compaction goes by beside the action: the models at hand, and the deployment's wishes.

    ``moment`` knows what may serve whatever the size of the prompt.
    """

    moment: Moment
    rules: Rules
    dialects_at: Callable[[Binding], tuple[WireFamily, ...]]


def limits_of(action: Action, by: Compacting) -> CompactionLimits | None:
    """Return the limits that an action has reached; None: it is left alone.

    The limits are in tokens of the uncorrected estimate: they shrink by what the session knows its
    estimates to be too small by.
    """
    if action.turn_type not in _COMPACTED or not by.rules.compaction_ratio:
        return None
    window = largest_window(action, by)
    reserve_tokens = reserve_of(window, action.features.max_output_tokens)
    limits = CompactionLimits(
        window_tokens=int(window / action.fit_ratio),
        trigger_ratio=by.rules.compaction_ratio,
        reserve_tokens=ceil(reserve_tokens / action.fit_ratio),
    )
    needed = action.features.overflow_tokens + limits.reserve_tokens
    return limits if window and needed >= limits.trigger_tokens else None


def largest_window(action: Action, by: Compacting) -> int:
    """Return the largest window among the models that may serve an action; 0: none may.

    A model counts with the smallest of its windows. Where another vendor's dialect is spoken,
    signed reasoning does not go along, and leaves its room.
    """
    forced = by.moment.catalog.resolve(action.caller.forced_model or "")
    models = [forced] if forced is not None else list(by.moment.catalog.models.values())
    return max(
        (
            _window_of(action, model, by)
            for model in models
            if model.is_automatic or forced is not None
        ),
        default=0,
    )


def writers_of(action: Action, pin: Choice | None, by: Compacting) -> tuple[BindingRef, ...]:
    """Return who may write the summary, best first: of each family the newest version.

    First what the session is pinned to, then the model of the settings, then that with a large
    window; only models that speak Messages, and none of the lowest tier.
    """
    models = by.moment.catalog.models
    named = (
        models.get(pin.model_id) if pin is not None else None,
        models.get(by.rules.compaction_model),
        models.get(LARGE_WINDOW_MODEL),
    )
    found = (_newest(model, by) for model in named if model is not None)
    return tuple(dict.fromkeys(binding for binding in found if binding is not None))


def _window_of(action: Action, model: Model, by: Compacting) -> int:
    rows = serving_bindings(by.moment.record, model)
    return min((_window_at(action, row, model, by) for row in rows), default=0)


def _window_at(action: Action, row: Binding, model: Model, by: Compacting) -> int:
    window = window_of(row, model.facts, is_long_asked=action.caller.wants_long_context)
    is_signed = WireFamily.ANTHROPIC in by.dialects_at(row)
    return window if is_signed else window + action.features.signature_tokens


def _newest(model: Model, by: Compacting) -> BindingRef | None:
    """Return the newest version of a family that may write; None: none may."""
    models = by.moment.catalog.models.values()
    kin = [each for each in models if model.family and each.family == model.family]
    able = [
        (each.version, binding)
        for each in (model, *kin)
        if (binding := _writing(each, by)) is not None
    ]
    return max(able, key=lambda pair: pair[0])[1] if able else None


def _writing(model: Model, by: Compacting) -> BindingRef | None:
    """Return the first binding by which a model may write summaries; None: it may not."""
    if model.tier not in WRITING_TIERS:
        return None
    for row in serving_bindings(by.moment.record, model):
        if WireFamily.ANTHROPIC in by.dialects_at(row):
            return BindingRef.of(row)
    return None
