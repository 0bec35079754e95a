"""Which binding of a model may serve: catalog order, then the tenant's gateways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from services.domain.catalog import Model
from services.scorer.model.decision import ChosenBinding, Deployed
from services.scorer.model.question import Eligibility, Layer


def first_permitted(
    bindings: Iterable[ChosenBinding], eligibility: Eligibility
) -> ChosenBinding | None:
    """Return the first binding that is not excluded by itself; None when every one is."""
    excluded = eligibility.excluded_bindings
    permitted = (b for b in bindings if (b.model_id, b.provider) not in excluded)
    return next(permitted, None)


def at_providers(model: Deployed, eligibility: Eligibility) -> tuple[ChosenBinding, ...]:
    """Return the bindings at permitted providers, single exclusions aside.

    A gateway's binding has the price of the model's first one. In gateway-exclusive mode only
    those count, and provider exclusions do not.
    """
    if eligibility.is_gateway_exclusive:
        return tuple(_at_gateways(model, eligibility))
    own = tuple(b for b in model.bindings if _is_permitted(b.provider, eligibility))
    return (*own, *_at_gateways(model, eligibility)) if eligibility.gateways else own


def provider_layer(model: Deployed, eligibility: Eligibility) -> Layer | None:
    """Return the layer that took the model's providers away; None where the record names none."""
    if eligibility.is_gateway_exclusive:
        return Layer.GATEWAY_MODE
    layers = (eligibility.excluded_providers.get(own.provider) for own in model.bindings)
    return next((layer for layer in layers if layer is not None), None)


def catalog_bindings(model: Model) -> tuple[ChosenBinding, ...]:
    """Return the bindings of the catalog, whoever may serve."""
    return tuple(
        ChosenBinding(
            binding.model_id,
            binding.provider,
            binding.upstream_id,
            binding.index,
            binding.price.input_usd_per_mtok,
            binding.price.output_usd_per_mtok,
            binding.price.long_context,
        )
        for binding in model.bindings
    )


def _at_gateways(model: Deployed, eligibility: Eligibility) -> Iterator[ChosenBinding]:
    """Yield a binding for each gateway that serves the model and is not its provider already."""
    first, index = model.bindings[0], len(model.bindings)
    is_exclusive = eligibility.is_gateway_exclusive
    bound = set() if is_exclusive else {binding.provider for binding in model.bindings}
    for gateway in eligibility.gateways:
        upstream_id = gateway.upstream_ids.get(model.model.id)
        is_new = gateway.provider not in bound
        if upstream_id is not None and is_new and _is_permitted(gateway.provider, eligibility):
            bound.add(gateway.provider)
            yield replace(
                first,
                provider=gateway.provider,
                upstream_id=upstream_id or model.model.id,
                index=index,
            )
            index += 1


def _is_permitted(provider: str, eligibility: Eligibility) -> bool:
    enabled = eligibility.enabled_providers
    if enabled is not None and provider not in enabled:
        return False
    return eligibility.is_gateway_exclusive or provider not in eligibility.excluded_providers
