"""What models cost and how fast they are, in money and on the scale of the deployed set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.scorer.model.artifact import Artifact, Axes, Floats
from services.scorer.model.decision import ChosenBinding, Deployed

_MTOK = 1e6
_UNKNOWN_AXES = Axes()


@dataclass(frozen=True, slots=True)
class Size:
    """How large a request and its answer are taken to be."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """Cost and latency of each deployed model, normalised over all of them, [0, 1]."""

    cost: Floats
    latency: Floats


def request_usd(binding: ChosenBinding, size: Size) -> float:
    """Return what the request would cost there at list price, nothing cached."""
    input_rate, output_rate = binding.rates(size.input_tokens)
    return (size.input_tokens * input_rate + size.output_tokens * output_rate) / _MTOK


def scales(
    deployed: Sequence[Deployed],
    artifact: Artifact,
    size: Size,
    output_cost_ratio: float,
    *,
    is_verbosity_per_model: bool,
) -> Scales:
    """Return normalised costs and latencies.

    They run over the deployed set, never over what is eligible, so that an exclusion reshuffles
    nobody else.
    """
    axes = [_axes(model, artifact) for model in deployed]
    verbosity = _verbosity(axes) if is_verbosity_per_model else [1.0] * len(axes)
    costs = [
        _cost(model.bindings[0], artifact, size, output_cost_ratio, times)
        for model, times in zip(deployed, verbosity, strict=True)
    ]
    latencies = np.array([_latency(row, size.output_tokens) for row in axes])
    known = np.isfinite(latencies)
    slow = np.ones(len(axes))
    if known.any():
        slow[known] = normalised(latencies[known])
    return Scales(normalised(np.array(costs)), slow)


def normalised(values: Floats) -> Floats:
    """Return values on [0, 1]; all 0 when they do not differ."""
    low, high = float(values.min()), float(values.max())
    return (values - low) / (high - low) if high > low else np.zeros(len(values))


def _cost(
    binding: ChosenBinding, artifact: Artifact, size: Size, ratio: float, verbosity: float
) -> float:
    if artifact.knobs.is_cost_per_request:
        input_rate, output_rate = binding.rates(size.input_tokens)
        return size.input_tokens * input_rate + size.output_tokens * output_rate * verbosity
    return binding.input_usd_per_mtok + ratio * binding.output_usd_per_mtok * verbosity


def _verbosity(axes: Sequence[Axes]) -> list[float]:
    known = sorted(row.verbosity_tokens for row in axes if row.verbosity_tokens is not None)
    median = known[len(known) // 2] if known else 1.0
    return [
        1.0 if row.verbosity_tokens is None or median <= 0 else row.verbosity_tokens / median
        for row in axes
    ]


def _latency(axes: Axes, output_tokens: int) -> float:
    first, speed = axes.first_token_s, axes.tokens_per_s
    if first is None or speed is None or speed <= 0:
        return float("inf")
    return first + output_tokens / speed


def _axes(model: Deployed, artifact: Artifact) -> Axes:
    """Return a model's own speeds; those of a lender say nothing about it."""
    if model.column < 0 or model.scored_as:
        return _UNKNOWN_AXES
    return artifact.axes.get(artifact.measured[model.column], _UNKNOWN_AXES)
