"""The item-response curve: what a model of a stated skill is worth on one prompt."""

from __future__ import annotations

import math

import numpy as np

from services.scorer.model.artifact import Curve, Floats

FLOOR = 0.02
"""Qualities nearer to 0 or 1 than this say no more about need."""


def logit(quality: Floats) -> Floats:
    """Return the log odds of qualities, kept finite."""
    kept = np.minimum(np.maximum(quality, FLOOR), 1 - FLOOR)
    odds: Floats = np.log(kept / (1 - kept))
    return odds


def calibrated(curve: Curve, quality: Floats) -> Floats:
    """Return predicted qualities as chances."""
    chances: Floats = 1.0 / (1.0 + np.exp(-(curve.shift + curve.scale * logit(quality))))
    return chances


def need(curve: Curve, quality: Floats) -> float:
    """Return what skill a prompt asks for, from the measured models' predicted qualities."""
    return curve.base + float(curve.weights @ logit(quality))


def chance(curve: Curve, skill: float, need_of_prompt: float) -> float:
    """Return the chance that a model of that skill is good enough."""
    return 1.0 / (1.0 + math.exp(min((need_of_prompt - skill) / curve.slope, 700.0)))
