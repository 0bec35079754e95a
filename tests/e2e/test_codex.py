"""The real Codex converses with providers of all other families, wired as the README says."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.domain.vocab import WireFamily
from tests.e2e import deployments
from tests.e2e.deployments import Deployment
from tests.e2e.desks import Codex, desk_in, foreign_to, needs
from tests.e2e.desks.conversation import converse
from tests.fakes.upstream import FakeUpstream

PROGRAM = Codex()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
    needs(PROGRAM),
]


@pytest.mark.spec("XLT-224")
@foreign_to(PROGRAM)
async def test_it_holds_a_first_turn_a_tool_turn_and_a_second_turn(
    families: Deployment, provider: FakeUpstream, upstream: WireFamily, tmp_path: Path
) -> None:
    await converse(desk_in(tmp_path, PROGRAM), families, provider, upstream)


async def test_it_is_served_whatever_model_it_names_itself(tmp_path: Path) -> None:
    """By the sandbox, on the README's lines alone."""
    home = tmp_path / "home"
    home.mkdir()
    async with deployments.sandboxed(home) as gateway:
        printed = await desk_in(tmp_path, PROGRAM).say(gateway, "", "sandbox: say all aboard")
    assert "all aboard" in printed
    actions = [line.fields for line in gateway.lines if line.has(event="action")]
    assert {action["status"] for action in actions} == {200}
    assert {action["surface"] for action in actions} == {PROGRAM.family.value}
