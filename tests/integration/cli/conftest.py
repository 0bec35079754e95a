"""Commands that are run in this process, each of the ways in which they can be carried out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import structlog

from services.cli import __main__ as main
from services.runtime import log
from tests.integration.cli.pointsman import Outcome
from tests.integration.cli.ways import ADMIN, Router, Way, configured, routed


@pytest.fixture(autouse=True)
def _lines_of_this_test(capsys: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Log as commands do, and leave no logger behind that writes where this test did."""
    log.configure()
    structlog.configure(cache_logger_on_first_use=False)
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Router]:
    """Give a router that runs for all tests of a module."""
    with routed(tmp_path_factory.mktemp("router")) as running:
        yield running


@dataclass(frozen=True, slots=True)
class Commands:
    """Runs ``pointsman …`` one way."""

    way: Way
    home: Path
    """Where the commands are run."""
    router: Router | None
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str, **env: str) -> Outcome:
        """Run a command; a router is asked where the way says so, and the store is not."""
        for name, value in env.items():
            self.monkeypatch.setenv(name, value)
        self.capsys.readouterr()
        code = main.run(list(arguments))
        said = self.capsys.readouterr()
        return Outcome(code, said.out, said.err)


@pytest.fixture
def plain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Commands:
    """Give the commands in a home of their own, where no token is set."""
    for name in list(os.environ):
        if name.startswith("POINTSMAN_") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return Commands(Way.STORE, tmp_path, None, monkeypatch, capsys)


@pytest.fixture(params=list(Way))
def pointsman(request: pytest.FixtureRequest, plain: Commands) -> Iterator[Commands]:
    """Give the commands, each way; at the end it is checked that they went it."""
    way: Way = request.param
    plain.monkeypatch.setenv("POINTSMAN_ADMIN_TOKEN", ADMIN)
    if way is Way.STORE:
        configured(plain.home)
        yield plain
        return
    router: Router = request.getfixturevalue("router")
    before, home = router.orders, router.home if way is Way.FOUND else plain.home
    plain.monkeypatch.chdir(home)
    if way is Way.NAMED:
        plain.monkeypatch.setenv("POINTSMAN_SERVER", router.url)
        configured(home)
    yield replace(plain, way=way, home=home, router=router)
    assert router.orders > before
    if way is Way.NAMED:
        assert list(home.glob("*.db")) == []
