"""Runs the campaign of random faults through the whole product.

``python -m tests.chaos --schedules 5000 --seed 1`` plays that many schedules, side by side, and
prints each that shows a client what it must not see. ``--only N`` plays one again. Exits 1 when
something was found.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.chaos.campaign import ABREAST, rounds, verdicts
from tests.chaos.world import running


def main(arguments: Sequence[str]) -> int:
    """Run what ``arguments`` ask for and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--schedules", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1, help="another seed draws other schedules")
    parser.add_argument("--abreast", type=int, default=ABREAST, help="how many at a time")
    parser.add_argument("--only", type=int, help="number of one schedule")
    options = parser.parse_args(arguments)
    numbers = range(options.schedules) if options.only is None else (options.only,)
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(_campaign(Path(folder), options.seed, numbers, options.abreast))
    return 1 if found else 0


async def _campaign(home: Path, seed: int, numbers: Sequence[int], abreast: int) -> int:
    played = served = found = 0
    began_s = time.monotonic()
    for some in rounds(numbers):
        async with running(home / str(some[0])) as world:
            async for verdict in verdicts(world, seed, some, abreast=abreast):
                played, served = played + 1, served + verdict.is_served
                if verdict.wrong:
                    found += 1
                    _say(str(verdict))
        passed_s = time.monotonic() - began_s
        _say(f"{played} played, {served} served, {found} wrong, {passed_s:.0f} s")
    return found


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
