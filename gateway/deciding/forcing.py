"""What becomes of a forced model that may not serve an action. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.eligibility.removals import removal_of
from gateway.model import Layer

if TYPE_CHECKING:
    from gateway.deciding.pinned import Moment
    from gateway.model import EligibilityRecord
    from gateway.model.decision import Score
    from services.domain.catalog import Model
    from services.domain.vocab import ModelTier

FORCED_REASON = "forced_by_command"
_LASTING = frozenset({Layer.OPERATOR, Layer.PROVIDER_EXCLUDED, Layer.GATEWAY_MODE})
"""Layers that an operator set: to pass over them in silence would hide that the word is void."""


def yielding_layer(record: EligibilityRecord, model: Model) -> Layer | None:
    """Return why a forced model gives way to a fresh decision; None: it serves, or is refused.

    It gives way for one action to what passes by itself: images, size, a missing credential.
    """
    layers = [removal_of(record, model.id, binding.provider) for binding in model.bindings]
    if None in layers or any(layer in _LASTING for layer in layers):
        return None
    return next((layer for layer in layers if layer is not None), None)


def outside(score: Score, tier: ModelTier | None, moment: Moment) -> frozenset[str]:
    """Return the candidates of other tiers, where some of ``tier`` may serve; None: any tier."""
    if tier is None:
        return frozenset()
    tiers = {row.binding.model_id: row.tier for row in score.candidates}
    if not any(own is tier and moment.may_serve(name) for name, own in tiers.items()):
        return frozenset()
    return frozenset(name for name, own in tiers.items() if own is not tier)
