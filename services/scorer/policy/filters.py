"""The filters of one request, in order: hard ones may empty the pool, soft ones never do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from services.domain.errors import Reason
from services.scorer.model.decision import (
    ChosenBinding,
    Deployed,
    Dropped,
    Filter,
    FilterReport,
    Pool,
    Refusal,
)
from services.scorer.model.question import Eligibility, Features, Layer
from services.scorer.policy.bindings import at_providers, first_permitted, provider_layer

_Verdict = Mapping[str, Layer | None]
"""The models that a filter would remove, with the layer behind each."""


def filtered(deployed: Sequence[Deployed], features: Features, eligibility: Eligibility) -> Pool:
    """Return what is left of the deployed models, or why nothing is.

    A hard filter that empties the pool ends the request. Each soft filter is judged by itself and
    is skipped when it would empty what the ones before it left.
    """
    run = _Run(deployed, eligibility)
    run.hard(Filter.PROVIDER, run.without_provider())
    run.hard(Filter.EXCLUDED, run.excluded())
    run.hard(Filter.REQUIREMENT, eligibility.requirement_models)
    run.soft(Filter.AUTOMATIC, _automatic(eligibility))
    if features.tool_count > 0:
        run.soft(Filter.TOOL_USE, run.where(lambda model: model.model.facts.tool_use != "full"))
        run.soft(Filter.AGENTIC, run.where(lambda model: model.model.facts.agentic == "low"))
    if features.image_count > 0:
        run.soft(Filter.IMAGE_INPUT, run.where(lambda model: not model.model.facts.image_input))
    return run.pool()


def _automatic(eligibility: Eligibility) -> _Verdict:
    """Return the soft exclusions; a model that the caller forces is exempt from them."""
    soft = eligibility.automatic_models
    return {model: layer for model, layer in soft.items() if model != eligibility.forced_model}


class _Run:
    """One pass through the filters."""

    def __init__(self, deployed: Sequence[Deployed], eligibility: Eligibility) -> None:
        self._eligibility = eligibility
        self._left = {model.model.id: model for model in deployed}
        self._bindings = {
            model_id: at_providers(model, eligibility) for model_id, model in self._left.items()
        }
        self._dropped: list[Dropped] = []
        self._reports: list[FilterReport] = []
        self._refusal: Refusal | None = None
        if not self._left:
            self._refusal = Refusal(
                Reason.NO_ROUTABLE_MODELS, "the catalog has no tiered model with figures"
            )

    def hard(self, name: Filter, removed: _Verdict) -> None:
        """Remove models; an empty pool is refused."""
        if self._refusal is not None:
            return
        drops = self._drops(name, removed)
        self._take(name, drops)
        if not self._left:
            self._refusal = _refusal(name, drops, self._eligibility)

    def soft(self, name: Filter, removed: _Verdict) -> None:
        """Remove models unless that leaves none."""
        if self._refusal is not None:
            return
        drops = self._drops(name, removed)
        count = len(self._left)
        if len(drops) == count:
            self._reports.append(FilterReport(name, count, count, is_skipped=True))
            return
        self._take(name, drops)

    def without_provider(self) -> _Verdict:
        """Return the models that no permitted provider serves."""
        return {
            model_id: provider_layer(model, self._eligibility)
            for model_id, model in self._left.items()
            if not self._bindings[model_id]
        }

    def excluded(self) -> _Verdict:
        """Return the models that are excluded, and those whose every binding is."""
        removed: dict[str, Layer | None] = {}
        singly = self._eligibility.excluded_bindings
        for model_id in self._left if singly else ():
            own = self._bindings[model_id]
            if first_permitted(own, self._eligibility) is None:
                removed[model_id] = singly[model_id, own[0].provider]
        removed.update(self._eligibility.safety_models)
        removed.update(self._eligibility.excluded_models)
        return removed

    def where(self, is_poor: Callable[[Deployed], bool]) -> _Verdict:
        """Return the models that a soft filter dislikes."""
        return dict.fromkeys(
            (model_id for model_id, model in self._left.items() if is_poor(model)), None
        )

    def pool(self) -> Pool:
        """Return what the filters left."""
        chosen: dict[str, ChosenBinding] = {}
        for model_id in self._left:
            binding = first_permitted(self._bindings[model_id], self._eligibility)
            if binding is not None:
                chosen[model_id] = binding
        return Pool(chosen, tuple(self._dropped), tuple(self._reports), self._refusal)

    def _drops(self, name: Filter, removed: _Verdict) -> list[Dropped]:
        return [Dropped(model, name, removed[model]) for model in self._left if model in removed]

    def _take(self, name: Filter, drops: Sequence[Dropped]) -> None:
        before = len(self._left)
        for drop in drops:
            del self._left[drop.model_id]
        self._dropped.extend(drops)
        self._reports.append(FilterReport(name, before, len(self._left)))


def _refusal(name: Filter, drops: Sequence[Dropped], eligibility: Eligibility) -> Refusal:
    layers = tuple(sorted({drop.layer.value for drop in drops if drop.layer is not None}))
    if name is Filter.REQUIREMENT:
        if Layer.REQUIREMENT_UNAVAILABLE.value in layers:
            reason = Reason.TRANSLATION_PROVIDER_UNAVAILABLE
            return Refusal(reason, "no provider that could carry the request serves now", layers)
        reason = Reason.TRANSLATION_INTRINSICALLY_INCOMPATIBLE
        return Refusal(reason, "no eligible model can carry what the request needs", layers)
    if name is Filter.PROVIDER and eligibility.is_gateway_exclusive:
        reason = Reason.GATEWAY_SERVES_NO_DEPLOYED_MODEL
        return Refusal(reason, "no gateway key serves a deployed model", layers)
    if name is Filter.EXCLUDED and eligibility.has_allow_list:
        reason = Reason.ALLOWLIST_EMPTIES_POOL
        return Refusal(reason, "the allow list leaves no model that may serve", layers)
    return Refusal(Reason.NO_ELIGIBLE_PROVIDER, "no provider may serve any deployed model", layers)
