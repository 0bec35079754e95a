"""What a question says about itself before anybody looks at credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.model import SuppressedPlan
from services.domain.errors import InvalidRequestError, Reason, RouterError
from services.domain.vocab import CredentialOwner

if TYPE_CHECKING:
    from services.credentials.model import BindingRef, PresentedIdentity, Query, Selected


def key_of(query: Query) -> tuple[str, str]:
    """Return what a repeat of a selection is known by."""
    return (query.installation_id, query.idempotency_key)


def check_repeated(query: Query, earlier: Selected) -> None:
    """Check that a selection repeats the one that its key was used for: a secret is for one place.

    Raises:
        InvalidRequestError: it does not.
    """
    given = earlier.grant.binding
    asked = query.bindings[earlier.index : earlier.index + 1]
    if not any((b.model_id, b.provider) == (given.model_id, given.provider) for b in asked):
        raise InvalidRequestError.of("idempotency_key", "was used for another selection")


def presented_for(query: Query, binding: BindingRef) -> PresentedIdentity | None:
    """Return the caller's own credential for a binding, unless this action may not use it."""
    if not query.presented:
        return None
    return next(
        (
            one
            for one in query.presented
            if one.provider == binding.provider
            and SuppressedPlan(one.kind, CredentialOwner.CALLER) not in query.suppressed
        ),
        None,
    )


def check_permitted(query: Query) -> None:
    """Check a question against the eligibility record that it brings.

    Raises:
        RouterError: ELIGIBILITY_VIOLATION.
        InvalidRequestError: no tenant asks.
    """
    eligibility = query.eligibility
    if eligibility is None:
        return
    for binding in query.bindings:
        if not eligibility.permits(binding.model_id, binding.provider):
            raise RouterError(
                Reason.ELIGIBILITY_VIOLATION,
                f"the eligibility record forbids {binding.model_id} at {binding.provider}",
                metadata={"model": binding.model_id, "provider": binding.provider},
            )
    if not query.installation_id:
        raise InvalidRequestError.of("action.installation_id", "must be set")
