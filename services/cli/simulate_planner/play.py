"""Plays one way of choosing through the sessions and keeps its accounts."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Protocol

from services.cli.simulate_planner.history import History, summary_usd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.cli.simulate_planner.prices import SimModel
    from services.cli.simulate_planner.world import Session, World, WorldConfig

PING_PONG_ACTIONS = 5
"""Coming back within so many actions, with no cold event between, is a ping-pong."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One session as a contestant meets it."""

    session: Session
    config: WorldConfig
    picks: Sequence[int]
    risk_price_usd: float

    @property
    def models(self) -> tuple[SimModel, ...]:
        """The models of the world."""
        return self.config.models

    def factor(self, model: int, t: int) -> float:
        """Return the factor on the model's prices at action ``t``."""
        return self.session.factor[t] if self.models[model].is_coverable else 1.0

    def is_cold_event(self, t: int, ttl_s: float) -> bool:
        """Return whether a cache that was used by the action before is of no use at ``t``."""
        time_s = self.session.time_s
        return self.session.is_trimmed[t] or time_s[t] - time_s[t - 1] >= ttl_s


@dataclass(frozen=True, slots=True)
class Choice:
    """A model for one action, and what the chooser believes that it costs (None: no belief)."""

    model: int
    believed_usd: float | None = None
    is_summarised: bool = False
    """Whether a summary of the history is written first and sent in its place."""


class Chooser(Protocol):
    """Chooses models in one session, action by action."""

    def choose(self, t: int) -> Choice:
        """Return the model for action ``t``; called once for each, in order."""
        ...


class Contestant(Protocol):
    """A way of choosing; knows what the product would know, or, for a bound, everything."""

    def begin(self, stage: Stage) -> Chooser:
        """Return the chooser of one session."""
        ...


@dataclass(frozen=True, slots=True)
class Account:
    """What one or more sessions came to."""

    cost_usd: float = 0.0
    under_served: float = 0.0
    """Expected number of actions whose answer is not good enough."""
    switches: int = 0
    ping_pongs: int = 0
    mid_loop_switches: int = 0
    summaries: int = 0
    believed_usd: float = 0.0
    believed_bill_usd: float = 0.0
    """The bill of the actions that there was a belief about."""

    def __add__(self, other: Account) -> Account:
        return Account(
            *(getattr(self, part.name) + getattr(other, part.name) for part in fields(Account))
        )

    def total_usd(self, risk_price_usd: float) -> float:
        """Return cost and priced under-serving together."""
        return self.cost_usd + risk_price_usd * self.under_served


def play(
    world: World, contestant: Contestant, picks: Sequence[Sequence[int]], risk_price_usd: float
) -> list[Account]:
    """Return the account of each session."""
    return [
        _play(Stage(session, world.config, chosen, risk_price_usd), contestant)
        for session, chosen in zip(world.sessions, picks, strict=True)
    ]


def _play(stage: Stage, contestant: Contestant) -> Account:
    session, models, history = stage.session, stage.models, History(stage.session)
    chooser, caches, steps = contestant.begin(stage), Caches(stage), Steps(stage)
    cost = under_served = believed = believed_bill = 0.0
    summaries = 0
    for t in range(len(session)):
        history.advance(t)
        caches.advance(t)
        choice = chooser.choose(t)
        if choice.is_summarised:
            cost += summary_usd(models, history.size(t).tokens)
            history.shorten(t)
            caches.cut()
            summaries += 1
        size, factor = history.size(t), stage.factor(choice.model, t)
        bill = models[choice.model].bill_usd(size, caches.held(choice.model, t), factor)
        caches.use(choice.model, t, size.cacheable)
        steps.take(choice.model, t)
        cost += bill
        missing = stage.config.summary_risk if history.is_risky(t) else 0.0
        under_served += min(1.0, session.risk[t][choice.model] + missing)
        if choice.believed_usd is not None:
            believed += choice.believed_usd
            believed_bill += bill
    return Account(
        cost_usd=cost,
        under_served=under_served,
        switches=steps.switches,
        ping_pongs=steps.ping_pongs,
        mid_loop_switches=steps.mid_loop,
        summaries=summaries,
        believed_usd=believed,
        believed_bill_usd=believed_bill,
    )


class Caches:
    """What each model's cache really holds in one session."""

    def __init__(self, stage: Stage) -> None:
        self._session, self._models = stage.session, stage.models
        self._held = [0.0] * len(stage.models)
        self._used_s = [-math.inf] * len(stage.models)
        self._current: int | None = None

    def advance(self, t: int) -> None:
        """Begin action ``t``: a cut history leaves only system and tools in the caches."""
        if self._session.is_trimmed[t]:
            self.cut()

    def cut(self) -> None:
        """Replace the history: what follows system and tools is of no use any more."""
        self._held = [min(held, self._session.system) for held in self._held]

    def held(self, model: int, t: int) -> float:
        """Return the tokens that the model would read from its cache now."""
        age_s = self._session.time_s[t] - self._used_s[model]
        return self._held[model] if age_s < self._models[model].ttl_s else 0.0

    def use(self, model: int, t: int, cacheable: float) -> None:
        """Serve action ``t``; the model that is left may lose its cache."""
        if self._current not in (None, model) and not self._session.survives[t]:
            self._held[self._current or 0] = 0.0
        self._held[model] = cacheable
        self._used_s[model] = self._session.time_s[t]
        self._current = model


class Steps:
    """Counts switches and the unwanted kinds of them."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._current: int | None = None
        self._left: int | None = None
        self._left_at = 0
        self._cold_at = 0
        self.switches = self.ping_pongs = self.mid_loop = 0

    def take(self, model: int, t: int) -> None:
        """Count the step to ``model`` at action ``t``."""
        current, self._current = self._current, model
        if current is None:
            return
        if self._stage.is_cold_event(t, self._stage.models[current].ttl_s):
            self._cold_at = t
        if current == model:
            return
        self.switches += 1
        self.mid_loop += not self._stage.session.is_user[t]
        is_near = t - self._left_at <= PING_PONG_ACTIONS and self._cold_at < self._left_at
        self.ping_pongs += model == self._left and is_near
        self._left, self._left_at = current, t
