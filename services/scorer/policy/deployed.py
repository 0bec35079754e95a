"""Which catalog models an artifact can speak for, and by what evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from services.domain.catalog import Catalog, Model
from services.domain.vocab import ModelTier
from services.scorer.model.artifact import Artifact
from services.scorer.model.decision import Deployed, Evidence
from services.scorer.policy.bindings import catalog_bindings

TIER_SKILLS: Mapping[ModelTier, float] = {
    ModelTier.LOW: 0.32,
    ModelTier.MID: 0.58,
    ModelTier.HIGH: 0.80,
    ModelTier.TOP: 0.95,
}
"""Skill of a model that states none."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """The deployed models by id, and what could not be deployed as it asked to be."""

    models: tuple[Deployed, ...]
    unmeasured: tuple[str, ...]
    """Automatic models that the artifact has no figures for."""
    unknown_lenders: tuple[str, ...]
    """Ids of models whose ``scored_as`` names no measured model."""


def deploy(catalog: Catalog, artifact: Artifact) -> Deployment:
    """Return every automatic model with its evidence: its own cells, borrowed ones, or a skill.

    A model without a tier, or one that a newer generation took over from, serves only whoever names
    it and is never deployed.
    """
    models: list[Deployed] = []
    unmeasured: list[str] = []
    unknown: list[str] = []
    for model_id in sorted(catalog.models):
        model = catalog.models[model_id]
        if not model.is_automatic:
            continue
        if model.scored_as and model.scored_as not in artifact.aliases:
            unknown.append(model_id)
        deployed = _deployed(model, artifact)
        if deployed is None:
            unmeasured.append(model_id)
        else:
            models.append(deployed)
    return Deployment(tuple(models), tuple(unmeasured), tuple(unknown))


def _deployed(model: Model, artifact: Artifact) -> Deployed | None:
    bindings = catalog_bindings(model)
    own = artifact.aliases.get(model.id)
    lender = artifact.aliases.get(model.scored_as) if model.scored_as else None
    if own is not None:
        return Deployed(model, bindings, Evidence.MEASURED, own, _skill(artifact, own))
    if lender is not None:
        name = artifact.measured[lender]
        return Deployed(model, bindings, Evidence.BORROWED, lender, _skill(artifact, lender), name)
    if artifact.curve is not None:
        skill = TIER_SKILLS[model.tier] if model.skill is None else model.skill
        return Deployed(model, bindings, Evidence.ESTIMATED, -1, skill)
    return None


def _skill(artifact: Artifact, column: int) -> float | None:
    return None if artifact.curve is None else float(artifact.curve.skills[column])
