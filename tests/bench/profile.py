"""Runs the product under load and prints where its CPU time goes."""

from __future__ import annotations

import contextlib
import os
import pstats
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import orjson
import typer

from tests.bench import product, targets
from tests.bench.book import cpu_ms, rate
from tests.bench.costs import Costs, costs
from tests.bench.machine import BenchError, Machine, own_program
from tests.bench.rounds import load
from tests.bench.shapes import Case, LoadFigures, Mode, Route, Shape

PARTS = (product.WHOLE, *product.DECIDING_PARTS)
SHOWN = 30
ALL = 0.99
"""From this share on, a function only says that the program runs."""
WARMUP_SECONDS = 1.0


def command(
    target: Annotated[str, typer.Option(help=f"Which process: {', '.join(PARTS)}.")] = PARTS[0],
    route: Annotated[Route, typer.Option()] = Route.MESSAGES,
    mode: Annotated[Mode, typer.Option(help="Who chooses the model.")] = Mode.REQUESTED,
    seconds: Annotated[float, typer.Option(min=0.5, max=60)] = 5.0,
    clients: Annotated[int, typer.Option(min=1, max=64)] = 16,
    top: Annotated[int, typer.Option(min=1, max=500)] = SHOWN,
    *,
    stream: Annotated[bool, typer.Option("--stream", help="Streams of 200 chunks.")] = False,
    paced: Annotated[bool, typer.Option("--paced", help="Streams of a chunk per 10 ms.")] = False,
    calls: Annotated[bool, typer.Option("--calls", help="Count calls, by cProfile.")] = False,
) -> None:
    """Show where the CPU time of one of the product's processes goes."""
    if target not in PARTS:
        raise typer.BadParameter(f"{target}: not one of {', '.join(PARTS)}")
    if mode is Mode.REQUESTED and target not in (product.WHOLE, *product.PARTS):
        raise typer.BadParameter(f"{target} is asked only in a --mode other than {mode}")
    shape = Shape.PACED if paced else Shape.BURST if stream else Shape.WHOLE
    case = Case(shape, route, clients, mode)
    with tempfile.TemporaryDirectory(prefix="profile-") as made:
        file = Path(made) / "profile"
        try:
            figures = _profiled(target, case, seconds, file, is_counted=calls)
        except BenchError as error:
            raise SystemExit(str(error)) from None
        print(f"{target} {case.shape} {case.route} c={case.clients}: {_summary(figures)}\n")
        if calls:
            pstats.Stats(str(file)).sort_stats("tottime").print_stats(top)
        else:
            _show(costs(orjson.loads(file.read_bytes())), cpu_ms(figures) or 0.0, top)


def _profiled(
    part: str, case: Case, seconds: float, file: Path, *, is_counted: bool
) -> LoadFigures:
    tool = "tests.bench.tracing" if is_counted else "tests.bench.sampling"
    wrappers = {part: own_program(tool, str(file), product.CLI)}
    is_deciding = case.mode is not Mode.REQUESTED
    parts = product.DECIDING_PARTS if is_deciding else product.PARTS
    if part == product.WHOLE:
        start = product.embedded_deciding if is_deciding else product.embedded
    else:
        start = product.apart_deciding if is_deciding else product.apart
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, contextlib.ExitStack() as stack:
        machine = Machine(Path(folder))
        stack.callback(machine.close)
        machine.keep_off_the_target()
        port = stack.enter_context(targets.running_provider(machine))
        running = stack.enter_context(start(machine, port, wrappers))
        load(machine, running, case, WARMUP_SECONDS, 0.0)
        pid = running.pids[0 if part == product.WHOLE else parts.index(part)]
        os.kill(pid, signal.SIGUSR2)
        figures = load(machine, running, case, seconds, 0.0)
        os.kill(pid, signal.SIGUSR2)
    return figures


def _summary(figures: LoadFigures) -> str:
    return (
        f"{rate(figures) or 0:.0f} answers/s, {cpu_ms(figures) or 0:.2f} ms CPU each (all"
        f" processes, profiler included), {figures.errors} errors {dict(figures.codes)}"
    )


def _show(found: Costs, ms_per_answer: float, top: int) -> None:
    _table("by package (own time)", found.packages, ms_per_answer, top)
    _table("by our module (with what it called elsewhere)", found.rooms, ms_per_answer, top)
    _table("by function (own time)", found.own, ms_per_answer, top)
    inner = {name: share for name, share in found.whole.items() if share < ALL}
    _table("by function (with what it called)", inner, ms_per_answer, top * 2)


def _table(title: str, shares: Mapping[str, float], ms_per_answer: float, top: int) -> None:
    print(f"{title}\n{'share':>7} {'us/answer':>10}")
    for name, share in list(shares.items())[:top]:
        print(f"{share:7.1%} {share * ms_per_answer * 1e3:10.0f}  {name}")
    print()
