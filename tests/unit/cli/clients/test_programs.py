"""What is put into the files of client programs, and taken out again."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from services.cli.clients.blocks import BEGIN, END
from services.cli.clients.model import Program, UnfitError, Wiring
from services.cli.clients.wiring import PROGRAMS

HERE = Wiring("http://127.0.0.1:8080", "rk_0123456789abcdef", ("sandbox-large", "sandbox-small"))
THERE = Wiring("https://router.example", "rk_fedcba9876543210", ("other",))
OWN = {
    "claude-code": '{\n  "model": "opus",\n  "env": {\n    "EDITOR": "vi"\n  }\n}\n',
    "codex": 'model = "gpt-6"\n\n[model_providers.own]\nname = "o"\nbase_url = "http://o/v1"\n',
    "gemini-cli": "# mine\nGEMINI_API_KEY=own\n",
    "opencode": '{\n  "model": "own/m",\n  "provider": {\n    "own": {}\n  }\n}\n',
}
"""A file of each program before we come."""
IN_THE_WAY = {
    "claude-code": ('{"env": {"ANTHROPIC_BASE_URL": "http://own"}}', "env.ANTHROPIC_BASE_URL"),
    "codex": ('model_provider = "own"\n', "model_provider"),
    "opencode": ('{"provider": {"pointsman": {"npm": "own"}}}', "provider.pointsman"),
}


def program(name: str) -> Program:
    (found,) = (each for each in PROGRAMS if each.name == name)
    return found


every_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)


@pytest.mark.spec("OPS-119")
@every_program
def test_a_program_that_is_wired_says_where_it_asks(program: Program) -> None:
    for text in ("", OWN[program.name]):
        assert program.found(text) is None
        found = program.found(program.wired(text, HERE))
        assert found is not None
        assert (found.address, found.key) == (HERE.address, HERE.key)


@pytest.mark.spec("OPS-120")
@every_program
def test_taking_it_back_leaves_what_the_user_wrote_byte_for_byte(program: Program) -> None:
    for text in ("", OWN[program.name]):
        assert program.cleared(program.wired(text, HERE)) == text


@pytest.mark.spec("OPS-120")
@every_program
def test_wiring_it_again_changes_the_router_alone(program: Program) -> None:
    text = OWN[program.name]
    assert program.wired(program.wired(text, HERE), THERE) == program.wired(text, THERE)


@pytest.mark.spec("OPS-120")
@pytest.mark.parametrize("name", IN_THE_WAY)
def test_what_the_user_set_himself_is_not_overwritten(name: str) -> None:
    text, key = IN_THE_WAY[name]
    with pytest.raises(UnfitError, match=f"{key} is set by you"):
        program(name).wired(text, HERE)
    assert program(name).found(text) is None


def test_codex_reads_our_provider_beside_its_users() -> None:
    document = tomllib.loads(program("codex").wired(OWN["codex"], HERE))
    assert document["model_provider"] == "pointsman"
    assert document["model"] == "gpt-6"
    assert set(document["model_providers"]) == {"own", "pointsman"}
    assert document["model_providers"]["pointsman"]["base_url"] == f"{HERE.address}/v1"


def test_codex_gets_no_provider_of_ours_beside_one_that_was_wired_by_hand() -> None:
    text = '[model_providers.pointsman]\nname = "by hand"\n'
    with pytest.raises(UnfitError, match=r"model_providers\.pointsman is set by you"):
        program("codex").wired(text, HERE)


def test_gemini_cli_finds_our_key_behind_its_users() -> None:
    lines = program("gemini-cli").wired("GEMINI_API_KEY=own", HERE).splitlines()
    assert [line for line in lines if line.startswith("GEMINI_API_KEY=")] == [
        "GEMINI_API_KEY=own",
        f"GEMINI_API_KEY={HERE.key}",
    ]


def test_opencode_starts_with_a_model_of_ours_only_where_its_user_chose_none() -> None:
    chosen = json.loads(program("opencode").wired("", HERE))
    assert chosen["model"] == "pointsman/sandbox-large"
    assert set(chosen["provider"]["pointsman"]["models"]) == set(HERE.models)
    assert json.loads(program("opencode").wired(OWN["opencode"], HERE))["model"] == "own/m"


def test_opencode_keeps_the_model_of_ours_that_its_user_chose_while_it_can_serve() -> None:
    chosen = program("opencode").wired('{"model": "pointsman/sandbox-small"}', HERE)
    assert json.loads(chosen)["model"] == "pointsman/sandbox-small"
    assert json.loads(program("opencode").wired(chosen, THERE))["model"] == "pointsman/other"


@pytest.mark.parametrize("name", ["claude-code", "opencode"])
@pytest.mark.parametrize("text", ["{ // a comment\n}", "[]", '{"env": 1, "provider": 1}'])
def test_a_document_that_is_not_understood_is_left_alone(name: str, text: str) -> None:
    with pytest.raises(UnfitError):
        program(name).wired(text, HERE)
    assert program(name).found(text) is None


@pytest.mark.parametrize("name", ["codex", "gemini-cli"])
@pytest.mark.parametrize("text", [f"{BEGIN}\na=1\n", f"a=1\n{END}\n"])
def test_half_a_block_is_named_and_not_guessed_at(name: str, text: str) -> None:
    with pytest.raises(UnfitError, match="only one of the lines"):
        program(name).cleared(text)


@pytest.mark.parametrize(
    ("name", "variable", "path"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "moved/settings.json"),
        ("codex", "CODEX_HOME", "moved/config.toml"),
        ("opencode", "XDG_CONFIG_HOME", "moved/opencode/opencode.json"),
    ],
)
def test_a_file_is_where_its_program_looks_for_it(name: str, variable: str, path: str) -> None:
    home = Path("/home/someone")
    assert program(name).file(home, {variable: str(home / "moved")}) == home / path
    assert program(name).file(home, {variable: ""}).is_relative_to(home)


def test_a_key_is_not_shown_where_a_wiring_is() -> None:
    assert HERE.key not in repr(HERE)
