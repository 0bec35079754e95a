"""Turns the figures of a run into sheets of rows. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tests.bench.book import BASE, DIRECT, FLOOR, Book, Pick, base_case, cpu_ms, rate
from tests.bench.shapes import (
    BURST_CHUNKS,
    PACED_CHUNKS,
    Case,
    LoadFigures,
    Mode,
    Route,
    Shape,
    StageFigures,
    Target,
)
from tests.bench.stats import difference, ratio


@dataclass(frozen=True, slots=True)
class Cell:
    """One value under its heading."""

    heading: str
    value: float | None
    digits: int = 2
    is_owed: bool = True
    """Whether a run that lacks it is broken."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one target came to on one route."""

    target: str
    route: str
    cells: tuple[Cell, ...]
    errors: int = 0


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows of one kind."""

    title: str
    rows: tuple[Row, ...]


def sheets(
    book: Book,
    targets: Sequence[Target],
    cases: Sequence[Case],
    stages: Sequence[StageFigures] = (),
) -> tuple[Sheet, ...]:
    """Return what a run shows: whole answers, bursts, paced streams, decisions, processes."""
    return (
        _sheet("Whole answers", Shape.WHOLE, _whole_cells, book, cases),
        _sheet(f"Streams of {BURST_CHUNKS} chunks", Shape.BURST, _burst_cells, book, cases),
        _sheet("Paced streams (one chunk per 10 ms)", Shape.PACED, _paced_cells, book, cases),
        Sheet("Decisions (whole answers, by who chooses)", _deciding_rows(book, cases)),
        Sheet("Stages over loopback, one call at a time", tuple(map(_stage_row, stages))),
        Sheet("Processes", tuple(_process_row(book, target) for target in targets)),
    )


def faults(found: Sequence[Sheet]) -> tuple[str, ...]:
    """Return what is wrong with a run: rows with errors or without a figure they owe."""
    rows = [(sheet.title, row) for sheet in found for row in sheet.rows]
    complaints = [
        f"{title}: {row.target} {row.route} had {row.errors} errors"
        for title, row in rows
        if row.errors
    ]
    complaints += [
        f"{title}: {row.target} {row.route} lacks {cell.heading}"
        for title, row in rows
        for cell in row.cells
        if cell.is_owed and cell.value is None and row.target != DIRECT
    ]
    return tuple(complaints)


CellsOf = Callable[[Book, str, Sequence[Case]], tuple[Cell, ...]]
"""Makes the cells of a target from its cases of one shape and route, fewest clients first."""


def _sheet(title: str, shape: Shape, cells_of: CellsOf, book: Book, cases: Sequence[Case]) -> Sheet:
    rows = [
        Row(target, route, cells_of(book, target, asked), book.errors(target, asked))
        for route in Route
        if (asked := _asked(cases, shape, route))
        for target in book.targets()
        if book.has(target, asked[0])
    ]
    return Sheet(title, tuple(rows))


def _asked(cases: Sequence[Case], shape: Shape, route: Route) -> list[Case]:
    return _by_clients(
        case
        for case in cases
        if (case.shape, case.route, case.mode) == (shape, route, Mode.REQUESTED)
    )


def _by_clients(cases: Iterable[Case]) -> list[Case]:
    return sorted(cases, key=lambda case: case.clients)


def _deciding_rows(book: Book, cases: Sequence[Case]) -> tuple[Row, ...]:
    whole = [case for case in cases if case.shape is Shape.WHOLE and case.route is Route.MESSAGES]
    deciding = [
        (target, mode, _by_clients(case for case in whole if case.mode is mode))
        for mode in Mode
        if mode is not Mode.REQUESTED
        for target in book.targets()
    ]
    return tuple(
        Row(target, mode, _deciding_cells(book, target, asked), book.errors(target, asked))
        for target, mode, asked in deciding
        if asked and book.has(target, asked[0])
    )


def _stage_row(figures: StageFigures) -> Row:
    latency = figures.latency
    cpu_us = figures.cpu_seconds / latency.count * 1e6 if latency.count else None
    cells = (
        Cell("p50 ms", latency.p50),
        Cell("p99 ms", latency.p99),
        Cell("CPU us/call", cpu_us, 0),
    )
    return Row(figures.target, figures.stage, cells)


def _whole_cells(book: Book, target: str, cases: Sequence[Case]) -> tuple[Cell, ...]:
    busy = _busy(cases)
    return (
        _alone_cell("p50 ms", cases, lambda case: book.value(target, case, _p50)),
        _alone_cell("added p50", cases, lambda case: _added(book, target, case, _p50)),
        _alone_cell("added p99", cases, lambda case: _added(book, target, case, _p99)),
        *(Cell(f"rps c={case.clients}", book.value(target, case, rate), 0) for case in cases),
        *(Cell(f"CPU ms c={case.clients}", book.value(target, case, cpu_ms)) for case in cases),
        Cell("x proxy CPU", _times_base(book, target, busy, cpu_ms), 1, is_owed=False),
    )


def _deciding_cells(book: Book, target: str, cases: Sequence[Case]) -> tuple[Cell, ...]:
    """Return the cells of whole answers, and how they stand to what nothing apart is below."""
    alone, busy = cases[0], _busy(cases)
    added = _added(book, FLOOR, base_case(alone), _p50)
    at_least = book.value(FLOOR, base_case(busy), cpu_ms)
    return (
        *_whole_cells(book, target, cases),
        Cell("x floor added", ratio(_added(book, target, alone, _p50), added), 1, is_owed=False),
        Cell("x floor CPU", ratio(book.value(target, busy, cpu_ms), at_least), 1, is_owed=False),
    )


def _burst_cells(book: Book, target: str, cases: Sequence[Case]) -> tuple[Cell, ...]:
    busy = _busy(cases)
    return (
        _alone_cell("first byte p50 ms", cases, lambda case: book.value(target, case, _first_byte)),
        _alone_cell("added", cases, lambda case: _added(book, target, case, _first_byte)),
        *(Cell(f"streams/s c={case.clients}", book.value(target, case, rate), 0) for case in cases),
        Cell("CPU ms/stream", book.value(target, busy, cpu_ms)),
        Cell("CPU us/chunk", _chunk_cpu_us(book, target, busy, BURST_CHUNKS), 1),
        Cell("x proxy CPU", _times_base(book, target, busy, cpu_ms), 1, is_owed=False),
    )


def _paced_cells(book: Book, target: str, cases: Sequence[Case]) -> tuple[Cell, ...]:
    case = cases[0]
    return (
        Cell("first byte p50 ms", book.value(target, case, _first_byte)),
        Cell("transit p50 ms", book.value(target, case, lambda f: f.transit.p50)),
        Cell("transit p99 ms", book.value(target, case, lambda f: f.transit.p99)),
        Cell("CPU us/chunk", _chunk_cpu_us(book, target, case, PACED_CHUNKS), 1),
        Cell("x proxy transit", _times_base(book, target, case, _transit), 1, is_owed=False),
        Cell("x proxy CPU", _times_base(book, target, case, cpu_ms), 1, is_owed=False),
    )


def _process_row(book: Book, target: Target) -> Row:
    rss = book.rss_bytes(target.name) / 1e6 or None
    cells = (Cell("start s", target.start_seconds), Cell("RSS MB", rss, 0))
    return Row(target.name, target.note, cells)


def _alone_cell(heading: str, cases: Sequence[Case], value: Callable[[Case], float | None]) -> Cell:
    """Return what one client saw; a route that no single client asks does not owe it."""
    alone = cases[0]
    return Cell(heading, value(alone)) if alone.clients == 1 else Cell(heading, None, is_owed=False)


def _busy(cases: Sequence[Case]) -> Case:
    """Return the case at 16 clients, where CPU repeats best; else the one with most."""
    return next((case for case in cases if case.clients == 16), cases[-1])


def _added(book: Book, target: str, case: Case, pick: Pick) -> float | None:
    return difference(book.value(target, case, pick), book.value(DIRECT, base_case(case), pick))


def _times_base(book: Book, target: str, case: Case, pick: Pick) -> float | None:
    return ratio(book.value(target, case, pick), book.value(BASE, base_case(case), pick))


def _chunk_cpu_us(book: Book, target: str, case: Case, chunks: int) -> float | None:
    """Return the CPU of one chunk: that of the stream less that of a whole answer."""
    whole = Case(Shape.WHOLE, case.route, 16)
    above = difference(book.value(target, case, cpu_ms), book.value(target, whole, cpu_ms))
    return None if above is None else above / chunks * 1e3


def _p50(figures: LoadFigures) -> float | None:
    return figures.latency.p50


def _p99(figures: LoadFigures) -> float | None:
    return figures.latency.p99


def _first_byte(figures: LoadFigures) -> float | None:
    return figures.first_byte.p50


def _transit(figures: LoadFigures) -> float | None:
    return figures.transit.p50
