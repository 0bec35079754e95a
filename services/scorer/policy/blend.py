"""The score of artifacts without risk: quality, cost and speed blended in each nearby cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from services.scorer.model.artifact import Artifact, Floats
from services.scorer.model.decision import Deployed
from services.scorer.policy.costs import Scales, normalised
from services.scorer.policy.heads import Nearby, Prediction, nearest

PREFERENCE = 0.15
"""Bonus of the most preferred model."""
PREFERENCE_DECAY = 0.55
SWEEP_POINTS = 401


def blended(
    quality: Floats, nearby: Nearby, scales: Scales, alpha: Sequence[float], speed: float
) -> Floats:
    """Return each model's blend, summed over the nearby clusters with their weights.

    ``quality`` has a row per nearby cluster, normalised here over the deployed models like cost and
    speed were. Where speed does not differ, its weight is shared by the other two in proportion.
    """
    total = np.zeros(quality.shape[1])
    is_speed_flat = bool(np.ptp(scales.latency) == 0)
    for row, cluster in enumerate(nearby.ids):
        w_q, w_s = float(alpha[cluster]), speed
        w_c = max(1.0 - w_q - w_s, 0.0)
        if is_speed_flat:
            rest = w_q + w_c
            w_q, w_c, w_s = (w_q / rest, w_c / rest, 0.0) if rest > 0 else (1.0, 0.0, 0.0)
        blend = (
            w_q * normalised(quality[row]) + w_c * (1 - scales.cost) + w_s * (1 - scales.latency)
        )
        total += nearby.weights[row] * blend
    return total


def cluster_rows(
    artifact: Artifact, deployed: Sequence[Deployed], prediction: Prediction
) -> Floats:
    """Return the quality of each deployed model in each nearby cluster.

    With more heads than the table, all clusters carry the heads' common prediction.
    """
    columns = np.array([model.column for model in deployed], dtype=np.int64)
    ids = prediction.nearby.ids
    if artifact.linear is None and artifact.pieces is None:
        cells: Floats = artifact.clusters.quality[np.ix_(ids, columns)]
        return cells
    return np.tile(prediction.quality[columns], (len(ids), 1))


def preference_bonuses(
    preferred: Sequence[str], eligible: Mapping[str, object]
) -> dict[str, float]:
    """Return the bonus of each preferred model that is eligible; ranks skip the others."""
    ranked = [model for model in dict.fromkeys(preferred) if model in eligible]
    return {model: PREFERENCE * PREFERENCE_DECAY**rank for rank, model in enumerate(ranked)}


def breakpoints(
    artifact: Artifact, deployed: Sequence[Deployed], scales: Scales
) -> tuple[float, ...]:
    """Return the alphas at which some centroid's winner changes; 0 and 1 are its ends."""
    if not deployed:
        return ()
    clusters = artifact.clusters
    columns = np.array([model.column for model in deployed], dtype=np.int64)
    places = [nearest(clusters, centroid) for centroid in clusters.centroids]
    found: list[float] = []
    before: list[int] | None = None
    for alpha in np.linspace(0.0, 1.0 - artifact.knobs.speed_weight, SWEEP_POINTS):
        uniform = [float(alpha)] * clusters.count
        winners = sorted(
            int(
                blended(
                    clusters.quality[np.ix_(place.ids, columns)],
                    place,
                    scales,
                    uniform,
                    artifact.knobs.speed_weight,
                ).argmax()
            )
            for place in places
        )
        if winners != before:
            found.append(float(alpha))
        before = winners
    return (0.0, *found[1:-1], 1.0)
