"""The real client programs converse with providers of other families, wired as the README says."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.domain.vocab import WireFamily
from tests.e2e import deployments
from tests.e2e.deployments import Deployment
from tests.e2e.desks import ClaudeCode, Codex, GeminiCli, Opencode, Program, desk_in, needs
from tests.e2e.desks.conversation import converse
from tests.fakes.upstream import FakeUpstream
from tests.unit.domain.wire.recorded import FAMILIES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
]


@pytest.mark.spec("XLT-224")
@pytest.mark.parametrize(
    ("program", "upstream"),
    [
        pytest.param(program, family, marks=needs(program), id=f"{program.name}-{family.value}")
        for program in (ClaudeCode(), Codex(), GeminiCli(), Opencode())
        for family in FAMILIES
        if family is not program.family
    ],
)
async def test_it_holds_a_first_turn_a_tool_turn_and_a_second_turn(
    families: Deployment,
    provider: FakeUpstream,
    program: Program,
    upstream: WireFamily,
    tmp_path: Path,
) -> None:
    await converse(desk_in(tmp_path, program), families, provider, upstream)


@pytest.mark.parametrize(
    ("program", "turns"),
    [
        pytest.param(Codex(), ["main_loop"], marks=needs(Codex()), id="codex"),
        pytest.param(
            GeminiCli(), ["classifier", "main_loop"], marks=needs(GeminiCli()), id="gemini-cli"
        ),
    ],
)
async def test_it_is_served_whatever_model_it_names_itself(
    program: Program, turns: list[str], tmp_path: Path
) -> None:
    """By the sandbox, on the README's lines alone."""
    home = tmp_path / "home"
    home.mkdir()
    async with deployments.sandboxed(home) as gateway:
        printed = await desk_in(tmp_path, program).say(gateway, "", "sandbox: say all aboard")
    assert "all aboard" in printed
    actions = [line.fields for line in gateway.lines if line.has(event="action")]
    assert {action["status"] for action in actions} == {200}
    assert {action["surface"] for action in actions} == {program.family.value}
    assert [action["turn_type"] for action in actions] == turns
