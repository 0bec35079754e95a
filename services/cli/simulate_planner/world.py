"""Seeded agent-coding sessions: what arrives, when, how hard it is, and what the scorer sees.

Shapes follow public aggregate figures; no trace is copied. Units: tokens, seconds, USD.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from services.cli.simulate_planner.prices import MODELS, ONE_HOUR_S, ActionSize, SimModel, scales

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Whole = NDArray[np.int64]

SEED = 20261129
MAX_OUTPUT_TOKENS = 16_000
MAX_ARRIVING_TOKENS = 25_000
FIRST_TRIM_ACTION = 9


@dataclass(frozen=True, slots=True)
class WorldConfig:
    """How sessions are drawn; the defaults are the base world."""

    max_actions: int = 300
    user_turns_median: float = 2.2
    user_turns_sigma: float = 1.05
    tools_per_turn_median: float = 3.2
    tools_per_turn_sigma: float = 1.15
    system_tokens: tuple[float, float] = (9_000, 26_000)
    tool_tokens_median: float = 800
    tool_tokens_sigma: float = 1.25
    output_median: float = 230
    output_sigma: float = 1.0
    compact_at: tuple[float, float] = (90_000, 167_000)
    compact_to: tuple[float, float] = (3_000, 9_000)
    trim_probability: float = 0.004
    uncached_share: tuple[float, float] = (0.05, 0.20)
    tool_gap_median_s: float = 14.0
    tool_gap_sigma: float = 1.0
    user_gap_median_s: float = 95.0
    user_gap_sigma: float = 1.5
    long_break: float = 0.06
    step_visible: float = 1.0
    """1: the scorer judges the step; 0: only its user turn."""
    noise_turn: float = 0.07
    noise_action: float = 0.06
    routine_share: float = 0.6
    routine_drop: float = 0.16
    main_lift: float = 0.05
    opening_lift: float = 0.15
    step_sigma: float = 0.05
    covered_share: float = 0.0
    exhausts: float = 0.2
    leftover: float = 1.0
    """Chance that a model that was left keeps its cache until its lifetime ends."""
    summary_risk: float = 0.10
    """What a summary adds to the chance of a bad answer for the next actions."""
    models: tuple[SimModel, ...] = MODELS


@dataclass(frozen=True, slots=True)
class Session:
    """One session; every list has one entry per action, rows one column per model."""

    time_s: list[float]
    sizes: list[ActionSize]
    system: float
    is_trimmed: list[bool]
    is_user: list[bool]
    survives: list[bool]
    factor: list[float]
    risk: list[tuple[float, ...]]
    """Chance that each model under-serves the action."""
    seen: list[float]
    """The difficulty that the scorer reads from the prompt."""
    seen_risk: list[tuple[float, ...]]
    """The chance if that reading were exact: what the scorer believes, and picks by."""

    def __len__(self) -> int:
        return len(self.time_s)


@dataclass(frozen=True, slots=True)
class World:
    """The sessions of one seed, longest first."""

    config: WorldConfig
    sessions: tuple[Session, ...]


def build_world(config: WorldConfig, seed: int, count: int) -> World:
    """Return ``count`` sessions; equal arguments give equal sessions."""
    rng = np.random.default_rng([SEED, seed])
    fates = np.random.default_rng([SEED, seed, 1])
    drawn = [_session(rng, fates, config) for _ in range(count)]
    return World(config, tuple(sorted(drawn, key=len, reverse=True)))


def _session(rng: np.random.Generator, fates: np.random.Generator, c: WorldConfig) -> Session:
    turns, turn = _turns(rng, c)
    is_user = np.diff(turn, prepend=-1) > 0
    time_s = _times(rng, c, is_user)
    output, tokens, system, is_trimmed = _prompts(rng, c, is_user)
    share = 1.0 - rng.uniform(*c.uncached_share)
    need, seen, factor = _difficulty(rng, c, turns, turn)
    sizes = zip(tokens.tolist(), (tokens * share).tolist(), output.tolist(), strict=True)
    return Session(
        time_s=time_s.tolist(),
        sizes=[ActionSize(*size) for size in sizes],
        system=system * share,
        is_trimmed=is_trimmed.tolist(),
        is_user=is_user.tolist(),
        survives=(fates.random(len(is_user)) < c.leftover).tolist(),
        factor=factor.tolist(),
        risk=[tuple(model.risk(one) for model in c.models) for one in need.tolist()],
        seen=seen.tolist(),
        seen_risk=[tuple(model.risk(one) for model in c.models) for one in seen.tolist()],
    )


def _turns(rng: np.random.Generator, c: WorldConfig) -> tuple[int, Whole]:
    """Return how many turns were drawn and the turn of each action that fits."""
    turns = max(1, round(rng.lognormal(np.log(c.user_turns_median), c.user_turns_sigma)))
    tools = np.floor(
        rng.lognormal(np.log(c.tools_per_turn_median), c.tools_per_turn_sigma, turns)
    ).astype(np.int64)
    turn = np.repeat(np.arange(turns, dtype=np.int64), 1 + tools)[: c.max_actions]
    return turns, turn


def _times(rng: np.random.Generator, c: WorldConfig, is_user: Bools) -> Floats:
    n = len(is_user)
    gap = rng.lognormal(np.log(c.tool_gap_median_s), c.tool_gap_sigma, n)
    think = rng.lognormal(np.log(c.user_gap_median_s), c.user_gap_sigma, n)
    is_away = rng.random(n) < c.long_break
    think = np.where(is_away, rng.uniform(1.0, 14.0, n) * ONE_HOUR_S, think)
    gap = np.where(is_user, think + 6.0, gap + 3.0)
    gap[0] = 0.0
    return np.cumsum(gap)


def _prompts(
    rng: np.random.Generator, c: WorldConfig, is_user: Bools
) -> tuple[Floats, Floats, float, Bools]:
    """Return output, prompt, system part and whether the history was cut before the action."""
    n = len(is_user)
    output = np.minimum(
        rng.lognormal(np.log(c.output_median), c.output_sigma, n), MAX_OUTPUT_TOKENS
    )
    typed = rng.lognormal(np.log(180), 1.2, n)
    returned = rng.lognormal(np.log(c.tool_tokens_median), c.tool_tokens_sigma, n)
    arriving = np.minimum(np.where(is_user, typed, returned), MAX_ARRIVING_TOKENS)
    system = float(rng.uniform(*c.system_tokens))
    limit = rng.uniform(*c.compact_at)
    tokens, is_trimmed = np.empty(n), np.zeros(n, bool)
    history = rng.lognormal(np.log(900), 0.8)
    lot = rng.random(n)
    for t in range(n):
        history += arriving[t] + (output[t - 1] if t else 0.0)
        if t and system + history > limit:
            history, is_trimmed[t] = rng.uniform(*c.compact_to) + arriving[t], True
        elif t >= FIRST_TRIM_ACTION and lot[t] < c.trim_probability:
            history, is_trimmed[t] = history * rng.uniform(0.45, 0.8), True
        tokens[t] = system + history
    return output, tokens, system, is_trimmed


def _difficulty(
    rng: np.random.Generator, c: WorldConfig, turns: int, turn: Whole
) -> tuple[Floats, Floats, Floats]:
    """Return the need of each action, the scorer's estimate of it, and the factor of plans."""
    n = len(turn)
    is_user = np.diff(turn, prepend=-1) > 0
    base = rng.beta(3.2, 3.0)
    turn_need = np.clip(base + rng.normal(0, 0.12, turns), 0, 1)
    is_routine = (~is_user) & (rng.random(n) < c.routine_share)
    lift = np.where(is_user, c.main_lift, 0.0)
    lift[0] += c.opening_lift
    steps = rng.normal(0, c.step_sigma, n)
    need = np.clip(turn_need[turn] + lift - is_routine * c.routine_drop + steps, 0, 1)
    bias = rng.normal(0, 1, turns)[turn]
    jitter = rng.normal(0, 1, n)
    seen = turn_need[turn] + c.step_visible * (need - turn_need[turn])
    return need, seen + c.noise_turn * bias + c.noise_action * jitter, _plan(rng, c, n)


def _plan(rng: np.random.Generator, c: WorldConfig, n: int) -> Floats:
    factor = np.ones(n)
    if rng.random() < c.covered_share:
        factor[:] = rng.uniform(0.05, 0.3)
        if rng.random() < c.exhausts and n > 2:
            factor[rng.integers(1, n) :] = 1.0
    return factor


def picks(
    session: Session,
    config: WorldConfig,
    risk_price_usd: float,
    risks_by_action: Sequence[Sequence[float]] | None = None,
) -> list[int]:
    """Return the scorer's pick per action: least static cost plus priced risk.

    Without ``risks_by_action`` the scorer goes by what it believes.
    """
    found = []
    for factor, risks in zip(session.factor, risks_by_action or session.seen_risk, strict=True):
        scale = scales(config.models, factor)
        costs = [
            model.nominal_usd * by + risk_price_usd * risk
            for model, by, risk in zip(config.models, scale, risks, strict=True)
        ]
        found.append(costs.index(min(costs)))
    return found
