"""Runs a module under cProfile: exact call counts, at the price of slowing small functions most.

`python -m tests.bench.tracing FILE MODULE ARGUMENTS…` works as `tests.bench.sampling` does.
"""

from __future__ import annotations

import cProfile
import pstats
import runpy
import signal
import sys
from types import FrameType


def main() -> None:
    """Run the module; SIGUSR2 begins and ends the span that is counted."""
    file, module, *arguments = sys.argv[1:]
    profiler = cProfile.Profile()
    is_on = [False]

    def switch(number: int, frame: FrameType | None) -> None:
        is_on[0] = not is_on[0]
        if is_on[0]:
            profiler.enable()
        else:
            profiler.disable()

    signal.signal(signal.SIGUSR2, switch)
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        profiler.disable()
        profiler.create_stats()
        if profiler.getstats():
            pstats.Stats(profiler).dump_stats(file)


if __name__ == "__main__":
    main()
