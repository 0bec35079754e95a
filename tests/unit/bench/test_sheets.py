from __future__ import annotations

import dataclasses

from tests.bench.book import FLOOR, Book
from tests.bench.rounds import quick_cases
from tests.bench.shapes import (
    Case,
    Entrance,
    LoadFigures,
    Measurement,
    Mode,
    Route,
    Shape,
    Stage,
    StageFigures,
    Target,
)
from tests.bench.sheets import Row, Sheet, faults, sheets
from tests.bench.stats import Summary

CASES = quick_cases()
TARGETS = [
    Target(name, 1, (), dict.fromkeys(Route, Entrance()), 1.0)
    for name in ("direct", "proxy", "ours")
]
P50_MS = {"direct": 1.0, "proxy": 2.0, "ours": 4.0}
CPU_SECONDS = {"direct": 0.0, "proxy": 1.0, "ours": 3.0}


def _figures(target: str, case: Case) -> LoadFigures:
    latency = Summary(100, P50_MS[target], P50_MS[target] * 2, 20.0)
    streamed = 0.0 if case.shape is Shape.WHOLE else 1.0
    return LoadFigures(
        seconds=2.0,
        answered=1000,
        errors=0,
        codes={},
        latency=latency,
        first_byte=latency,
        transit=latency,
        cpu_seconds=CPU_SECONDS[target] and CPU_SECONDS[target] + streamed,
        rss_bytes=50_000_000,
        generator_share=0.5,
    )


def _measurements() -> list[Measurement]:
    return [
        Measurement(target.name, case, 1, _figures(target.name, case))
        for case in CASES
        for target in TARGETS
    ]


def _sheets(measurements: list[Measurement]) -> tuple[Sheet, ...]:
    return sheets(Book(measurements), TARGETS, CASES)


def _row(found: tuple[Sheet, ...], number: int, target: str, route: str) -> dict[str, float | None]:
    rows: dict[tuple[str, str], Row] = {(row.target, row.route): row for row in found[number].rows}
    return {cell.heading: cell.value for cell in rows[target, route].cells}


def test_added_is_what_the_provider_itself_does_not_take() -> None:
    row = _row(_sheets(_measurements()), 0, "ours", "messages")
    assert (row["added p50"], row["added p99"]) == (3.0, 6.0)
    assert (row["rps c=1"], row["CPU ms c=16"], row["x proxy CPU"]) == (500.0, 3.0, 3.0)


def test_a_chunk_costs_what_its_stream_costs_above_a_whole_answer() -> None:
    row = _row(_sheets(_measurements()), 1, "ours", "messages")
    assert row["CPU us/chunk"] == 5.0


def test_a_route_that_no_single_client_asks_does_not_show_what_one_saw() -> None:
    found = _sheets(_measurements())
    row = _row(found, 1, "ours", "responses->gemini")
    assert (row["first byte p50 ms"], row["added"]) == (None, None)
    assert row["CPU us/chunk"] == 5.0
    assert faults(found) == ()


def test_a_translated_row_is_compared_with_the_same_client_dialect() -> None:
    row = _row(_sheets(_measurements()), 1, "ours", "messages->chat")
    assert (row["added"], row["x proxy CPU"]) == (3.0, 2.0)


def test_values_are_medians_over_rounds() -> None:
    slow = [
        dataclasses.replace(
            entry,
            round=number,
            figures=dataclasses.replace(entry.figures, answered=answered),
        )
        for number, answered in ((2, 100), (3, 1100))
        for entry in _measurements()
    ]
    row = _row(_sheets([*_measurements(), *slow]), 0, "ours", "chat")
    assert row["rps c=16"] == 500.0


def test_a_full_run_has_no_faults() -> None:
    assert faults(_sheets(_measurements())) == ()


def test_a_decision_is_compared_with_the_provider_asked_for_the_model_by_name() -> None:
    row = _row(_sheets(_measurements()), 3, "ours", Mode.PLANNED)
    assert (row["added p50"], row["CPU ms c=16"], row["x proxy CPU"]) == (3.0, 3.0, 3.0)


def test_a_decision_is_compared_with_the_floor_of_the_same_run() -> None:
    floor = [
        dataclasses.replace(entry, target=FLOOR)
        for entry in _measurements()
        if entry.target == "proxy" and entry.case.mode is Mode.REQUESTED
    ]
    row = _row(_sheets([*_measurements(), *floor]), 3, "ours", Mode.PLANNED)
    assert (row["x floor added"], row["x floor CPU"]) == (3.0, 3.0)


def test_a_stage_shows_what_a_call_costs() -> None:
    figures = StageFigures("ours", Stage.PLAN, Summary(1000, 0.5, 1.5, 2.0), 0.4)
    row = _row(sheets(Book(_measurements()), TARGETS, CASES, [figures]), 4, "ours", Stage.PLAN)
    assert row == {"p50 ms": 0.5, "p99 ms": 1.5, "CPU us/call": 400.0}


def test_errors_and_missing_figures_are_faults() -> None:
    first, *rest = [entry for entry in _measurements() if entry.target != "direct"]
    broken = dataclasses.replace(first.figures, errors=2, answered=0)
    found = faults(_sheets([dataclasses.replace(first, figures=broken), *rest]))
    assert any("proxy messages had 2 errors" in fault for fault in found)
    assert any("proxy messages lacks rps c=1" in fault for fault in found)
