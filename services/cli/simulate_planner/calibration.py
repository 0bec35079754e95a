"""Turns what the simulated scorer believes into chances that hold, as training does.

The scorer of the world reads the need of an action with noise and takes its reading as exact: it
says 1 % and 99 % where 10 % and 90 % come true. A shipped scorer is calibrated on rows that it did
not learn from; so is this one, on sessions that nobody plays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from services.cli.simulate_planner.prices import MAX_EXPONENT, SLOPE
from services.cli.simulate_planner.world import build_world
from services.cli.train_scorer.curves import fit_calibration

if TYPE_CHECKING:
    from services.cli.simulate_planner.world import Session, WorldConfig

HELD_OUT_SEED = 1_000_000
"""No campaign comes near it."""
HELD_OUT_SESSIONS = 400


@dataclass(frozen=True, slots=True)
class Calibration:
    """Scale and shift of log odds; the same for all models."""

    scale: float
    shift: float

    def risks(self, session: Session, config: WorldConfig) -> list[tuple[float, ...]]:
        """Return the calibrated risk of each action on each model."""
        return [
            tuple(self._chance((seen - model.skill) / SLOPE) for model in config.models)
            for seen in session.seen
        ]

    def _chance(self, odds: float) -> float:
        exponent = self.shift + self.scale * odds
        return 1.0 / (1.0 + math.exp(-min(max(exponent, -MAX_EXPONENT), MAX_EXPONENT)))


@lru_cache(maxsize=32)
def calibrated(config: WorldConfig) -> Calibration:
    """Return the calibration of the scorer of one world, from held-out sessions of that world."""
    sessions = build_world(config, HELD_OUT_SEED, HELD_OUT_SESSIONS).sessions
    seen = np.array([one for session in sessions for one in session.seen])
    skills = np.array([model.skill for model in config.models])
    odds = (seen[:, None] - skills) / SLOPE
    true = np.array([risks for session in sessions for risks in session.risk])
    return Calibration(*fit_calibration(odds.ravel(), true.ravel(), first_scale=0.0))
