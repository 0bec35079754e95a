"""Prints sheets as Markdown tables."""

from __future__ import annotations

from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

from tests.bench.sheets import Cell, Row, Sheet

WIDTH = 220


def show(sheet: Sheet, console: Console | None = None) -> None:
    """Print one sheet; nothing when it is empty."""
    if not sheet.rows:
        return
    console = console or Console(width=WIDTH, highlight=False)
    headings = dict.fromkeys(cell.heading for row in sheet.rows for cell in row.cells)
    table = Table("target", "route", box=MARKDOWN)
    for heading in (*headings, "errors"):
        table.add_column(heading, justify="right")
    for row in sheet.rows:
        table.add_row(*_texts(row, tuple(headings)))
    console.print(f"\n**{sheet.title}**\n")
    console.print(table)


def _texts(row: Row, headings: tuple[str, ...]) -> tuple[str, ...]:
    cells = {cell.heading: _text(cell) for cell in row.cells}
    values = (cells.get(heading, "–") for heading in headings)
    return (row.target, row.route, *values, str(row.errors))


def _text(cell: Cell) -> str:
    return "–" if cell.value is None else f"{cell.value:,.{cell.digits}f}"
