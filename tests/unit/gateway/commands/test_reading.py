from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.commands import Command, CommandKind
from gateway.commands.reading import command_in


@pytest.mark.spec("TRN-69", "TRN-71")
@pytest.mark.parametrize(
    ("line", "kind", "argument"),
    [
        ("/force-model claude-opus-4", CommandKind.FORCE, "claude-opus-4"),
        ("/fm  Claude \t Opus ", CommandKind.FORCE, "Claude Opus"),
        ("$fm x", CommandKind.FORCE, "x"),
        ("/fm", CommandKind.FORCE, ""),
        ("/unforce-model", CommandKind.UNFORCE, ""),
        ("$ufm", CommandKind.UNFORCE, ""),
        ("/router-feedback", CommandKind.FEEDBACK, ""),
        ("/rf", CommandKind.FEEDBACK, ""),
        ("/rf+", CommandKind.FEEDBACK, "+"),
        ("$rf-", CommandKind.FEEDBACK, "-"),
    ],
)
def test_commands_are_read_from_their_line(line: str, kind: CommandKind, argument: str) -> None:
    found = command_in(line)
    assert found is not None
    assert found.command.kind is kind
    if kind is not CommandKind.FEEDBACK or argument:
        assert found.command.argument == argument
    assert found.command.is_alone


@pytest.mark.spec("TRN-70")
def test_contexts_and_empty_lines_go_before_a_command_and_stay() -> None:
    found = command_in("<note>a</note>\n\n  <more>b\n</more>\n \n/fm x\nfix it\n")
    assert found is not None
    assert found.command == Command(CommandKind.FORCE, "x", is_alone=False)
    assert found.rest == "<note>a</note>\n\n  <more>b\n</more>\n \nfix it\n"


def test_a_long_row_of_blanks_behind_a_word_costs_no_more_than_its_length() -> None:
    blanks = " \t" * 20_000
    assert command_in(f"/fm{blanks}\rx") is None
    found = command_in(f"/fm{blanks}x{blanks}\r\nfix it")
    assert found is not None
    assert (found.command.argument, found.rest) == ("x", "fix it")


@pytest.mark.spec("TRN-70")
@pytest.mark.parametrize(
    "text",
    [
        "fix it\n/fm x",
        "say /fm x",
        "/fmx",
        "/force-models x",
        '<note kind="a">n</note>\n/fm x',
        "<note>never closed\n/fm x",
        "/rf++",
        "",
    ],
)
def test_other_words_are_no_command(text: str) -> None:
    assert command_in(text) is None


@pytest.mark.spec("TRN-71")
@given(st.text(alphabet="abc :/-.[]1 \t", min_size=1), st.text())
def test_the_prompt_is_what_follows_the_line(name: str, prompt: str) -> None:
    found = command_in(f"/fm {name}\n{prompt}")
    assert found is not None
    assert found.command.argument == " ".join(name.split())
    assert found.command.is_alone == (not prompt.strip())
    assert found.rest == ("" if found.command.is_alone else prompt)
