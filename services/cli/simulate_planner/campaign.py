"""Runs contestants through the same sessions and compares what they came to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from services.cli.simulate_planner.calibration import calibrated
from services.cli.simulate_planner.clairvoyant import Clairvoyant
from services.cli.simulate_planner.contestants import Follow, Never, Planned
from services.cli.simulate_planner.play import Account, play
from services.cli.simulate_planner.prices import MODELS, ONE_HOUR_S
from services.cli.simulate_planner.world import WorldConfig, build_world, picks
from services.planner.model.question import Economics
from services.planner.model.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from services.cli.simulate_planner.play import Contestant
    from services.cli.simulate_planner.world import World

    Floats = NDArray[np.float64]

BOUND, ANY_MODEL = "clairvoyant (pin or pick)", "clairvoyant (any model)"
VALUE, CORRECTED, LEGACY = "value", "corrected", "legacy"
EXACT_RISKS = "value, risks taken as exact"
SUMMARIES = "value, kept summaries"
AS_SAFE = "value, as safe as corrected"
FOLLOW, NEVER = "follow the scorer", "never switch"
BASE_RISK_PRICE_USD = 0.10
RISK_PRICES_USD = (0.02, 0.05, 0.10, 0.20, 0.50, 1.00)
CAUTION = (1.0, 1.25, 1.5, 1.6, 1.75, 2.0, 3.0, 5.0)
"""Multiples of the price of risk that the planner is tried with to be as safe as another."""
RESAMPLES = 400
INTERVAL_PERCENT = (2.5, 97.5)

_LONG_LIVED = tuple(
    replace(model, ttl_s=ONE_HOUR_S, write=2.0 if model.write > 1.0 else model.write)
    for model in MODELS
)
WORLDS: Mapping[str, WorldConfig] = {
    "caches for an hour": WorldConfig(models=_LONG_LIVED),
    "subscriptions": WorldConfig(covered_share=0.7),
    "60 % of caches survive": WorldConfig(leftover=0.6),
    "no cache survives": WorldConfig(leftover=0.0),
    "scorer sees turns only": WorldConfig(step_visible=0.0),
    "half the noise": WorldConfig(noise_turn=0.035, noise_action=0.03),
}
NOISY_WORLD = WorldConfig(noise_turn=0.14, noise_action=0.12)


@dataclass(frozen=True, slots=True)
class Campaign:
    """Which sessions are played and what one bad answer costs."""

    seeds: tuple[int, ...] = (0, 1)
    sessions: int = 400
    risk_price_usd: float = BASE_RISK_PRICE_USD
    config: WorldConfig = field(default_factory=WorldConfig)
    is_pick_calibrated: bool = False
    """Whether the scorer also picks by the calibrated risks that it tells."""


@dataclass(frozen=True, slots=True)
class Result:
    """The accounts of one contestant, in the order of the sessions."""

    accounts: tuple[Account, ...]
    risk_price_usd: float

    @property
    def sum(self) -> Account:
        """All sessions together."""
        return sum(self.accounts, Account())

    @property
    def total_usd(self) -> float:
        """Cost and priced under-serving of all sessions."""
        return self.sum.total_usd(self.risk_price_usd)

    def ratio(self, bound: Result) -> float:
        """Return the total as a multiple of another's."""
        return self.total_usd / bound.total_usd

    def interval(self, bound: Result) -> tuple[float, float]:
        """Return the 95 % interval of the ratio, by drawing sessions anew in pairs."""
        own, other = (
            np.array([account.total_usd(self.risk_price_usd) for account in result.accounts])
            for result in (self, bound)
        )
        return _percentiles(_redrawn(own) / _redrawn(other))

    @property
    def cost_interval_usd(self) -> tuple[float, float]:
        """The 95 % interval of the mean cost of a session."""
        return self._mean_interval([account.cost_usd for account in self.accounts])

    @property
    def under_served_interval_usd(self) -> tuple[float, float]:
        """The 95 % interval of the mean priced under-serving of a session."""
        return self._mean_interval(
            [account.under_served * self.risk_price_usd for account in self.accounts]
        )

    def _mean_interval(self, amounts: Sequence[float]) -> tuple[float, float]:
        return _percentiles(_redrawn(np.array(amounts)) / len(amounts))


