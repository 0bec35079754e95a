"""A real client program at work: a home, a folder, and a gateway that is all it reaches."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from services.domain.vocab import WireFamily
from tests.e2e import readme
from tests.e2e.deployments import ROOT, Deployment
from tests.e2e.settings import ROUTER_KEY
from tests.fakes.process import RunningProcess
from tests.fakes.upstream import ToolCall

PACKAGES = ROOT / "tests" / "clients" / "node_modules"
RUN_SECONDS = 120.0
SECRET_WORD = "heliotrope"


class Program(Protocol):
    """What differs from one client program to the next."""

    @property
    def name(self) -> str:
        """Return the name of its command, which is also that of its block in the README."""
        ...

    @property
    def family(self) -> WireFamily:
        """Return the dialect that it speaks."""
        ...

    @property
    def executable(self) -> Path:
        """Return where `make clients` puts it."""
        ...

    @property
    def quieting(self) -> Mapping[str, str]:
        """Return the environment that keeps it from asking anybody but the gateway."""
        ...

    def settle(self, desk: Desk, wiring: str, models: Sequence[str]) -> str:
        """Write its files as the README's block says and return the line that runs it."""
        ...

    def arguments(self, words: str, model: str, *, is_again: bool) -> Sequence[str]:
        """Return the arguments with which it says something, in the last session if `is_again`.

        An empty `model` leaves the choice to the program.
        """
        ...

    def reading(self, note: Path) -> ToolCall:
        """Return the call with which it reads a file."""
        ...


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a program works: a home, a folder, and a note in it."""

    program: Program
    home: Path
    folder: Path

    @property
    def note(self) -> Path:
        """Return the file that it is to read."""
        return self.folder / "note.txt"

    async def say(
        self, gateway: Deployment, model: str, words: str, *, is_again: bool = False
    ) -> str:
        """Let a person say something to it, and return what it printed."""
        arguments = self.program.arguments(words, model, is_again=is_again)
        return await self.run(gateway, model, *arguments)

    async def run(self, gateway: Deployment, model: str, *arguments: str) -> str:
        """Run it once and return what it printed."""
        wiring = readme.moved(readme.wiring(self.program.name), gateway)
        line = self.program.settle(self, wiring, (model,))
        command = ("bash", "-c", f'{line} "$@"', self.program.name, *arguments)
        environment = {**_nothing(), **self._surroundings()}
        async with RunningProcess(command, env=environment, cwd=self.folder) as process:
            code = await process.wait(RUN_SECONDS)
            printed = "\n".join(line.text for line in process.lines)
        assert code == 0, printed
        return printed

    def _surroundings(self) -> Mapping[str, str]:
        node = Path(shutil.which("node") or "").parent
        return {
            "PATH": f"{self.program.executable.parent}:{node}:/usr/bin:/bin",
            "HOME": str(self.home),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "CI": "1",
            "POINTSMAN_KEY": ROUTER_KEY,
            **self.program.quieting,
        }


def desk_in(folder: Path, program: Program) -> Desk:
    """Return a desk in an empty folder, with its note written."""
    made = Desk(program, folder / "user", folder / "user" / "work")
    made.folder.mkdir(parents=True)
    made.note.write_text(f"The word is {SECRET_WORD}.\n")
    return made


def needs(program: Program) -> pytest.MarkDecorator:
    """Return the mark of tests that are skipped where a program is not installed."""
    return pytest.mark.skipif(
        not program.executable.exists() or shutil.which("node") is None,
        reason=f"{program.name} is not installed: run `make clients`",
    )


def _nothing() -> dict[str, str | None]:
    """Return changes that take every variable of ours away."""
    return dict.fromkeys(os.environ)
