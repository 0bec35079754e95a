"""Runs the fuzzing campaigns: every reader of the four dialects on nearly valid input.

``python -m tests.fuzz --examples 100000`` draws that many inputs for each reader, prints progress
and keeps the smallest input of each finding. ``--engine atheris --runs N`` searches by coverage
instead (install the extra ``fuzz``). ``--replay FILE`` reads one kept input again. Exits 1 when
something was found, 2 on bad usage.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fuzz.checks import check
from tests.fuzz.drawn import campaign
from tests.fuzz.findings import finding_of, say, target_of
from tests.fuzz.inputs import TARGETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.fuzz.inputs import Target


def main(arguments: Sequence[str]) -> int:
    """Run what ``arguments`` ask for and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--engine", choices=("hypothesis", "atheris"), default="hypothesis")
    parser.add_argument("--examples", type=int, default=100_000, help="inputs for each reader")
    parser.add_argument("--runs", type=int, default=100_000, help="atheris: runs for each reader")
    parser.add_argument("--only", default="", help="readers whose name has this in it")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws other inputs")
    parser.add_argument("--findings", type=Path, default=Path(".hypothesis/findings"))
    parser.add_argument("--replay", type=Path, help="read one kept input again")
    options = parser.parse_args(arguments)
    if options.replay is not None:
        return _replay(options.replay)
    targets = [target for target in TARGETS if options.only in target.name]
    if not targets:
        parser.error(f"--only: no reader has {options.only!r} in its name")
    if options.engine == "atheris":
        return _search(targets, options.runs, options.seed, options.findings)
    found = sum(_draw(target, options) for target in targets)
    say(f"{found} findings in {len(targets)} readers")
    return 1 if found else 0


def _draw(target: Target, options: argparse.Namespace) -> int:
    """Draw inputs for one reader; return the number of findings, the same trace counted once."""
    started, tried = time.monotonic(), 0
    traces: set[str] = set()
    for size, finding in campaign(target, options.examples, options.seed):
        tried += size
        if finding is not None and finding.trace not in traces:
            traces.add(finding.trace)
            say(f"kept {finding.keep(options.findings)}\n{finding.trace}")
        took = time.monotonic() - started
        say(f"{target.name}: {tried} inputs, {len(traces)} findings, {took:.0f} s")
    return len(traces)


def _search(targets: Sequence[Target], runs: int, seed: int, findings: Path) -> int:
    """Search each reader in a process of its own: the engine ends its process."""
    if importlib.util.find_spec("atheris") is None:
        say("atheris is not installed: pip install 'pointsman[fuzz]'")
        return 2
    findings.mkdir(parents=True, exist_ok=True)
    broken = []
    for target in targets:
        command = [sys.executable, "-m", "tests.fuzz.covered", target.name, str(findings)]
        done = subprocess.run([*command, f"-runs={runs}", f"-seed={seed}"], check=False)
        if done.returncode:
            broken.append(target.name)
    say(f"{len(broken)} of {len(targets)} readers broke: {', '.join(broken) or 'none'}")
    return 1 if broken else 0


def _replay(path: Path) -> int:
    try:
        target, data = target_of(path), path.read_bytes()
    except (OSError, ValueError) as error:
        say(f"--replay: {error}")
        return 2
    try:
        check(target, data)
    except Exception as error:  # noqa: BLE001 - whatever a reader raises is the finding
        say(finding_of(target, data, error).trace)
        return 1
    say(f"{target.name}: holds")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
