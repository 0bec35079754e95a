"""The models of the simulated world and what an action really bills."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from services.domain.catalog import Price
from services.domain.pricing import MICROS_PER_USD, PARTS_PER_MICRO, Rates, cost_at, rates_of
from services.domain.vocab import ModelTier
from services.domain.wire.model import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

FIVE_MINUTES_S = 300.0
ONE_HOUR_S = 3600.0
SLOPE = 0.05
"""How sharply a model fails once the need is above its skill."""
MAX_EXPONENT = 40.0


@dataclass(frozen=True, slots=True)
class SimModel:
    """A model: prices in USD per million tokens, cache multipliers and lifetime, and its skill."""

    name: str
    tier: ModelTier
    input_usd_per_mtok: float
    output_usd_per_mtok: float
    read: float
    write: float
    skill: float
    is_coverable: bool
    ttl_s: float = FIVE_MINUTES_S

    def risk(self, need: float) -> float:
        """Return the chance that the model under-serves an action of this difficulty."""
        exponent = (need - self.skill) / SLOPE
        return 1.0 / (1.0 + math.exp(-min(max(exponent, -MAX_EXPONENT), MAX_EXPONENT)))

    def bill_usd(self, size: ActionSize, held: float, factor: float) -> float:
        """Return the bill of one action when ``held`` tokens of its cacheable part are cached.

        It is what the ledger books for the same usage, before that rounds to whole micro-USD.
        """
        cost = cost_at(usage_of(size, held), _rates(self))
        return factor * (cost.input_parts + cost.output_parts) / (PARTS_PER_MICRO * MICROS_PER_USD)

    @property
    def nominal_usd(self) -> float:
        """The scorer's idea of an action: 45,000 warm tokens in, 300 out, no session known."""
        prompt = 45_000 * self.input_usd_per_mtok * (0.85 * self.read + 0.15)
        return (prompt + 300 * self.output_usd_per_mtok) / 1e6


@dataclass(frozen=True, slots=True)
class ActionSize:
    """Sizes of one action in tokens; ``cacheable`` is the part that the provider would keep."""

    tokens: float
    cacheable: float
    output: float


def usage_of(size: ActionSize, held: float) -> Usage:
    """Return what a provider would report of the action, in whole tokens."""
    tokens, cacheable = round(size.tokens), round(size.cacheable)
    read = min(round(held), cacheable)
    return Usage(
        fresh_input=tokens - cacheable,
        cache_read=read,
        cache_write=cacheable - read,
        output=round(size.output),
    )


@cache
def _rates(model: SimModel) -> Rates:
    prices = model.input_usd_per_mtok, model.output_usd_per_mtok, model.read, model.write
    return rates_of(Price(*prices), 0)


MODELS = (
    SimModel("low", ModelTier.LOW, 0.15, 0.60, 0.50, 1.00, 0.32, is_coverable=False),
    SimModel("mid-open", ModelTier.MID, 0.30, 1.20, 0.20, 1.00, 0.46, is_coverable=False),
    SimModel("mid", ModelTier.MID, 1.00, 5.00, 0.10, 1.25, 0.58, is_coverable=True),
    SimModel("high-open", ModelTier.HIGH, 1.40, 4.40, 0.1857, 1.00, 0.70, is_coverable=False),
    SimModel("high", ModelTier.HIGH, 3.00, 15.0, 0.10, 1.25, 0.80, is_coverable=True),
    SimModel("top", ModelTier.TOP, 5.00, 25.0, 0.10, 1.25, 0.95, is_coverable=True),
)


def scales(models: Sequence[SimModel], factor: float) -> tuple[float, ...]:
    """Return the factor on each model's prices when covered ones cost ``factor`` of the list."""
    return tuple(factor if model.is_coverable else 1.0 for model in models)
