"""What nobody could beat: the best path of one who knows the whole session.

Dynamic programming, backwards, over the current model, the one before it, and how many actions ago
that one served last. Caches of a third model are left out of the recursion, so its path is one that
can really be taken; played, it may come out a little cheaper than the recursion says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from services.cli.simulate_planner.contestants import Fixed
from services.cli.simulate_planner.prices import scales

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from services.cli.simulate_planner.play import Chooser, Stage

    Floats = NDArray[np.float64]
    Choices = NDArray[np.int8]

MAX_AGE = 20
"""Actions after which a cache that was left is forgotten; age 0 means that there is none."""
STAY = -1


@dataclass(frozen=True, slots=True)
class Clairvoyant:
    """Chooses the cheapest path; from pin and pick, as a planner may, or from any model."""

    is_any_model: bool = False

    def begin(self, stage: Stage) -> Chooser:
        """Return the chooser of one session."""
        return Fixed(best_path(stage, is_any_model=self.is_any_model))


def best_path(stage: Stage, *, is_any_model: bool) -> list[int]:
    """Return the cheapest models of one session."""
    costs, picks = _Costs(stage), None if is_any_model else stage.picks
    count, models = costs.actions, costs.models
    later = np.zeros((models, models, MAX_AGE + 1))
    choices: list[Choices] = []
    for t in range(count - 1, 0, -1):
        later, choice = _step(costs, t, later, None if picks is None else picks[t])
        choices.append(choice)
    first = costs.cold[0] + later[:, 0, 0]
    path = [int(np.argmin(first)) if picks is None else picks[0]]
    current, before, age = path[0], 0, 0
    for choice in reversed(choices):
        found = int(choice[current, before, age])
        if found == STAY:
            age = age + 1 if 0 < age < MAX_AGE else 0
        else:
            current, before, age = found, current, 1
        path.append(current)
    return path


def _step(costs: _Costs, t: int, later: Floats, pick: int | None) -> tuple[Floats, Choices]:
    """Return the cost from action ``t`` on, by state, and the choice that has it."""
    models = costs.models
    ages = np.arange(MAX_AGE + 1)
    aged = np.where((ages > 0) & (ages < MAX_AGE), ages + 1, 0)
    best = costs.warm(t, 0)[:, None, None] + later[:, :, aged]
    choice = np.full(best.shape, STAY, np.int8)
    held = np.stack([costs.cold[t], *(costs.warm(t, age) for age in range(1, MAX_AGE + 1))])
    for target in range(models) if pick is None else (pick,):
        from_current = later[target, :, 1]
        fresh = np.broadcast_to(
            (costs.cold[t, target] + from_current)[:, None, None], best.shape
        ).copy()
        fresh[:, target, :] = held[:, target][None, :] + from_current[:, None]
        fresh[target] = np.inf
        is_better = fresh < best
        best = np.where(is_better, fresh, best)
        choice = np.where(is_better, np.int8(target), choice)
    return best, choice


class _Costs:
    """Cost with priced under-serving of every action on every model, by what its cache holds."""

    def __init__(self, stage: Stage) -> None:
        session, catalog = stage.session, stage.models
        self._session = session
        self.actions, self.models = len(session), len(catalog)
        scale = np.array([scales(catalog, factor) for factor in session.factor])
        rate = np.array([m.input_usd_per_mtok for m in catalog]) * scale / 1e6
        read, write = (np.array([getattr(m, key) for m in catalog]) for key in ("read", "write"))
        size = np.array([(s.tokens, s.cacheable, s.output) for s in session.sizes])
        self._ttl_s = np.array([m.ttl_s for m in catalog])
        self._saving = rate * (write - read)
        self._cacheable = size[:, 1]
        output = size[:, 2:] * np.array([m.output_usd_per_mtok for m in catalog]) * scale / 1e6
        prompt = rate * (write * size[:, 1:2] + size[:, :1] - size[:, 1:2])
        self.cold: Floats = prompt + output + stage.risk_price_usd * np.array(session.risk)
        self._trims = np.cumsum(session.is_trimmed)
        self._time_s = np.array(session.time_s)

    def warm(self, t: int, age: int) -> Floats:
        """Return the cost of action ``t`` on each model, had it served ``age`` + 1 actions ago.

        An age of 0 is the current model; a model that was left may have lost its cache then.
        """
        served = t - 1 - age
        if served < 0 or (age and not self._session.survives[served + 1]):
            return np.asarray(self.cold[t], np.float64)
        held = self._cacheable[served]
        if self._trims[t] > self._trims[served]:
            held = min(held, self._session.system)
        is_alive = self._time_s[t] - self._time_s[served] < self._ttl_s
        usable = min(held, self._cacheable[t])
        saved = np.where(is_alive, self._saving[t] * usable, 0.0)
        return np.asarray(self.cold[t] - saved, np.float64)
