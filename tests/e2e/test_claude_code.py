"""The real Claude Code works through the gateway on its own family and on the sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e import deployments
from tests.e2e.deployments import Deployment
from tests.e2e.desks import SECRET_WORD, ClaudeCode, Desk, desk_in, needs
from tests.e2e.families import A, model_of
from tests.fakes.upstream import FakeUpstream

PROGRAM = ClaudeCode()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
    needs(PROGRAM),
]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path, PROGRAM)


async def test_it_converses_with_its_own_family(
    families: Deployment, provider: FakeUpstream, desk: Desk
) -> None:
    provider.clear()
    provider.say("It was read", PROGRAM.reading(desk.note))
    assert "It was read" in await desk.say(families, model_of(A), "Read the note")
    provider.say("Welcome back")
    assert "Welcome back" in await desk.say(families, model_of(A), "Go on", is_again=True)
    turns = [request for request in provider.requests if request.json.get("tools")]
    assert [SECRET_WORD in request.body.decode() for request in turns] == [False, True, True]
    assert {(request.path, request.status) for request in turns} == {("/v1/messages", 200)}
    assert provider.open_streams == provider.aborted == 0


async def test_it_works_on_the_sandbox(tmp_path: Path, desk: Desk) -> None:
    model = "sandbox-large"
    home = tmp_path / "home"
    home.mkdir()
    async with deployments.sandboxed(home) as gateway:
        first = await desk.say(gateway, model, "sandbox: say all aboard")
        assert "all aboard" in first
        order = f'sandbox: call Read {{"file_path": "{desk.note}"}}'
        assert "The tool answered with" in await desk.say(gateway, model, order)
        again = "sandbox: say mind the gap"
        assert "mind the gap" in await desk.say(gateway, model, again, is_again=True)
