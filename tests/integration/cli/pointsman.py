"""Runs the command as users do: a process of its own, a home of its own, no keys around."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
TIMEOUT_S = 40


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one command did."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The single line on standard error; more than one fails the test."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return an environment in which nothing is configured."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_API_KEY") and not name.startswith(("POINTSMAN_", "PYTHONDONT"))
    }
    path = os.pathsep.join((str(ROOT), str(ROOT / "protos" / "gen"), *sys.path))
    # Bytecode beside the test's folder: many commands start faster than their sources compile.
    bytecode = {"PYTHONPYCACHEPREFIX": str(home.parent / "bytecode")}
    return {**kept, **bytecode, "HOME": str(home), "PYTHONPATH": path, **more}


def command(*arguments: str) -> tuple[str, ...]:
    """Return the command line of ``pointsman``."""
    return (sys.executable, "-m", "services.cli", *arguments)


def pointsman(home: Path, *arguments: str, **env: str) -> Outcome:
    """Run a command that ends by itself, in ``home``."""
    done = subprocess.run(
        command(*arguments),
        cwd=home,
        env=environment(home, **env),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)
