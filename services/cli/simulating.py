"""Plays parts of the product through simulated sessions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli import output
from services.runtime.launch import StartError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.cli.simulate_planner.campaign import Campaign

simulate = typer.Typer(help="Play parts of the product through simulated sessions.")

LIMITS = (
    "simulated figures rank rules and predict nobody's bill: capability is one number, bad answers"
    " do not compound, all models answer at equal length"
)


@simulate.callback()
def _simulate() -> None:
    """Play parts of the product through simulated sessions."""


@simulate.command("planner")
def simulate_planner(
    sessions: Annotated[int, typer.Option(min=10, help="Sessions per seed.")] = 400,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 2,
    first_seed: Annotated[int, typer.Option(min=0, help="The first of them.")] = 0,
    risk_price: Annotated[
        float, typer.Option(min=0.001, help="USD that one bad answer costs.")
    ] = 0.10,
    plot: Annotated[
        Path | None, typer.Option(help="Where to draw the main rules on both axes, as SVG.")
    ] = None,
    *,
    sweep: Annotated[
        bool, typer.Option(help="Also find the worst price of risk and the worst world.")
    ] = True,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare the planner's rules with each other and with what no planner could beat."""
    from services.cli.simulate_planner import report
    from services.cli.simulate_planner.campaign import (
        AS_SAFE,
        CORRECTED,
        Campaign,
        Result,
        as_safe,
        contestants,
        run,
    )

    campaign = Campaign(tuple(range(first_seed, first_seed + seeds)), sessions, risk_price)
    results: dict[str, Result] = {}
    everyone = contestants(risk_price)
    for name in _announced(list(everyone)):
        results |= run(campaign, {name: everyone[name]})
    results[AS_SAFE] = as_safe(campaign, results[CORRECTED])
    swept = _swept(campaign) if sweep else []
    rules = report.contestant_rows(results)
    goals = report.goal_rows(report.goals(results, [(tried, ratio) for _, tried, ratio in swept]))
    tried = report.sweep_rows([(name, ratio) for name, _, ratio in swept])
    if plot is not None:
        plot.write_text(report.plot(results))
    if json:
        output.as_json_text({"rules": rules, "sweep": tried, "goals": goals, "limits": LIMITS})
        return
    for table in filter(None, (rules, tried, goals)):
        if not sys.stdout.isatty():
            print("\t".join(table[0]))
        output.rows(table, as_json=False)
    print(report.headline(results))
    print(LIMITS)


@simulate.command("credentials")
def simulate_credentials(
    seed: Annotated[int, typer.Option(min=0, help="Seed of the ledger.")] = 0,
    ledgers: Annotated[int, typer.Option(min=1, help="How many random ledgers besides.")] = 200,
    plot: Annotated[
        Path | None, typer.Option(help="Where to draw the longest held warning, as SVG.")
    ] = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Replay quota headers under several rules; fails where ours holds a warning too long."""
    from services.cli.simulate_credentials import report

    figures = report.play(seed, ledgers)
    rows = report.rows(figures)
    if plot is not None:
        plot.write_text(report.plot(seed))
    if json:
        output.as_json_text({"rules": rows, "sound": figures.is_sound})
    else:
        if not sys.stdout.isatty():
            print("\t".join(rows[0]))
        output.rows(rows, as_json=False)
    if not figures.is_sound:
        raise StartError("the shipped rule held a warning too long, or showed an avoidable error")


def _swept(campaign: Campaign) -> list[tuple[str, Campaign, float]]:
    from services.cli.simulate_planner.campaign import ratio_in, sweep

    named = dict(sweep(campaign))
    return [(name, named[name], ratio_in(named[name])) for name in _announced(list(named))]


def _announced(names: list[str]) -> Iterator[str]:
    """Yield each name; a bar on a terminal shows how far it is, plain lines elsewhere."""
    if not sys.stderr.isatty():
        for number, name in enumerate(names, 1):
            sys.stderr.write(f"{number}/{len(names)} {name}\n")
            yield name
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(names, description="playing", console=Console(stderr=True), transient=True)
