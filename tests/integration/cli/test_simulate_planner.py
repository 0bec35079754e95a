"""Simulated sessions rank the planner's rules, and nobody beats the bound."""

from __future__ import annotations

import itertools
import json
import pathlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from services.cli.__main__ import run as run_command
from services.cli.simulate_planner.calibration import calibrated
from services.cli.simulate_planner.campaign import (
    ANY_MODEL,
    BOUND,
    CORRECTED,
    EXACT_RISKS,
    FOLLOW,
    LEGACY,
    NEVER,
    SUMMARIES,
    VALUE,
    Campaign,
    contestants,
    run,
)
from services.cli.simulate_planner.clairvoyant import Clairvoyant, best_path
from services.cli.simulate_planner.contestants import Fixed
from services.cli.simulate_planner.play import Account, Chooser, Stage, play
from services.cli.simulate_planner.world import World, WorldConfig, build_world, picks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RISK_PRICE = 0.10
SHORT = 8


class Path:
    """Serves one list in a world of one session."""

    def __init__(self, models: Sequence[int]) -> None:
        self._models = models

    def begin(self, stage: Stage) -> Chooser:
        return Fixed(self._models)


def test_the_rules_rank_as_measured() -> None:
    everyone = contestants(RISK_PRICE)
    names = (VALUE, SUMMARIES, CORRECTED, LEGACY, FOLLOW, NEVER)
    results = run(Campaign(sessions=300), {name: everyone[name] for name in names})
    total = {name: result.total_usd for name, result in results.items()}
    assert total[VALUE] < total[CORRECTED] <= total[LEGACY]
    assert total[LEGACY] < min(total[FOLLOW], total[NEVER])
    assert total[SUMMARIES] < total[VALUE]
    assert results[SUMMARIES].sum.summaries > 0
    believed = results[VALUE].sum
    assert believed.believed_usd == pytest.approx(believed.believed_bill_usd, rel=0.05)


def test_the_production_rule_is_within_a_tenth_of_the_bound() -> None:
    everyone = contestants(RISK_PRICE)
    planned = (VALUE, EXACT_RISKS, CORRECTED, LEGACY, FOLLOW, NEVER)
    names = (BOUND, ANY_MODEL, *planned)
    results = run(Campaign(sessions=120), {name: everyone[name] for name in names})
    assert results[VALUE].ratio(results[BOUND]) < 1.10
    assert results[VALUE].ratio(results[ANY_MODEL]) < 1.18
    for name in planned:
        assert results[name].total_usd > results[BOUND].total_usd
    assert results[BOUND].total_usd > results[ANY_MODEL].total_usd


def test_a_calibrated_risk_comes_true_and_a_reading_taken_as_exact_does_not() -> None:
    world = build_world(WorldConfig(), 7, 400)
    told = [
        (tells, believes, risk)
        for session in world.sessions
        for told_row, seen_row, risk_row in zip(
            calibrated(world.config).risks(session, world.config),
            session.seen_risk,
            session.risk,
            strict=True,
        )
        for tells, believes, risk in zip(told_row, seen_row, risk_row, strict=True)
    ]

    def miss(column: int) -> float:
        """Return how far chances of each tenth are from what comes true, over all actions."""
        sums = [[0.0, 0.0] for _ in range(11)]
        for row in told:
            cell = sums[int(10 * row[column])]
            cell[0] += row[column]
            cell[1] += row[2]
        return sum(abs(said - came) for said, came in sums) / len(told)

    assert miss(0) < 0.02
    assert miss(1) > 1.5 * miss(0)


def test_calm_costs_nothing_once_risks_are_calibrated() -> None:
    everyone = contestants(RISK_PRICE)
    results = run(Campaign(), {name: everyone[name] for name in (VALUE, EXACT_RISKS)})
    told, exact = results[VALUE].sum, results[EXACT_RISKS].sum
    count = len(results[VALUE].accounts)
    assert told.switches / count < 2.5 < exact.switches / count
    assert told.ping_pongs / count < 0.7
    assert results[VALUE].total_usd == pytest.approx(results[EXACT_RISKS].total_usd, rel=0.01)


def test_equal_seeds_give_equal_sessions_and_equal_accounts() -> None:
    config = WorldConfig(leftover=0.6, covered_share=0.5)
    assert build_world(config, 3, 20) == build_world(config, 3, 20)
    assert build_world(config, 3, 20) != build_world(config, 4, 20)
    campaign = Campaign(seeds=(3,), sessions=20, config=config)
    who = {VALUE: contestants(RISK_PRICE)[VALUE]}
    assert run(campaign, who) == run(campaign, who)


def totals(world: World, chosen: Sequence[int], paths: Iterable[Sequence[int]]) -> list[float]:
    return [
        sum(play(world, Path(path), [chosen], RISK_PRICE), Account()).total_usd(RISK_PRICE)
        for path in paths
    ]


def reachable(chosen: Sequence[int]) -> set[tuple[int, ...]]:
    """Return every path that stays or takes the pick, action by action."""
    paths: set[tuple[int, ...]] = {(chosen[0],)}
    for pick in chosen[1:]:
        paths = {(*path, model) for path in paths for model in (path[-1], pick)}
    return paths


@pytest.mark.parametrize("leftover", [1.0, 0.5])
def test_the_bound_is_what_trying_everything_finds(leftover: float) -> None:
    world = build_world(WorldConfig(leftover=leftover, max_actions=SHORT), 5, 40)
    found = best = 0.0
    for session in world.sessions:
        alone = World(world.config, (session,))
        chosen = picks(session, world.config, RISK_PRICE)
        path = best_path(Stage(session, world.config, chosen, RISK_PRICE), is_any_model=False)
        assert tuple(path) in reachable(chosen)
        found += totals(alone, chosen, [path])[0]
        best += min(totals(alone, chosen, reachable(chosen)))
    assert best <= found <= best * 1.005


def test_the_bound_over_any_model_is_what_trying_everything_finds() -> None:
    config = WorldConfig(max_actions=4)
    world = build_world(replace(config, models=config.models[2:]), 6, 12)
    found = best = 0.0
    for session in world.sessions:
        alone = World(world.config, (session,))
        chosen = picks(session, world.config, RISK_PRICE)
        everything = itertools.product(range(len(world.config.models)), repeat=len(session))
        found += sum(
            play(alone, Clairvoyant(is_any_model=True), [chosen], RISK_PRICE), Account()
        ).total_usd(RISK_PRICE)
        best += min(totals(alone, chosen, everything))
    assert best - 1e-12 <= found <= best * 1.005


SMALL = ["simulate", "planner", "--sessions", "10", "--seeds", "1"]


def test_the_command_draws_sweeps_and_ends_with_the_figure(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawing = tmp_path / "rules.svg"
    assert run_command([*SMALL, "--plot", str(drawing)]) == 0
    printed = capsys.readouterr().out
    assert "twice the noise" in printed
    assert "picks by calibrated risks" in printed
    assert "planner: 1." in printed.splitlines()[-2]
    assert drawing.read_text().count("<polyline") == 6


def test_the_command_prints_rules_and_goals(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command([*SMALL, "--no-sweep", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    rules = {row["rule"]: row for row in printed["rules"]}
    assert rules[BOUND]["ratio"] == 1.0
    assert {"cost_usd", "under_served_usd", "switches", "ping_pongs"} <= set(rules[VALUE])
    assert {"measured", "goal", "stretch", "met"} <= set(printed["goals"][0])
    assert "predict nobody's bill" in printed["limits"]
