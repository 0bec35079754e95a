"""The real Claude Code works through the gateway: first turn, a tool turn, a second turn."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e import deployments
from tests.e2e.deployments import ROOT, Deployment
from tests.e2e.settings import CHAT, MESSAGES, ROUTER_KEY
from tests.fakes.process import RunningProcess
from tests.fakes.upstream import FakeUpstream, RecordedRequest, ToolCall

PROGRAM = ROOT / "tests" / "clients" / "node_modules" / ".bin" / "claude"
RUN_SECONDS = 120.0
SECRET_WORD = "heliotrope"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        not PROGRAM.exists() or shutil.which("node") is None,
        reason="Claude Code is not installed: run `make clients`",
    ),
]


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


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path / "user", tmp_path / "user" / "work")
    made.folder.mkdir(parents=True)
    made.note.write_text(f"The word is {SECRET_WORD}.\n")
    return made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.mark.parametrize("model", [MESSAGES, CHAT], ids=["same-family", "translated"])
async def test_it_converses_and_uses_a_tool(
    upstream: FakeUpstream, home: Path, desk: Desk, model: str
) -> None:
    async with deployments.embedded(home, upstream) as gateway:
        upstream.say("Good morning")
        assert "Good morning" in await desk.ask(gateway, model, "-p", "Say good morning")

        upstream.say("It was read", ToolCall("Read", {"file_path": str(desk.note)}))
        assert "It was read" in await desk.ask(gateway, model, "-p", "Read the note")
        assert any(SECRET_WORD in request.body.decode() for request in _asked(upstream, model))

        upstream.say("Welcome back")
        before = len(upstream.requests)
        told = await desk.ask(gateway, model, "-p", "--continue", "Go on")
        assert "Welcome back" in told
        again = _asked(upstream, model)[-1]
        assert len(upstream.requests) > before
        assert SECRET_WORD in again.body.decode()
    assert upstream.open_streams == 0
    assert upstream.aborted == 0
    assert all(request.status == 200 for request in upstream.requests)


async def test_it_works_on_the_sandbox(home: Path, desk: Desk) -> None:
    model = "sandbox-large"
    async with deployments.sandboxed(home) as gateway:
        first = await desk.ask(gateway, model, "-p", "sandbox: say all aboard")
        assert "all aboard" in first
        order = f'sandbox: call Read {{"file_path": "{desk.note}"}}'
        assert "The tool answered with" in await desk.ask(gateway, model, "-p", order)
        second = await desk.ask(gateway, model, "-p", "--continue", "sandbox: say mind the gap")
        assert "mind the gap" in second


def _asked(upstream: FakeUpstream, model: str) -> Sequence[RecordedRequest]:
    """Return the provider's requests that offer tools: the turns, not titles and probes."""
    path = "/v1/messages" if model == MESSAGES else "/v1/chat/completions"
    assert {request.path for request in upstream.requests} == {path}
    return [request for request in upstream.requests if request.json.get("tools")]


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
