"""Fits the linear head: one ridge over all texts, and a correction of it in each region of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from services.cli.train_scorer.means import spherical_means
from services.scorer.model.artifact import Floats, Indices, LinearHead, Regions
from services.scorer.policy.surface import COUNT

REGIONS = 8
RIDGE = 30.0
"""Shrinks the weights that hold everywhere."""
REGION_RIDGE = 20.0
"""Shrinks what a region corrects of them."""
SURFACE_EASE = 9.0
"""How much less the weights of surface features are shrunk: each has a small share of the vector,
and is worth more than its share where texts of one kind are told apart."""
REGION_SHRINKAGE = 30.0
"""Rows without an error that stand in every region."""


def fit_linear(joint: Floats, unit: Floats, scores: Floats, seed: int) -> LinearHead:
    """Return the head of some rows; a model is fitted on the rows that measured it.

    A region that has few rows of a model corrects little of what holds everywhere.
    """
    shape = joint.shape[1], scores.shape[1]
    penalty = np.ones(joint.shape[1])
    penalty[-COUNT:] /= SURFACE_EASE
    centroids = spherical_means(unit, REGIONS, seed)
    inside = (unit @ centroids.T).argmax(axis=1)
    common, base = np.zeros(shape), np.zeros(shape[1])
    weights, offsets = np.zeros((REGIONS, *shape)), np.zeros((REGIONS, shape[1]))
    for models, measured in _measured_together(scores):
        wanted = scores[np.ix_(measured, models)]
        common[:, models], base[models] = _ridge(joint[measured], wanted, RIDGE * penalty, 0.0)
        errors = wanted - joint[measured] @ common[:, models] - base[models]
        for region in range(REGIONS):
            here = inside[measured] == region
            if here.any():
                weights[region][:, models], offsets[region, models] = _ridge(
                    joint[measured[here]], errors[here], REGION_RIDGE * penalty, REGION_SHRINKAGE
                )
    return LinearHead(common, base, Regions(centroids, common + weights, base + offsets))


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
