"""Which layer of an eligibility record removed a model or a binding. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model import Layer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.model import EligibilityRecord, ModelExclusion
    from services.domain.catalog import Binding, Model

MOST_KEPT = 1024
_kept: dict[int, tuple[tuple[ModelExclusion, ...], Mapping[str, Layer]]] = {}
"""By the identity of a list, which is kept with it so that this is nobody else's."""


def permits(record: EligibilityRecord, model_id: str, provider: str) -> bool:
    """Return whether ``record`` lets ``provider`` serve ``model_id``."""
    return removal_of(record, model_id, provider) is None


def serving_bindings(record: EligibilityRecord, model: Model) -> list[Binding]:
    """Return the bindings by which ``record`` lets ``model`` serve, in catalog order."""
    return [each for each in model.bindings if permits(record, model.id, each.provider)]


def removal_of(record: EligibilityRecord, model_id: str, provider: str) -> Layer | None:
    """Return the first layer that keeps ``provider`` from serving ``model_id``; None: it may."""
    layer = model_removal_of(record, model_id)
    if layer is not None:
        return layer
    for excluded in record.excluded_providers:
        if excluded.provider == provider:
            return excluded.layer
    if provider not in [state.provider for state in record.enabled_providers]:
        return Layer.NO_CREDENTIAL
    if record.is_gateway_exclusive and not any(
        entry.provider == provider and model_id in entry.upstream_id_by_model
        for entry in record.gateway_aliases
    ):
        return Layer.GATEWAY_MODE
    for binding in record.excluded_bindings:
        if binding.model_id == model_id and binding.provider == provider:
            return binding.layer
    return None


def model_removal_of(record: EligibilityRecord, model_id: str) -> Layer | None:
    """Return the first layer that removed a model as a whole; None: none did."""
    for exclusions in (
        record.excluded_models,
        record.safety_excluded_models,
        record.requirement_excluded_models,
    ):
        if exclusions:
            layer = _by_model(exclusions).get(model_id)
            if layer is not None:
                return layer
    return None


def left_alone(record: EligibilityRecord) -> frozenset[str]:
    """Return the models that are not to be picked unless they are named, or nothing else is there.

    Whoever picks by itself asks; a model that is named serves all the same.
    """
    return frozenset(each.model_id for each in record.automatic_excluded_models)


def _by_model(exclusions: tuple[ModelExclusion, ...]) -> Mapping[str, Layer]:
    """Return the first layer against each model; that of a list that was asked of is kept.

    A deployment with few credentials excludes most of a catalog, and records share the lists.
    """
    kept = _kept.get(id(exclusions))
    if kept is None:
        layers = {each.model_id: each.layer for each in reversed(exclusions)}
        kept = _kept[id(exclusions)] = (exclusions, layers)
        if len(_kept) > MOST_KEPT:
            del _kept[next(iter(_kept))]
    return kept[1]
