"""What the README says is so: its commands run, its names exist, its links lead somewhere."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
import typer.testing

from gateway import identity
from gateway.answering.headers import EXPOSED_HEADERS
from services.cli.app import app
from services.embedded.settings import Settings
from services.runtime.catalog import load_catalog
from services.runtime.config import read_document
from services.runtime.providers import providers_of
from services.runtime.settings import CatalogSettings
from tests.e2e import deployments
from tests.e2e.deployments import ROOT, Deployment, surroundings
from tests.e2e.desks import ClaudeCode, Codex, GeminiCli, Opencode, Program, desk_in
from tests.e2e.readme import ADDRESS, README, blocks, moved, wiring
from tests.e2e.settings import ROUTER_KEY
from tests.fakes.process import RunningProcess

CONTRACT = (ROOT / "protos" / "README.md").read_text()
TESTED = "sh test"
"""Info string of the blocks that are run."""
COMMAND = re.compile(r"(?:^|`)pointsman((?: [a-z]+)+)", re.MULTILINE)
WIRING = re.compile(r"`((?:genai\.)?[A-Z]\w+\([^`]*127\.0\.0\.1[^`]*\))`")
IMPORTS = """
import os
from anthropic import Anthropic
from google import genai
from langchain_anthropic import ChatAnthropic
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from openai import OpenAI
key = os.environ["POINTSMAN_KEY"]
said = [{"role": "user", "content": "sandbox: say all aboard"}]
"""
CALLS = {
    "Anthropic": (
        "client.messages.create(model='sandbox-large', max_tokens=64, messages=said).content",
    ),
    "OpenAI": (
        "client.chat.completions.create(model='sandbox-large', messages=said).choices",
        "client.responses.create(model='sandbox-large', input=said).output_text",
    ),
    "genai.Client": (
        "client.models.generate_content(model='sandbox-large', contents=said[0]['content']).text",
    ),
    "ChatAnthropic": ("client.invoke(said).content",),
    "ChatOpenAI": ("client.invoke(said).content",),
    "ChatGoogleGenerativeAI": ("client.invoke(said).content",),
}
"""What each client that the README makes can do, by its class."""
PROGRAMS: tuple[Program, ...] = (ClaudeCode(), Codex(), GeminiCli(), Opencode())
SCRIPT_SECONDS = 55.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deployment]:
    async with deployments.sandboxed(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.mark.asyncio(loop_scope="module")
async def test_its_commands_run_in_order(sandbox: Deployment, tmp_path: Path) -> None:
    assert blocks(TESTED)
    program = tmp_path / "pointsman"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m services.cli "$@"\n')
    program.chmod(0o755)
    script = "\n".join(("set -eu -o pipefail", f'PATH="{tmp_path}:$PATH"', *blocks(TESTED)))
    await _run(("bash", "-c", moved(script, sandbox)), sandbox)


@pytest.mark.asyncio(loop_scope="module")
async def test_every_client_library_that_is_wired_so_is_served(
    sandbox: Deployment, tmp_path: Path
) -> None:
    lines = WIRING.findall(README)
    assert sorted(line.partition("(")[0] for line in lines) == sorted(CALLS)
    steps = [
        f"client = {line}\nassert 'all aboard' in str({call})"
        for line in lines
        for call in CALLS[line.partition("(")[0]]
    ]
    program = tmp_path / "clients.py"
    program.write_text(moved("\n".join((IMPORTS, *steps)), sandbox))
    await _run((sys.executable, str(program)), sandbox)


@pytest.mark.asyncio(loop_scope="module")
async def test_the_contracts_example_gets_a_decision(sandbox: Deployment, tmp_path: Path) -> None:
    (text,) = re.findall(r"^```python\n(.*?)^```$", CONTRACT, re.MULTILINE | re.DOTALL)
    (serving,) = (line for line in sandbox.lines if line.has(event="router_serving"))
    program = tmp_path / "client.py"
    program.write_text(str(text).replace(":50050", f":{serving.fields['port']}"))
    await _run((sys.executable, str(program)), sandbox)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_client_program_is_wired_in_two_lines(program: Program, tmp_path: Path) -> None:
    """The slow tests run the programs on what stands there; here it is read as they read it."""
    block = wiring(program.name)
    assert len(block.splitlines()) <= 2
    assert f"http://{ADDRESS}" in block
    assert "POINTSMAN_KEY" in block
    line = program.settle(desk_in(tmp_path, program), block, ("sandbox-large",))
    assert line.splitlines()[-1].split()[0] == program.name


def test_every_make_target_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z-]+)(?=\s*(?:$|[`#.,;)]))", README, re.MULTILINE))
    assert {"run", "test"} <= named <= targets


def test_every_command_exists() -> None:
    lines = {tuple(words.split()) for words in COMMAND.findall(README)}
    assert ("serve",) in {line[:1] for line in lines}
    for line in lines:
        outcome = typer.testing.CliRunner().invoke(app, [*line, "--help"])
        assert outcome.exit_code == 0, (line, outcome.output)


def test_every_configuration_can_be_used(tmp_path: Path) -> None:
    assert blocks("toml")
    for index, text in enumerate(blocks("toml")):
        file = tmp_path / f"{index}.toml"
        file.write_text(text)
        document = read_document(file, {}, warn=pytest.fail)
        settings = document.section(Settings)
        assert providers_of(settings)


def test_every_variable_of_ours_sets_something() -> None:
    variables = set(re.findall(r"\bPOINTSMAN_[A-Z]+(?:__[A-Z_]+)+", README))
    assert variables
    warnings: list[str] = []
    for name in variables:
        value = '["x"]' if name.endswith("KEYS") else "sqlite:///x.db"
        read_document(None, {name: value}, warn=warnings.append).section(Settings)
    assert warnings == []


def test_every_header_of_ours_is_one() -> None:
    real = {*EXPOSED_HEADERS.split(", "), identity.ROUTER_KEY_HEADER, identity.FORCE_MODEL_HEADER}
    assert set(re.findall(r"\bx-router-[a-z-]+", README)) - real == set()


def test_every_link_leads_somewhere() -> None:
    links = set(re.findall(r"\]\(([^)#\s]*)(#[^)]*)?\)", README))
    assert links
    broken = [path for path, _ in links if "://" not in path and not (ROOT / path).exists()]
    assert broken == []
    anchors = set(_anchors())
    assert [anchor for path, anchor in links if not path and anchor not in anchors] == []


def test_every_model_exists() -> None:
    known = load_catalog(CatalogSettings(), ROOT).models
    named = set(re.findall(r'"model":\s*"(?:pointsman/)?([^"]+)"', README))
    assert named
    assert [name for name in named if not name.startswith("sandbox-") and name not in known] == []


def _anchors() -> Iterator[str]:
    for title in re.findall(r"^#+ (.*)$", README, re.MULTILINE):
        kept = re.sub(r"[^\w\- ]", "", str(title).lower())
        yield "#" + kept.strip().replace(" ", "-")


async def _run(command: tuple[str, ...], stack: Deployment) -> None:
    environment = {**surroundings(stack.home), "POINTSMAN_KEY": ROUTER_KEY}
    async with RunningProcess(command, env=environment, cwd=stack.home) as process:
        code = await process.wait(SCRIPT_SECONDS)
        assert code == 0, "\n".join(line.text for line in process.lines)