def _redrawn(amounts: Floats) -> Floats:
    """Return the sums over sessions drawn anew; equal counts draw the same sessions."""
    count = len(amounts)
    drawn = np.random.default_rng(count).integers(0, count, (RESAMPLES, count))
    return np.asarray(amounts[drawn].sum(axis=1), np.float64)


def _percentiles(amounts: Floats) -> tuple[float, float]:
    low, high = np.percentile(amounts, INTERVAL_PERCENT)
    return float(low), float(high)


def contestants(risk_price_usd: float) -> dict[str, Contestant]:
    """Return everyone who is compared. Corrected reads a share of the prompt, as it always did."""
    return {
        BOUND: Clairvoyant(),
        ANY_MODEL: Clairvoyant(is_any_model=True),
        VALUE: planned(risk_price_usd),
        "value, prefix as a share": replace(planned(risk_price_usd), is_prefix_counted=False),
        "value, leftovers ignored": replace(planned(risk_price_usd), is_leftover_used=False),
        EXACT_RISKS: replace(planned(risk_price_usd), is_calibrated=False),
        "value, no risks": replace(planned(risk_price_usd), has_risks=False),
        SUMMARIES: replace(planned(risk_price_usd), has_summaries=True),
        CORRECTED: Planned(Rules(Economics.CORRECTED), is_prefix_counted=False),
        LEGACY: Planned(Rules(Economics.LEGACY)),
        FOLLOW: Follow(),
        NEVER: Never(),
    }


def planned(risk_price_usd: float) -> Planned:
    """Return the production rule."""
    return Planned(Rules(risk_price_usd=risk_price_usd))


def run(campaign: Campaign, who: Mapping[str, Contestant]) -> dict[str, Result]:
    """Return the result of each contestant; all meet the same sessions and the same picks."""
    price = campaign.risk_price_usd
    accounts: dict[str, list[Account]] = {name: [] for name in who}
    for seed in campaign.seeds:
        world = build_world(campaign.config, seed, campaign.sessions)
        chosen = _picks(campaign, world)
        for name, contestant in who.items():
            accounts[name] += play(world, contestant, chosen, price)
    return {name: Result(tuple(found), price) for name, found in accounts.items()}


def _picks(campaign: Campaign, world: World) -> list[list[int]]:
    config, price = world.config, campaign.risk_price_usd
    if not campaign.is_pick_calibrated:
        return [picks(session, config, price) for session in world.sessions]
    told = calibrated(config)
    return [
        picks(session, config, price, told.risks(session, config)) for session in world.sessions
    ]


def as_safe(campaign: Campaign, other: Result) -> Result:
    """Return the production rule at the lowest price of risk that under-serves no more.

    Two rules differ in cost and in under-serving; only at equal safety do their costs compare.
    """
    for caution in CAUTION:
        result = run(campaign, {VALUE: planned(caution * campaign.risk_price_usd)})[VALUE]
        if result.sum.under_served <= other.sum.under_served:
            break
    return result


def ratio_in(campaign: Campaign) -> float:
    """Return the production rule's ratio to the bound in one world at one price of risk."""
    who: dict[str, Contestant] = {BOUND: Clairvoyant(), VALUE: planned(campaign.risk_price_usd)}
    results = run(campaign, who)
    return results[VALUE].ratio(results[BOUND])


def sweep(campaign: Campaign) -> Sequence[tuple[str, Campaign]]:
    """Return the campaigns that the worst figures are taken from, named."""
    prices = [
        (f"risk price {price:g}", replace(campaign, risk_price_usd=price))
        for price in RISK_PRICES_USD
    ]
    worlds = [(name, replace(campaign, config=config)) for name, config in WORLDS.items()]
    return [
        *prices,
        *worlds,
        ("picks by calibrated risks", replace(campaign, is_pick_calibrated=True)),
        ("twice the noise", replace(campaign, config=NOISY_WORLD)),
    ]
