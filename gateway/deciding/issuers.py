"""What may serve an action that goes on from an answer which one provider keeps. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from gateway.model import Layer, ProviderExclusion
from services.domain.errors import Reason, RouterError

if TYPE_CHECKING:
    from gateway.model import EligibilityRecord

FIELD = "previous_response_id"


def bound_to(record: EligibilityRecord, provider: str) -> EligibilityRecord:
    """Return the record that lets nobody but ``provider`` serve; equal ones have equal ids."""
    gone = {excluded.provider for excluded in record.excluded_providers}
    others = tuple(
        ProviderExclusion(state.provider, Layer.REQUIREMENT_INCOMPATIBLE)
        for state in record.enabled_providers
        if state.provider not in {provider, *gone}
    )
    digest = hashlib.sha256(f"{record.record_id}/{provider}".encode()).hexdigest()[:32]
    excluded = (*record.excluded_providers, *others)
    return replace(record, record_id=digest, excluded_providers=excluded)


def has_provider(record: EligibilityRecord, provider: str) -> bool:
    """Return whether ``provider`` may serve at all, whatever its models take."""
    is_excluded = any(excluded.provider == provider for excluded in record.excluded_providers)
    return not is_excluded and any(state.provider == provider for state in record.enabled_providers)


def issuer_gone(provider: str) -> RouterError:
    """Return the error for an answer whose issuer may not serve any more."""
    return RouterError(
        Reason.TRANSLATION_INTRINSICALLY_INCOMPATIBLE,
        f"{FIELD} names an answer that {provider} keeps, on an account that may not serve here any"
        " more: send the whole conversation without it",
        metadata={
            "layer": Layer.REQUIREMENT_INCOMPATIBLE.value,
            "provider": provider,
            "field": FIELD,
        },
    )
