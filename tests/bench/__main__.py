"""The bench: `python -m tests.bench` measures, `python -m tests.bench profile` shows where."""

from __future__ import annotations

import contextlib
import platform
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.progress import Progress

from tests.bench import peers, planning, product, profile, stages, targets
from tests.bench.book import Book
from tests.bench.machine import BenchError, Machine
from tests.bench.rounds import Plan, full_cases, measure, quick_cases, warm
from tests.bench.shapes import Case, Measurement, Route, Target
from tests.bench.sheets import Sheet, faults, sheets
from tests.bench.table import show

STARTERS: Mapping[str, targets.Starter] = {
    "direct": targets.direct,
    "proxy": targets.proxy,
    "hop": targets.hop,
    "hops": targets.hops,
    "embedded": product.embedded,
    "apart": product.apart,
    "embedded-deciding": product.embedded_deciding,
    "apart-deciding": product.apart_deciding,
    "litellm": peers.litellm,
    "portkey": peers.portkey,
}
ALWAYS = ("direct", "proxy")
"""What every figure is compared with."""
QUICK = (*ALWAYS, "embedded", "embedded-deciding")
MOST_SECONDS = 30.0
PLANNED_SESSIONS = 400
"""Per seed of the planner's simulator; what its README tells."""
MOST_ROUNDS = 10

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command("profile")(profile.command)


@app.callback(invoke_without_command=True)
def bench(
    context: typer.Context,
    only: Annotated[str, typer.Option(help=f"Of {', '.join(STARTERS)}; empty: all.")] = "",
    routes: Annotated[str, typer.Option(help="As in the tables; empty: all.")] = "",
    seconds: Annotated[float, typer.Option(min=0.1, max=MOST_SECONDS, help="Per load.")] = 2.0,
    rounds: Annotated[int, typer.Option(min=1, max=MOST_ROUNDS)] = 2,
    json: Annotated[Path | None, typer.Option(help="Also write every measurement here.")] = None,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="A smoke run of under a minute.")] = False,
) -> None:
    """Measure the product, the floors and the peers that are installed, in one run."""
    if context.invoked_subcommand is not None:
        return
    names = _names(only, QUICK if quick else tuple(STARTERS))
    plan = (
        Plan(0.5, 1, quick_cases(), warmup_seconds=0.2)
        if quick
        else Plan(seconds, rounds, _on(routes, full_cases()))
    )
    try:
        found, measured = _run(names, plan)
    except BenchError as error:
        raise SystemExit(str(error)) from None
    for sheet in found:
        show(sheet)
    if not (quick or only or routes):
        typer.echo(planning.planner_line(PLANNED_SESSIONS))
    if json is not None:
        json.write_bytes(_document(measured, plan))
    if quick and (complaints := faults(found)):
        raise SystemExit("\n".join(complaints))


def _names(only: str, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    asked = tuple(only.split(",")) if only else otherwise
    if unknown := [name for name in asked if name not in STARTERS]:
        raise typer.BadParameter(f"{', '.join(unknown)}: not one of {', '.join(STARTERS)}")
    chosen = {*ALWAYS, *asked}
    absent = {name for name in ("litellm", "portkey") if not peers.is_installed(name)}
    if missing := sorted(chosen & absent):
        typer.echo(f"not installed, left out: {', '.join(missing)} (make bench-peers)", err=True)
    return tuple(name for name in STARTERS if name in chosen - absent)


def _on(routes: str, cases: tuple[Case, ...]) -> tuple[Case, ...]:
    asked = set(routes.split(",")) if routes else set(Route)
    if unknown := sorted(asked - set(Route)):
        raise typer.BadParameter(f"{', '.join(unknown)}: not one of {', '.join(Route)}")
    return tuple(case for case in cases if case.route in asked)


def _run(names: tuple[str, ...], plan: Plan) -> tuple[tuple[Sheet, ...], list[Measurement]]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, contextlib.ExitStack() as stack:
        machine = Machine(Path(folder))
        stack.callback(machine.close)
        machine.keep_off_the_target()
        port = stack.enter_context(targets.running_provider(machine))
        running = [stack.enter_context(STARTERS[name](machine, port)) for name in names]
        warm(machine, running, plan)
        measured = list(_watched(machine, running, plan))
        found = stages.measure(machine, running, plan.seconds)
    return sheets(Book(measured), running, plan.cases, found), measured


def _watched(machine: Machine, running: list[Target], plan: Plan) -> Iterator[Measurement]:
    each = sum(target.takes(case) for case in plan.cases for target in running)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("loads", total=each * plan.rounds)
        for measurement in measure(machine, running, plan):
            case = measurement.case
            what = f"{case.shape} {case.mode} {case.route} c={case.clients}"
            label = f"{measurement.target} {what}"
            progress.update(task, advance=1, description=label)
            yield measurement


def _document(measured: list[Measurement], plan: Plan) -> bytes:
    facts = {"python": platform.python_version(), "machine": platform.machine()}
    return orjson.dumps(
        {"facts": facts, "plan": plan, "measurements": measured}, option=orjson.OPT_INDENT_2
    )


if __name__ == "__main__":
    app()
