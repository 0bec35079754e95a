"""Prints results: JSON where asked, a table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


WIDEST = 10_000
"""Characters of a line of a table; a terminal that has fewer wraps it, and an id stays whole."""


def as_json_text(value: object) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def facts(values: Mapping[str, object], *, as_json: bool) -> None:
    """Print one thing's facts."""
    if as_json:
        as_json_text(dict(values))
        return
    for name, value in values.items():
        print(f"{name}: {_plain(value)}")


def rows(found: Sequence[Mapping[str, object]], *, as_json: bool) -> None:
    """Print things of one kind; their keys are the columns."""
    if as_json:
        as_json_text([dict(row) for row in found])
    elif not found:
        print("none")
    elif sys.stdout.isatty():
        _rich(found)
    else:
        for row in found:
            print("\t".join(_plain(value) for value in row.values()))


def table(found: Sequence[Mapping[str, object]]) -> None:
    """Print things of one kind under the names of their facts, on a terminal or not."""
    if found and not sys.stdout.isatty():
        print("\t".join(found[0]))
    rows(found, as_json=False)


def _rich(table: Sequence[Mapping[str, object]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in table[0]:
        drawn.add_column(name, no_wrap=True)
    for row in table:
        drawn.add_row(*(escape(_plain(value)) for value in row.values()))
    Console(width=WIDEST).print(drawn)


def _plain(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return ", ".join(map(_plain, value))
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in str(value))
