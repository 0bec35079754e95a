"""What the deployment fixes for every action, from its settings."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import orjson

from gateway.eligibility import Policy
from gateway.model.decision import Strategy
from services.runtime.config import SettingError
from services.runtime.providers import providers_of
from services.runtime.schema import hint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.settings import AutomaticExclusion, RoutingSettings
    from services.domain.catalog import Catalog
    from services.runtime.settings import CommonSettings


def policy_of(
    routing: RoutingSettings,
    common: CommonSettings,
    catalog: Catalog,
    stored: Sequence[AutomaticExclusion] = (),
) -> Policy:
    """Return what the deployment fixes for every action.

    ``stored`` are automatic exclusions that count where the configuration states none.

    Raises:
        SettingError: the operator names a model or a provider that is not there.
    """
    _refuse_unknown_choices(routing, catalog)
    providers = providers_of(common)
    known = sorted(providers)
    for index, provider in enumerate(routing.excluded_providers):
        if provider not in known:
            fix = hint(provider, known)
            raise SettingError(
                f"routing.excluded_providers.{index}", f"no provider {provider!r}; {fix}"
            )
    automatic = _automatic(routing, catalog, stored)
    stated = [routing.model_dump(mode="json"), automatic]
    digest = hashlib.sha256(orjson.dumps(stated, option=orjson.OPT_SORT_KEYS))
    return Policy(
        config_version=digest.hexdigest()[:16],
        configured_providers=_configured(common),
        families={name: provider.family for name, provider in providers.items()},
        more_families={
            name: provider.families[1:] for name, provider in providers.items() if provider.is_dual
        },
        known_providers=tuple(known),
        excluded_models=_excluded_models(routing, catalog),
        excluded_providers=frozenset(routing.excluded_providers),
        automatic_exclusions=automatic,
        closed_to_presented=frozenset(
            name for name, provider in common.providers.items() if not provider.takes_presented
        ),
        requirements=routing.requirements,
        is_subsidised=routing.subsidies,
        is_name_binding=routing.strategy is Strategy.REQUESTED,
        override_reason=routing.override_reason
        if routing.excluded_models or routing.excluded_providers
        else "",
    )


_OTHER_MODELS = (
    "summarizer_model",
    "compaction_model",
    "cyber_refusal_fallback_model",
    "baseline_model",
    "loop_escalation_model",
)
"""Settings that name a model of the catalog, at any provider."""


def _refuse_unknown_choices(routing: RoutingSettings, catalog: Catalog) -> None:
    """Raise where a model that the operator chose is not there, or not at the chosen provider."""
    pairs = {
        "hard_pin": (routing.hard_pin_model, routing.hard_pin_provider),
        "sub_agent": (routing.sub_agent_model, routing.sub_agent_provider),
    }
    chosen = {f"{kind}_model": model for kind, (model, _) in pairs.items()}
    for key in _OTHER_MODELS:
        if key in routing.model_fields_set:
            chosen[key] = getattr(routing, key)
    for key, name in chosen.items():
        if name and name not in catalog.models:
            raise SettingError(f"routing.{key}", f"no model {name!r}; {hint(name, catalog.models)}")
    for kind, (name, provider) in pairs.items():
        at = [binding.provider for binding in catalog.models[name].bindings] if name else []
        if name and provider and provider not in at:
            raise SettingError(
                f"routing.{kind}_provider", f"no {name} at {provider!r}; {hint(provider, at)}"
            )


def _excluded_models(routing: RoutingSettings, catalog: Catalog) -> frozenset[str]:
    """Return the catalog ids that the operator excludes."""
    excluded: set[str] = set()
    for index, name in enumerate(routing.excluded_models):
        model = catalog.resolve(name)
        if model is None:
            fix = hint(name, catalog.models)
            raise SettingError(f"routing.excluded_models.{index}", f"no model {name!r}; {fix}")
        excluded.add(model.id)
    return frozenset(excluded)


def has_pinned_exclusions(routing: RoutingSettings) -> bool:
    """Return whether the configuration states the automatic exclusions, so that none are stored."""
    return "automatic_exclusions" in routing.model_fields_set


def _automatic(
    routing: RoutingSettings, catalog: Catalog, stored: Sequence[AutomaticExclusion]
) -> tuple[str, ...]:
    """Return the catalog ids that are not to be picked by themselves, in order.

    A stored one whose model is gone from the catalog counts for nothing.
    """
    if not has_pinned_exclusions(routing):
        found = (catalog.resolve(each.model) for each in stored)
        return tuple(sorted({model.id for model in found if model is not None}))
    ids = set()
    for index, each in enumerate(routing.automatic_exclusions):
        model = catalog.resolve(each.model)
        if model is None:
            fix = hint(each.model, catalog.models)
            key = f"routing.automatic_exclusions.{index}.model"
            raise SettingError(key, f"no model {each.model!r}; {fix}")
        ids.add(model.id)
    return tuple(sorted(ids))


def _configured(common: CommonSettings) -> tuple[str, ...]:
    """Return the providers that have a key, need none, or have a pool credential."""
    known = providers_of(common)
    keyed = {
        name
        for name, provider in common.providers.items()
        if provider.api_key.get_secret_value() or not known[name].is_vendor
    }
    pooled = {row.provider for row in common.credentials if row.enabled}
    return tuple(sorted(keyed | pooled))
