"""May this model be served by this provider? The eligibility record's rule, spelled out once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.dispatch.model.plan import Eligibility


def is_permitted(record: Eligibility, model_id: str, provider: str) -> bool:
    """Return whether the record lets ``provider`` serve ``model_id``.

    While the record is gateway-exclusive only the tenant's own endpoints count, and provider
    exclusions do not.
    """
    if model_id in record.excluded_models or (model_id, provider) in record.excluded_bindings:
        return False
    if record.is_gateway_exclusive:
        return model_id in record.gateway_models.get(provider, frozenset())
    if provider in record.excluded_providers:
        return False
    return record.providers is None or provider in record.providers
