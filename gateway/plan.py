"""Which model serves, and the bindings to try for it, in order. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.eligibility.removals import model_removal_of, removal_of, serving_bindings
from gateway.model import BindingRef, Layer
from services.domain.errors import Reason, RouterError
from services.domain.wire.features import Requirement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gateway.model import EligibilityRecord, PresentedIdentity
    from services.domain.catalog import Catalog, Model

MAX_BINDINGS = 16

_MEDIA = frozenset(
    {
        Requirement.IMAGES,
        Requirement.REMOTE_IMAGE,
        Requirement.DOCUMENTS,
        Requirement.REMOTE_DOCUMENT,
        Requirement.AUDIO,
        Requirement.OTHER_AUDIO,
        Requirement.VIDEO,
        Requirement.VENDOR_FILE,
    }
)


def requested_model(catalog: Catalog, requested: str, forced: str) -> Model:
    """Return the model that the caller named; a forced one goes before the one in the body.

    Raises:
        RouterError: FORCED_MODEL_UNKNOWN or MODEL_NOT_FOUND, naming ids that look like it.
    """
    name = forced or requested
    model = catalog.resolve(name)
    if model is not None:
        return model
    near = catalog.nearest(name)
    hint = f"; did you mean {', '.join(near)}?" if near else "; GET /v1/models lists what is there"
    reason = Reason.FORCED_MODEL_UNKNOWN if forced else Reason.MODEL_NOT_FOUND
    shown = name[:100]
    raise RouterError(
        reason, f"model {shown!r} is not in the catalog{hint}", metadata={"model": shown}
    )


def planned_bindings(
    model: Model,
    record: EligibilityRecord,
    *,
    presented: Sequence[PresentedIdentity] = (),
    has_tenant_credentials: bool = False,
    first: str = "",
    needs: Sequence[Requirement] = (),
    stored: str = "",
) -> tuple[BindingRef, ...]:
    """Return the bindings of ``model`` to try, in catalog order; those of ``first`` lead.

    Exactly one when a credential of the caller or of the tenant may serve: a hop could pay with
    another key than its owner meant. A brought credential goes to its own provider only.
    ``stored`` names the member of the request that leans on what a provider stores.

    Raises:
        RouterError: nothing may serve the model; says which layer removed it and the fix.
    """
    bindings = [BindingRef.of(each) for each in serving_bindings(record, model)]
    if not bindings:
        raise _nothing_serves(model, record, needs, stored)
    if first:
        bindings.sort(key=lambda binding: binding.provider != first)
    brought = {identity.provider for identity in presented}
    own = [binding for binding in bindings if binding.provider in brought]
    if own:
        return (own[0],)
    if has_tenant_credentials:
        return (bindings[0],)
    return tuple(bindings[:MAX_BINDINGS])


def _nothing_serves(
    model: Model, record: EligibilityRecord, needs: Sequence[Requirement], stored: str
) -> RouterError:
    """Return the error that names why no binding of ``model`` may serve."""
    layers = [removal_of(record, model.id, binding.provider) for binding in model.bindings]
    whole = model_removal_of(record, model.id)
    layer = whole or next((found for found in layers if found is not Layer.NO_CREDENTIAL), None)
    providers = sorted({binding.provider for binding in model.bindings})
    facts = {"model": model.id, "layer": (layer or Layer.NO_CREDENTIAL).value}
    if layer is Layer.CONTEXT_WINDOW:
        window = max(binding.context_window_tokens for binding in model.bindings)
        return RouterError(
            Reason.CONTEXT_WINDOW_EXCEEDED,
            f"the conversation does not fit into the {window} tokens of {model.id}:"
            " shorten it or ask for a model with a larger window",
            metadata=facts,
        )
    if layer is Layer.REQUIREMENT_INCOMPATIBLE:
        return cannot_take(model.id, needs, stored, facts)
    if layer is Layer.GATEWAY_MODE:
        return RouterError(
            Reason.GATEWAY_SERVES_NO_DEPLOYED_MODEL,
            f"only gateway keys may serve here and none of them has an alias for {model.id}:"
            " add aliases to the key",
            metadata=facts,
        )
    if layer is Layer.ENDPOINT_REFUSED:
        return RouterError(
            Reason.NO_ELIGIBLE_PROVIDER,
            f"every endpoint at hand said that it has no model {model.id}: correct the alias of"
            " its key, or ask for another model",
            metadata=facts,
        )
    if layer in (Layer.OPERATOR, Layer.PROVIDER_EXCLUDED):
        return _excluded(model, record, providers, facts)
    return RouterError(
        Reason.NO_ELIGIBLE_PROVIDER,
        f"no provider of {model.id} has a credential: set api_key under"
        f" {' or '.join(f'[providers.{name}]' for name in providers)}, or add a credential for"
        " one of them",
        metadata=facts,
    )


def cannot_take(
    subject: str, needs: Sequence[Requirement], stored: str, facts: Mapping[str, str]
) -> RouterError:
    """Return the error for a request that ``subject`` has no form for where it may be served."""
    if stored:
        what, field = f"honour {stored}, which only an OpenAI Responses provider stores,", stored
        fix = "send the whole conversation without it, or ask for a model that such a provider"
        fix += " serves"
    elif Requirement.MULTI_CANDIDATE in needs:
        what, field, fix = "give more than one answer (n)", "n", "ask for another model"
    elif Requirement.SIGNED_TOOL_HISTORY in needs and _MEDIA.isdisjoint(needs):
        what, field = "go on with tool calls that its vendor did not sign", ""
        fix = "begin a new conversation, or ask for another model"
    else:
        what, field = "take the media or files of this request", ""
        fix = "ask for another model"
    return RouterError(
        Reason.TRANSLATION_INTRINSICALLY_INCOMPATIBLE,
        f"{subject} cannot {what} where it may be served: {fix}",
        metadata={**facts, **({"field": field} if field else {})},
    )


def _excluded(
    model: Model, record: EligibilityRecord, providers: Sequence[str], facts: dict[str, str]
) -> RouterError:
    if facts["layer"] == Layer.OPERATOR:
        what = f"{model.id} is excluded by [routing] excluded_models"
    else:
        what = (
            f"every provider of {model.id} ({', '.join(providers)}) is excluded by"
            " [routing] excluded_providers or has no credential"
        )
    reason = Reason.FORCED_MODEL_EXCLUDED if record.forced_model else Reason.NO_ELIGIBLE_PROVIDER
    return RouterError(reason, f"{what}: ask for another model", metadata=facts)
