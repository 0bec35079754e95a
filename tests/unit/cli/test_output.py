"""What a terminal is shown."""

from __future__ import annotations

import contextlib
import io
import re

from services.cli import output


class Terminal(io.StringIO):
    """Says that it is one."""

    def isatty(self) -> bool:
        return True


def test_a_row_is_one_line_so_that_ids_can_be_copied() -> None:
    identity = "97e6249c-f902-4124-98b2-6994286f6a54"
    keys = [{"id": identity, "name": f"a{'n' * 60} name", "state": "live"}]
    with contextlib.redirect_stdout(Terminal()) as shown:
        output.rows(keys, as_json=False)
    header, row = re.sub(r"\x1b\[\d*m", "", shown.getvalue()).splitlines()
    assert header.split() == ["id", "name", "state"]
    assert row.split()[0] == identity
    assert row.endswith("name  live ")


def test_many_values_of_one_fact_are_listed() -> None:
    with contextlib.redirect_stdout(Terminal()) as shown:
        output.facts({"models": ["a", "b"]}, as_json=False)
    assert shown.getvalue() == "models: a, b\n"
