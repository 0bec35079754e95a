"""Why nothing may serve an action, told better than by the scorer, which sees no settings. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.eligibility.removals import model_removal_of
from gateway.model import Layer
from gateway.plan import cannot_take
from services.domain.errors import Reason, RouterError
from services.domain.wire.openai_responses import stored_field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.model import Action, EligibilityRecord
    from services.domain.catalog import Catalog
    from services.domain.wire.features import Requirement

NOTHING_ROUTABLE = frozenset({Reason.NO_ELIGIBLE_PROVIDER, Reason.NO_ROUTABLE_MODELS})
"""Reasons by which the scorer says that no candidate is left."""


def refusal_of(
    refusal: RouterError,
    record: EligibilityRecord,
    catalog: Catalog,
    *,
    needs: Sequence[Requirement] = (),
    stored: str = "",
) -> RouterError:
    """Return the error to answer with where the scorer found nothing.

    A conversation that fits no model that is otherwise there is too large; with no provider at all
    the fix is a credential. ``needs`` and ``stored`` say what the request has that not every model
    takes.
    """
    if refusal.reason not in NOTHING_ROUTABLE:
        return refusal
    layers = {
        model_removal_of(record, model.id)
        for model in catalog.models.values()
        if model.is_automatic
    }
    if Layer.CONTEXT_WINDOW in layers:
        return RouterError(
            Reason.CONTEXT_WINDOW_EXCEEDED,
            "the conversation fits into no model that may serve: shorten it",
            metadata={"layer": Layer.CONTEXT_WINDOW.value},
        )
    if Layer.REQUIREMENT_UNAVAILABLE in layers:
        return RouterError(
            Reason.TRANSLATION_PROVIDER_UNAVAILABLE,
            "no provider that could carry this request has a credential now: add one, or ask for"
            " less",
            metadata={"layer": Layer.REQUIREMENT_UNAVAILABLE.value},
            retry_after_s=1.0,
        )
    if Layer.REQUIREMENT_INCOMPATIBLE in layers:
        facts = {"layer": Layer.REQUIREMENT_INCOMPATIBLE.value}
        return cannot_take("every model", needs, stored, facts)
    if layers <= {Layer.NO_CREDENTIAL}:
        return RouterError(
            Reason.NO_ELIGIBLE_PROVIDER,
            "no provider of any model has a credential: set api_key under [providers.NAME], or"
            " add a credential",
            metadata={"layer": Layer.NO_CREDENTIAL.value},
        )
    return refusal


def explained(
    refusal: RouterError, action: Action, record: EligibilityRecord, catalog: Catalog
) -> RouterError:
    """Return the error to answer an action with for which the scorer found nothing."""
    needs, stored = action.features.requirements, stored_field(action.request)
    return refusal_of(refusal, record, catalog, needs=needs, stored=stored)


def unpinnable(action: Action, record: EligibilityRecord, catalog: Catalog) -> RouterError:
    """Return the error for an action that is not scored and that no model may serve."""
    if record.is_gateway_exclusive:
        return RouterError(
            Reason.GATEWAY_SERVES_NO_DEPLOYED_MODEL,
            "only gateway keys may serve here and none of them has an alias for a model of the"
            " catalog: add aliases to a key",
            metadata={"layer": Layer.GATEWAY_MODE.value},
        )
    bare = RouterError(Reason.NO_ROUTABLE_MODELS, "no model may serve this action")
    found = explained(bare, action, record, catalog)
    return unavailable() if found is bare else found


def unavailable() -> RouterError:
    """Return the error for an action that nobody can decide now."""
    return RouterError(
        Reason.ROUTING_UNAVAILABLE, "no model can be chosen now: try again", retry_after_s=1.0
    )
