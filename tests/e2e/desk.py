"""The real Claude Code at work: a home, a folder, and a gateway that is all it reaches."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.deployments import ROOT, Deployment
from tests.e2e.settings import ROUTER_KEY
from tests.fakes.process import RunningProcess

PROGRAM = ROOT / "tests" / "clients" / "node_modules" / ".bin" / "claude"
RUN_SECONDS = 120.0
SECRET_WORD = "heliotrope"
needs_claude_code = pytest.mark.skipif(
    not PROGRAM.exists() or shutil.which("node") is None,
    reason="Claude Code is not installed: run `make clients`",
)


@dataclass(frozen=True, slots=True)
class Desk:
    """Where Claude Code works: a home, a folder, and a note in it."""

    home: Path
    folder: Path

    @property
    def note(self) -> Path:
        """Return the file that it is to read."""
        return self.folder / "note.txt"

    async def ask(self, gateway: Deployment, model: str, *arguments: str) -> str:
        """Run it once and return what it printed."""
        command = (str(PROGRAM), *arguments)
        environment = _environment(self.home, gateway.url, model)
        async with RunningProcess(command, env=environment, cwd=self.folder) as process:
            code = await process.wait(RUN_SECONDS)
            printed = "\n".join(line.text for line in process.lines)
        assert code == 0, printed
        return printed


def desk_in(folder: Path) -> Desk:
    """Return a desk in an empty folder, with its note written."""
    made = Desk(folder / "user", folder / "user" / "work")
    made.folder.mkdir(parents=True)
    made.note.write_text(f"The word is {SECRET_WORD}.\n")
    return made


def _environment(home: Path, url: str, model: str) -> dict[str, str | None]:
    """Return an environment in which it reaches nothing but the gateway."""
    return dict(_cleared()) | {
        "PATH": f"{Path(shutil.which('node') or '').parent}:/usr/bin:/bin",
        "HOME": str(home),
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "CI": "1",
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_AUTH_TOKEN": ROUTER_KEY,
        "ANTHROPIC_MODEL": model,
        "ANTHROPIC_SMALL_FAST_MODEL": model,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def _cleared() -> Iterator[tuple[str, str | None]]:
    for name in os.environ:
        yield name, None
