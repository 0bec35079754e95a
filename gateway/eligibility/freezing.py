"""What may serve one action: the policy layers folded once into a frozen record. Pure.

Layers in order: operator lists, gateway mode, provider exclusions and missing credentials, safety
(context fit), requirements, endpoint refusals. Only the first layer that removed something is kept,
so one record answers "why not X?". Colours of providers never remove them.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from gateway.eligibility.layers import Layers
from gateway.eligibility.subsidies import cost_factors
from gateway.model import (
    EligibilityRecord,
    Layer,
    ModelExclusion,
    ProviderExclusion,
    ProviderState,
)
from services.domain.wire.requirements import WAIVED, RequirementMode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gateway.eligibility.model import Policy, Question
    from services.domain.catalog import Catalog


def freeze(question: Question, policy: Policy, catalog: Catalog) -> EligibilityRecord:
    """Return the record of one action, over all models of the catalog."""
    snapshot = question.snapshot
    enabled = _enabled(question, policy)
    excluded_providers = sorted(policy.excluded_providers)
    is_exclusive = snapshot is not None and snapshot.is_gateway_exclusive
    if is_exclusive:
        excluded_providers = []
    layers = _judged(question, policy, catalog, enabled, is_exclusive=is_exclusive)
    record = EligibilityRecord(
        record_id="",
        create_unix_s=0.0,
        installation_id=question.installation_id,
        catalog_version=catalog.version,
        config_version=policy.config_version,
        credentials_version=snapshot.version if snapshot is not None else "",
        enabled_providers=enabled,
        excluded_providers=tuple(
            ProviderExclusion(name, Layer.PROVIDER_EXCLUDED) for name in excluded_providers
        ),
        is_gateway_exclusive=is_exclusive,
        gateway_aliases=snapshot.gateway_aliases if snapshot is not None and is_exclusive else (),
        excluded_models=tuple(layers.excluded),
        automatic_excluded_models=tuple(
            ModelExclusion(name, Layer.AUTOMATIC) for name in policy.automatic_exclusions
        ),
        safety_excluded_models=tuple(layers.safety),
        requirement_excluded_models=tuple(layers.requirement),
        excluded_bindings=tuple(layers.bindings),
        forced_model=question.forced_model,
        presented_hashes=tuple(sorted(identity.presented_hash for identity in question.presented)),
        suppressed_plans=question.suppressed_plans,
        override_reason=policy.override_reason,
        cost_factors=cost_factors(catalog, question.presented, enabled)
        if policy.is_subsidised
        else (),
    )
    return replace(record, record_id=_digest(record), create_unix_s=question.now_unix_s)


def _judged(
    question: Question,
    policy: Policy,
    catalog: Catalog,
    enabled: Sequence[ProviderState],
    *,
    is_exclusive: bool,
) -> Layers:
    """Return what is removed, by the least that must be let go for anything to serve.

    First the room that is kept for the answer is, then what requests need and can do without.
    """
    named = catalog.resolve(question.forced_model or question.features.requested_model)
    is_bound = bool(question.forced_model) or policy.is_name_binding
    models = list(catalog.models.values())
    scope = [named] if is_bound and named is not None else models

    blank = functools.partial(Layers, question, policy, enabled, is_exclusive=is_exclusive)
    layers = blank().judge_all(models)
    left_alone = frozenset(policy.automatic_exclusions)
    picked = [each for each in models if each.is_automatic and each.id not in left_alone]
    if layers.is_short_of_room(scope if is_bound else picked):
        blank = functools.partial(blank, has_reserve=False)
        layers = blank().judge_all(models)
    if policy.requirements is not RequirementMode.ENFORCE or layers.leaves_any_of(scope):
        return layers
    waiving = blank(waived=WAIVED).judge_all(models)
    if not waiving.leaves_any_of(scope):
        waiving.tell_unavailable(models)
    return waiving


def _enabled(question: Question, policy: Policy) -> tuple[ProviderState, ...]:
    """Return the providers with any way to authenticate, brought credentials included."""
    snapshot = question.snapshot
    states: Mapping[str, ProviderState] = (
        {state.provider: state for state in snapshot.providers}
        if snapshot is not None
        else {name: ProviderState(name) for name in policy.configured_providers}
    )
    brought = {
        identity.provider: ProviderState(
            identity.provider, owners=("caller",), kinds=(identity.kind,)
        )
        for identity in question.presented
        if identity.provider not in states
    }
    everything = {**states, **brought}
    closed = policy.closed_to_presented if question.is_credential_brought else frozenset()
    return tuple(everything[name] for name in sorted(everything) if name not in closed)


def _digest(record: EligibilityRecord) -> str:
    return hashlib.sha256(orjson.dumps(record)).hexdigest()[:32]
