"""Fits the linear head: one ridge over all texts, and a correction of it in each region of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from services.cli.train_scorer.means import spherical_means
from services.scorer.model.artifact import Floats, Indices, LinearHead, Regions
from services.scorer.policy.surface import COUNT

REGION_SHRINKAGE = 30.0
"""Rows without an error that stand in every region."""


@dataclass(frozen=True, slots=True)
class LinearSettings:
    """How the linear head is fitted."""

    regions: int = 8
    """0: one function holds for all texts."""
    ridge: float = 30.0
    """Shrinks the weights that hold everywhere."""
    region_ridge: float = 20.0
    """Shrinks what a region corrects of them."""
    surface_ease: float = 9.0
    """How much less the weights of surface features are shrunk: each has a small share of the
    vector, and is worth more than its share where texts of one kind are told apart."""


FIXED = LinearSettings()


def fit_linear(
    joint: Floats, unit: Floats, scores: Floats, seed: int, settings: LinearSettings = FIXED
) -> LinearHead:
    """Return the head of some rows; a model is fitted on the rows that measured it.

    A region that has few rows of a model corrects little of what holds everywhere.
    """
    count, shape = settings.regions, (joint.shape[1], scores.shape[1])
    penalty = np.ones(joint.shape[1])
    penalty[-COUNT:] /= settings.surface_ease
    centroids = spherical_means(unit, count, seed) if count else np.zeros((0, joint.shape[1]))
    inside = (unit @ centroids.T).argmax(axis=1) if count else np.zeros(len(unit), dtype=np.int64)
    common, base = np.zeros(shape), np.zeros(shape[1])
    weights, offsets = np.zeros((count, *shape)), np.zeros((count, shape[1]))
    for models, measured in _measured_together(scores):
        wanted = scores[np.ix_(measured, models)]
        everywhere = _ridge(joint[measured], wanted, settings.ridge * penalty, 0.0)
        common[:, models], base[models] = everywhere
        errors = wanted - joint[measured] @ common[:, models] - base[models]
        for region in range(count):
            here = inside[measured] == region
            if here.any():
                shrink = settings.region_ridge * penalty
                corrected = _ridge(joint[measured[here]], errors[here], shrink, REGION_SHRINKAGE)
                weights[region][:, models], offsets[region, models] = corrected
    regions = Regions(centroids, common + weights, base + offsets) if count else None
    return LinearHead(common, base, regions)


def _measured_together(scores: Floats) -> Iterator[tuple[Indices, Indices]]:
    """Yield groups of models with the rows that measured them, the same for all of a group."""
    groups: dict[bytes, list[int]] = {}
    for m in range(scores.shape[1]):
        groups.setdefault(np.isnan(scores[:, m]).tobytes(), []).append(m)
    for models in groups.values():
        yield np.array(models), np.flatnonzero(~np.isnan(scores[:, models[0]]))


def _ridge(
    inputs: Floats, wanted: Floats, penalty: Floats, shrinkage: float
) -> tuple[Floats, Floats]:
    """Return weights and offsets; the mean of ``wanted`` leans on ``shrinkage`` rows of 0."""
    centre, mean = inputs.mean(axis=0), wanted.sum(axis=0) / (len(wanted) + shrinkage)
    centred = inputs - centre
    gram = centred.T @ centred + np.diag(penalty)
    weights = np.linalg.solve(gram, centred.T @ (wanted - mean))
    return weights, mean - centre @ weights
