"""The planner's line of the bench."""

from __future__ import annotations

import re

from tests.bench.planning import planner_line


def test_the_line_has_ratio_interval_and_calm() -> None:
    line = planner_line(sessions=2)
    assert re.fullmatch(
        r"planner: \d\.\d{3} of the bound \(\d\.\d{3}-\d\.\d{3}\),"
        r" \d+\.\d\d switches and \d+\.\d\d ping-pongs in 4 simulated sessions",
        line,
    )
