"""Fits the item-response curve through the heads' out-of-fold qualities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from services.scorer.model.artifact import Curve, Floats
from services.scorer.policy.curve import logit

RIDGE = 20.0
_ROUNDS = 25


@dataclass(frozen=True, slots=True)
class Anchor:
    """Fixes the scale: this measured model has this skill."""

    model: str
    skill: float


def fit_curve(
    quality: Floats, scores: Floats, models: tuple[str, ...], low: Anchor, high: Anchor
) -> Curve:
    """Return the curve of the measured cells.

    ``logit P = theta[model] - w · logit(quality)`` is fitted by Newton steps; the two anchors then
    turn theta into skill. ``quality`` must come from rows that the heads did not learn from.

    Raises:
        ValueError: the anchor that is to be weaker answers no worse than the other.
    """
    inputs = logit(quality)
    centre = inputs.mean(axis=0)
    theta, weights = _logistic(inputs - centre, scores)
    at = [models.index(low.model), models.index(high.model)]
    if not theta[at[0]] < theta[at[1]]:
        raise ValueError(f"--anchor {low.model}: does no worse than {high.model}")
    measured = ~np.isnan(scores)
    scale, shift = fit_calibration(inputs[measured], scores[measured])
    slope = (high.skill - low.skill) / (theta[at[1]] - theta[at[0]])
    skills = low.skill + slope * (theta - theta[at[0]])
    base = skills[0] - slope * theta[0]
    return Curve(
        base=float(base - slope * centre @ weights),
        weights=slope * weights,
        slope=float(slope),
        skills=skills,
        scale=scale,
        shift=shift,
    )


def fit_calibration(odds: Floats, wanted: Floats, first_scale: float = 1.0) -> tuple[float, float]:
    """Return the scale and shift of log odds that fit the wanted chances best, cell by cell.

    The steps begin at ``first_scale``: 1 where the odds are nearly right, 0 where they may be far
    off, since a first scale that is far too large can lead the steps away.
    """
    design = np.stack([odds, np.ones(len(odds))])
    beta = np.array([first_scale, 0.0])
    for _ in range(_ROUNDS):
        chances = 1 / (1 + np.exp(-(beta @ design)))
        bend = (design * (chances * (1 - chances))) @ design.T
        beta = beta + np.linalg.solve(bend, design @ (wanted - chances))
    return float(beta[0]), float(beta[1])


def _logistic(inputs: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Return theta per model and weights of the need: ``logit P = theta - inputs @ weights``."""
    width, count = inputs.shape[1], scores.shape[1]
    beta = np.zeros(count + width)
    rows = [np.flatnonzero(~np.isnan(scores[:, m])) for m in range(count)]
    for _ in range(_ROUNDS):
        slope = np.zeros_like(beta)
        bend = np.zeros((count + width, count + width))
        for m, measured in enumerate(rows):
            part = -inputs[measured]
            chance = 1 / (1 + np.exp(-(beta[m] + part @ beta[count:])))
            gap, spread = scores[measured, m] - chance, chance * (1 - chance)
            slope[m] += gap.sum()
            slope[count:] += part.T @ gap
            cross = part.T @ spread
            bend[m, m] += spread.sum()
            bend[m, count:] += cross
            bend[count:, m] += cross
            bend[count:, count:] += (part * spread[:, None]).T @ part
        penalty = np.concatenate([np.full(count, 1e-6), np.full(width, RIDGE)])
        step = np.linalg.solve(bend + np.diag(penalty), slope - penalty * beta)
        beta = beta + step
        if float(np.abs(step).max()) < 1e-8:
            break
    return beta[:count], beta[count:]
