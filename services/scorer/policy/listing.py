"""Which deployed models are eligible for a request, and in what order they are listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.scorer.model.artifact import Artifact, Axes
from services.scorer.model.decision import ChosenBinding, Deployed, Dropped, Pool, Refusal
from services.scorer.model.question import CandidateOrder, Eligibility, Features
from services.scorer.policy.deployed import Deployment
from services.scorer.policy.filters import filtered


@dataclass(frozen=True, slots=True)
class Listed:
    """One deployed model, the binding that would serve it, and what removes it, if anything."""

    deployed: Deployed
    binding: ChosenBinding
    axes: Axes
    dropped: Dropped | None


def listed(
    artifact: Artifact,
    deployment: Deployment,
    features: Features,
    eligibility: Eligibility,
    order: CandidateOrder,
    *,
    is_eligible_only: bool,
) -> tuple[Listed, ...] | Refusal:
    """Return the deployed models in order; a refusal when only eligible ones count and none is."""
    pool = filtered(deployment.models, features, eligibility)
    if is_eligible_only and pool.refusal is not None:
        return pool.refusal
    drops = {drop.model_id: drop for drop in pool.dropped}
    rows = [_row(model, artifact, pool, drops) for model in deployment.models]
    if is_eligible_only:
        rows = [row for row in rows if row.dropped is None]
    return tuple(rows if order is CandidateOrder.MODEL else by_speed(rows))


def by_speed(rows: Sequence[Listed]) -> list[Listed]:
    """Return the fastest first; without any figure the cheapest input first. Ties keep order."""
    if any(row.axes.tokens_per_s is not None for row in rows):
        return sorted(rows, key=lambda row: -(row.axes.tokens_per_s or 0.0))
    return sorted(rows, key=lambda row: row.binding.input_usd_per_mtok)


def _row(model: Deployed, artifact: Artifact, pool: Pool, drops: Mapping[str, Dropped]) -> Listed:
    axes = Axes()
    if model.column >= 0 and not model.scored_as:
        axes = artifact.axes.get(artifact.measured[model.column], axes)
    binding = pool.bindings.get(model.model.id) or model.bindings[0]
    return Listed(model, binding, axes, drops.get(model.model.id))
