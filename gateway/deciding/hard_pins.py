"""Models for actions that are nobody's conversation: probes, titles, sub-agents. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.deciding.planning import binding_at
from gateway.eligibility.removals import left_alone, permits, serving_bindings
from gateway.model import BindingRef
from services.domain.errors import Reason, RouterError

if TYPE_CHECKING:
    from gateway.deciding.pinned import Moment
    from services.domain.catalog import Binding, Model
    from services.domain.wire.features import Features


def fixed_binding(pin: tuple[str, str], moment: Moment) -> BindingRef:
    """Return the operator's binding for hard-pinned actions.

    Raises:
        RouterError: it may not serve; nothing stands in for it.
    """
    model_id, provider = pin
    model = moment.catalog.models.get(model_id)
    if model is None or not permits(moment.record, model_id, provider):
        raise RouterError(
            Reason.NO_ELIGIBLE_PROVIDER,
            f"{model_id} at {provider} is fixed for this kind of action by [routing] and may not"
            " serve: give the provider a credential, or change the setting",
            metadata={"model": model_id, "provider": provider},
        )
    return binding_at(model, provider)


def may_pick(model_id: str, moment: Moment) -> bool:
    """Return whether a model may serve, and be picked without being named."""
    return moment.may_serve(model_id) and model_id not in left_alone(moment.record)


def cheapest_binding(moment: Moment, features: Features) -> BindingRef | None:
    """Return the cheapest model by input price that can take the action; None: none may serve."""
    models = by_price(moment, features)
    return BindingRef.of(_serving(models[0], moment)) if models else None


def by_price(moment: Moment, features: Features) -> list[Model]:
    """Return the models that can take the action, the cheapest by input price first.

    Models that use tools poorly are the last choice where tools are offered, and so are models
    that are not picked by themselves: by the catalog, or by the deployment.
    """
    able = [model for model in moment.catalog.models.values() if moment.may_serve(model.id)]
    able = [model for model in able if model.is_automatic] or able
    able = [model for model in able if may_pick(model.id, moment)] or able
    skilled = [model for model in able if model.facts.tool_use == "full"]
    pool = skilled if features.tool_count and skilled else able
    return sorted(pool, key=lambda each: (_input_price(each, moment), each.id))


def _input_price(model: Model, moment: Moment) -> float:
    return _serving(model, moment).price.input_usd_per_mtok


def _serving(model: Model, moment: Moment) -> Binding:
    """Return the first binding by which a model may serve."""
    return serving_bindings(moment.record, model)[0]
