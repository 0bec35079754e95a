"""The real Claude Code works through the gateway: first turn, a tool turn, a second turn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.e2e import deployments
from tests.e2e.desk import SECRET_WORD, Desk, desk_in, needs_claude_code
from tests.e2e.settings import CHAT, MESSAGES
from tests.fakes.upstream import FakeUpstream, RecordedRequest, ToolCall

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), needs_claude_code]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


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
