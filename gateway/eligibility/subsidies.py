"""Models that a subscription pays for: the less of it is used, the less they cost. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.model import PresentedIdentity, ProviderState
    from services.domain.catalog import Catalog, Model

PLANS = frozenset(
    {CredentialKind.CLAUDE_OAUTH, CredentialKind.CODEX_OAUTH, CredentialKind.GEMINI_OAUTH}
)
"""Kinds of credential behind which a subscription stands."""
LEAST_FACTOR = 0.05
"""Share of its list price that a model costs on a plan that nothing is used of."""


def cost_factors(
    catalog: Catalog, presented: Sequence[PresentedIdentity], providers: Sequence[ProviderState]
) -> tuple[tuple[str, float], ...]:
    """Return the share of its list price that each covered model costs, by id.

    A plan covers models whose first provider is its vendor. The caller's own plan comes first, for
    it serves first. Of a pool it must be certain that a plan serves: all its keys belong to one.
    """
    states = {state.provider: state for state in providers if PLANS.issuperset(state.kinds)}
    factors: dict[str, float] = {}
    for model in catalog.models.values():
        if model.bindings:
            factor = _of_caller(model, presented)
            if factor is None:
                factor = _of_pool(model, states.get(model.bindings[0].provider))
            if factor is not None:
                factors[model.id] = factor
    return tuple(factors.items())


def covers(plan: PresentedIdentity, model: Model) -> bool:
    """Return whether a credential that a caller brings is a plan under which a model may serve."""
    first = model.bindings[0]
    is_named = not plan.covered_models or model.id in plan.covered_models
    is_in_plan = plan.kind is not CredentialKind.CODEX_OAUTH or first.is_in_codex_plan
    return plan.kind in PLANS and plan.provider == first.provider and is_named and is_in_plan


def factor_of(used_ratio: float | None) -> float:
    """Return the factor at a share used of the tighter window; a plan never seen is unused."""
    used = min(max(used_ratio or 0.0, 0.0), 1.0)
    return LEAST_FACTOR + (1.0 - LEAST_FACTOR) * used * used


def _of_caller(model: Model, presented: Sequence[PresentedIdentity]) -> float | None:
    for plan in presented:
        if covers(plan, model) and not plan.is_exhausted:
            return factor_of(plan.used_ratio)
    return None


def _of_pool(model: Model, state: ProviderState | None) -> float | None:
    if state is None or not state.kinds:
        return None
    if CredentialKind.CODEX_OAUTH in state.kinds and not model.bindings[0].is_in_codex_plan:
        return None
    headrooms = dict(state.family_headrooms)
    headroom = headrooms.get(model.family, state.headroom_ratio)
    return factor_of(None if headroom is None else 1.0 - headroom)
