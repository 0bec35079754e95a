"""Groups texts by direction: k-means on unit vectors, the same for the same seed."""

from __future__ import annotations

import numpy as np

from services.scorer.model.artifact import Floats

_ROUNDS = 25


def spherical_means(unit: Floats, count: int, seed: int) -> Floats:
    """Return the unit centroids of k-means by cosine, begun with spread-out rows."""
    source = np.random.default_rng(seed)
    chosen = [int(source.integers(len(unit)))]
    distance = 1.0 - unit @ unit[chosen[0]]
    for _ in range(count - 1):
        weights = np.clip(distance, 1e-12, None)
        chosen.append(int(source.choice(len(unit), p=weights / weights.sum())))
        distance = np.minimum(distance, 1.0 - unit @ unit[chosen[-1]])
    centroids = unit[chosen].copy()
    for _ in range(_ROUNDS):
        assigned = (unit @ centroids.T).argmax(axis=1)
        for k in range(count):
            members = unit[assigned == k]
            if len(members):
                total = members.sum(axis=0)
                centroids[k] = total / np.linalg.norm(total)
    return centroids
