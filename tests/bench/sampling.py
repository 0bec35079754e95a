"""Runs a module and samples where its CPU time goes.

`python -m tests.bench.sampling FILE MODULE ARGUMENTS…` runs the module as `python -m` would and
leaves its samples in FILE when it ends. A sample is the main thread's stack at every tick of
CPU that the process used; time inside C counts for the Python function that called it.
"""

from __future__ import annotations

import runpy
import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

import orjson

INTERVAL_SECONDS = 0.001
"""Asked for; the kernel rounds it up to its own tick, often 4 ms."""
GENERATED = "<string>"
"""Where dataclasses get their methods from; only the class tells them apart."""


class Sampler:
    """Counts whole stacks, leaf first."""

    def __init__(self) -> None:
        self._stacks: Counter[tuple[str, ...]] = Counter()
        self._names: dict[object, str] = {}
        self._is_on = False

    def switch(self, number: int, frame: FrameType | None) -> None:
        """Begin anew on the first call, stop on the second: the load marks its own span."""
        self._is_on = not self._is_on
        if self._is_on:
            self._stacks.clear()

    def take(self, number: int, frame: FrameType | None) -> None:
        """Count the stack that was interrupted."""
        if not self._is_on:
            return
        stack: list[str] = []
        while frame is not None:
            stack.append(self._name(frame))
            frame = frame.f_back
        self._stacks[tuple(stack)] += 1

    def write(self, file: Path) -> None:
        """Leave the samples as JSON: a list of [stack, count]."""
        file.write_bytes(orjson.dumps(list(self._stacks.items())))

    def _name(self, frame: FrameType) -> str:
        code = frame.f_code
        if code.co_filename == GENERATED:
            return f"{code.co_name} of {type(frame.f_locals.get('self')).__qualname__}"
        name = self._names.get(code)
        if name is None:
            name = f"{short_path(code.co_filename)}:{code.co_qualname}"
            self._names[code] = name
        return name


def short_path(path: str) -> str:
    """Return a source path from its package on."""
    for root in ("/site-packages/", "/lib/python3.", f"{Path.cwd()}/"):
        if root in path:
            tail = path.split(root, 1)[1]
            return tail.split("/", 1)[1] if root.endswith("3.") else tail
    return path


def main() -> None:
    """Run the module under the sampler."""
    file, module, *arguments = sys.argv[1:]
    sampler = Sampler()
    signal.signal(signal.SIGPROF, sampler.take)
    signal.signal(signal.SIGUSR2, sampler.switch)
    signal.siginterrupt(signal.SIGPROF, False)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL_SECONDS, INTERVAL_SECONDS)
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        sampler.write(Path(file))


if __name__ == "__main__":
    main()
