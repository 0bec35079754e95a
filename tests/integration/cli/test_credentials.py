"""Credentials on the command line: kept in the store, and shown without secrets."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Protocol

import pytest

from services.cli import __main__ as main
from services.credentials.build import build
from services.credentials.settings import CredentialsSettings
from services.domain.catalog import build_catalog
from services.runtime.channel import Channel
from services.runtime.clock import SystemClock
from services.runtime.settings import CommonSettings
from tests.integration.cli.pointsman import Outcome

SECRET = "sk-ant-api03-canary-of-the-command-line"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    (made / "pointsman.toml").write_text(
        f'[services.credentials]\ndatabase = "sqlite:///{made}/c.db"\n'
    )
    return made


class Run(Protocol):
    """Runs ``pointsman credentials …`` in this process."""

    def __call__(self, *arguments: str, **env: str) -> Outcome: ...


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(home)

    def command(*arguments: str, **env: str) -> Outcome:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        capsys.readouterr()
        code = main.run(["credentials", *arguments])
        said = capsys.readouterr()
        return Outcome(code, said.out, said.err)

    return command


def test_what_is_stored_shows_no_secret(home: Path, run: Run) -> None:
    assert run("add", "anthropic", "--label", "team-a", "--secret-env", "S", S=SECRET).code == 0
    assert b"canary" not in (home / "c.db").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (("add", "anthropic", "--secret-env", "MISSING"), 2, "the variable MISSING is not set"),
        (("add", "anthropic", "--secret-env", "S", "--alias", "m"), 2, "--alias m: must be"),
        (("add", "anthropic", "--secret-env", "S", "--overage", "no"), 2, "'--overage'"),
        (("add", "anthropic", "--secret-env", "S", "--expires-at", "soon"), 2, "--expires-at"),
        (("set", "nobody"), 2, "name what to change"),
    ],
)
def test_what_cannot_be_used_is_one_line_that_names_it(
    run: Run, arguments: tuple[str, ...], code: int, complaint: str
) -> None:
    refused = run(*arguments, S=SECRET)
    assert refused.code == code
    assert complaint in refused.error
    assert "canary" not in refused.error


def test_a_secret_that_is_no_text_is_refused_without_being_shown(run: Run) -> None:
    refused = run("add", "anthropic", "--secret-env", "S", S=SECRET + "\udcff")
    assert refused.code == 2
    assert refused.error == "error: --secret-env: the variable S must be text in UTF-8"


def test_a_label_of_several_lines_stays_on_the_line_of_its_credential(run: Run) -> None:
    run("add", "anthropic", "--label", "a\n\tb\x1b[0m", "--secret-env", "S", S=SECRET)
    (line,) = run("list").out.splitlines()
    assert line.split("\t")[3] == r"a\n\tb\x1b[0m"


def test_what_the_configuration_states_is_switched_here_and_removed_there(
    home: Path, run: Run
) -> None:
    entry = {"provider": "anthropic", "label": "stated", "secret": SECRET}
    asyncio.run(_serve_once(home, entry))
    refused = run("remove", "stated")
    assert refused.code == 1
    assert "is stated in the configuration" in refused.error
    assert json.loads(run("disable", "stated", "--json").out)["enabled"] is False
    (listed,) = json.loads(run("list", "--json").out)
    assert (listed["origin"], listed["enabled"]) == ("pool", False)


async def _serve_once(home: Path, entry: dict[str, str]) -> None:
    def no_peer(name: str) -> Channel:
        raise AssertionError(name)

    bundle = build(
        CredentialsSettings(database=f"sqlite:///{home}/c.db"),
        CommonSettings.model_validate({"credentials": [entry]}),
        catalog=build_catalog([]),
        clock=SystemClock(),
        channel_to=no_peer,
    )
    await bundle.start()
    await bundle.aclose()


@pytest.mark.spec("CRD-150")
def test_keys_change_on_the_command_line(home: Path, run: Run) -> None:
    old, new = "0a" * 32, "0b" * 32

    def keys(*listed: str) -> None:
        (home / "pointsman.toml").write_text(
            f'[services.credentials]\ndatabase = "sqlite:///{home}/c.db"\n'
            f"encryption_keys = {json.dumps(listed)}\n"
        )

    keys(old)
    run("add", "anthropic", "--label", "a", "--secret-env", "TEAM_A", TEAM_A=SECRET)
    keys(new, old)
    assert run("reencrypt", "--json").code == 0
    keys(new)
    (shown,) = json.loads(run("list", "--json").out)
    assert (shown["label"], shown["state"]) == ("a", "ok")
    keys(new, new)
    for arguments in (["config", "check"], ["credentials", "list"]):
        assert main.run(arguments) != 0
    keys("0c" * 31)
    assert main.run(["config", "check"]) != 0
