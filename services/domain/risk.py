"""The session's running mean of a model's risk, the same wherever it is kept."""

from __future__ import annotations

NEWEST_SHARE = 0.3
"""Least weight of the newest action; 0.05 to 1 was tried in the simulator, 0.3 to 0.5 is best."""


def running_mean(mean: float | None, risk: float, action_index: int) -> float:
    """Return the mean after one more action.

    ``action_index`` counts the session's actions from 0. The first ones weigh alike; later the
    newest keeps a share, so that the mean follows the session. A mean of None starts with ``risk``.
    """
    if mean is None:
        return risk
    weight = max(NEWEST_SHARE, 1.0 / (action_index + 1))
    return mean + weight * (risk - mean)
