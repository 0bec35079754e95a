"""Whether a model can be told what a request says: its media, and its needs in a dialect. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.features import Requirement
from services.domain.wire.requirements import RequirementMode, is_carried, unmet
from services.domain.wire.state.requests import SIGNING_FAMILY

if TYPE_CHECKING:
    from services.domain.catalog import Model
    from services.domain.vocab import WireFamily
    from services.domain.wire.features import Features


def carries(model: Model, features: Features) -> bool:
    """Return whether a model takes the media of a request; unknown facts count as yes."""
    facts = model.facts
    needs = features.requirements
    return not (
        (Requirement.IMAGES in needs and not facts.image_input)
        or (Requirement.DOCUMENTS in needs and facts.document_input is False)
        or (Requirement.AUDIO in needs and facts.audio_input is False)
    )


def is_expressible(
    features: Features,
    source: WireFamily | None,
    model: Model,
    target: WireFamily,
    mode: RequirementMode,
    waived: frozenset[Requirement],
) -> bool:
    """Return whether a request can be said to a model in the dialect ``target``.

    A ``source`` of None: its dialect is not known. ``waived`` needs are let go.
    """
    needs = features.requirements
    if source is None:
        return True
    is_unsigned = Requirement.SIGNED_TOOL_HISTORY in needs and target is SIGNING_FAMILY
    if is_unsigned and model.facts.signed_tool_history:
        return False
    if not is_carried(needs, source, target):
        return False
    if mode is RequirementMode.SHADOW:
        return True
    return waived.issuperset(unmet(needs, source, target, model.facts))
