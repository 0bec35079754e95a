"""`pointsman client` and `pointsman doctor` beside a router that runs."""

from __future__ import annotations

import json
import stat

import pytest

from services.cli.clients.wiring import PROGRAMS
from tests.integration.cli.conftest import Commands
from tests.integration.cli.ways import ADMIN, Router

NAMES = [program.name for program in PROGRAMS]
WRONG_KEY = "rk_wrongwrongwrongwrong"


@pytest.fixture
def beside(plain: Commands, router: Router) -> Commands:
    """Give the commands with a key of the router."""
    admin = {"POINTSMAN_SERVER": router.url, "POINTSMAN_ADMIN_TOKEN": ADMIN}
    made = plain("keys", "create", "laptop", "--json", **admin)
    plain.monkeypatch.delenv("POINTSMAN_ADMIN_TOKEN")
    plain.monkeypatch.setenv("POINTSMAN_KEY", json.loads(made.out)["token"])
    return plain


def checks(commands: Commands) -> dict[str, bool]:
    done = commands("doctor", "--json")
    found = {row["check"]: row["ok"] for row in json.loads(done.out)}
    assert done.code == (0 if all(found.values()) else 1)
    return found


@pytest.mark.spec("OPS-120")
@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_wired_seen_and_taken_back(
    beside: Commands, router: Router, name: str
) -> None:
    done = json.loads(beside("client", "install", name, "--json").out)
    (state,) = json.loads(beside("client", "status", name, "--json").out)
    assert (state["installed"], state["router"]) == (True, router.url)
    file = beside.home / done["file"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert checks(beside)[name]
    assert beside("client", "uninstall", name).code == 0
    assert not file.exists()
    (state,) = json.loads(beside("client", "status", name, "--json").out)
    assert (state["installed"], state["router"]) == (False, None)
    assert beside("client", "uninstall", name).code == 0


@pytest.mark.spec("OPS-120")
def test_a_program_is_not_wired_with_a_key_that_the_router_refuses(beside: Commands) -> None:
    done = beside("client", "install", "codex", POINTSMAN_KEY=WRONG_KEY)
    assert done.code == 1
    assert "invalid router key" in done.error
    assert list(beside.home.iterdir()) == []


def test_a_program_keeps_its_key_where_none_is_named(beside: Commands) -> None:
    first = json.loads(beside("client", "install", "codex", "--json").out)
    beside.monkeypatch.delenv("POINTSMAN_KEY")
    assert json.loads(beside("client", "install", "codex", "--json").out) == first


def test_a_link_to_a_file_elsewhere_stays_one(beside: Commands) -> None:
    kept = beside.home / "dotfiles.json"
    kept.write_text('{"model": "opus"}')
    link = beside.home / ".claude" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(kept)
    assert beside("client", "install", "claude-code").code == 0
    assert link.is_symlink()
    assert json.loads(kept.read_text())["model"] == "opus"
    assert beside("client", "uninstall", "claude-code").code == 0
    assert json.loads(kept.read_text()) == {"model": "opus"}


def test_a_file_that_is_not_understood_is_named_and_left_alone(beside: Commands) -> None:
    file = beside.home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text("{ // rk_\n}")
    done = beside("client", "install", "claude-code")
    assert done.code == 1
    assert str(file) in done.error
    states = json.loads(beside("client", "status", "--json").out)
    faults = {state["program"]: state["fault"] for state in states}
    assert [name for name, fault in faults.items() if fault] == ["claude-code"]
    assert file.read_text() == "{ // rk_\n}"


@pytest.mark.spec("OPS-122")
def test_the_doctor_looks_at_all_that_a_user_needs(beside: Commands) -> None:
    dialects = ["anthropic", "openai_chat", "openai_responses", "gemini"]
    found = checks(beside)
    assert list(found) == ["configuration", "router", "clock", "parts", "key", *dialects]
    assert all(found.values())


@pytest.mark.spec("OPS-122")
def test_the_doctor_names_each_fault_and_what_to_do(beside: Commands) -> None:
    (beside.home / "pointsman.toml").write_text("[gatway]\n")
    done = beside("doctor", POINTSMAN_KEY=WRONG_KEY)
    assert done.code == 1
    faults = [line.split("\t") for line in done.out.splitlines() if "\tno\t" in line]
    assert [check for check, _, _ in faults] == ["configuration", "key"]
    assert "did you mean 'gateway'?" in faults[0][2]
    assert "`pointsman keys create`" in faults[1][2]


@pytest.mark.spec("OPS-122")
def test_the_doctor_of_nothing_says_how_to_start(plain: Commands) -> None:
    done = plain("doctor", "--server", "http://127.0.0.1:1")
    assert done.code == 1
    assert "start one with `pointsman serve`" in done.out.splitlines()[-1]
