"""The ways of a command: to the store, to a router that it finds, to one that it is told of."""

from __future__ import annotations

import enum
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from services.runtime import running
from tests.integration.cli.pointsman import command, environment

ADMIN = "admin-token-of-the-command-line"
START_S = 30.0


class Way(enum.StrEnum):
    """Names where a command takes its order."""

    STORE = "store"
    FOUND = "found"
    NAMED = "named"


@dataclass(frozen=True, slots=True)
class Router:
    """A router that runs, and where its configuration and its log are."""

    home: Path
    url: str

    @property
    def orders(self) -> int:
        """How many orders of operators it logged."""
        return (self.home / "log").read_text().count('"event":"admin"')

    @property
    def log(self) -> str:
        """All that it said."""
        return (self.home / "log").read_text()


def configured(home: Path) -> Path:
    """Write a configuration whose stores are in ``home``."""
    file = home / "pointsman.toml"
    file.write_text(
        f'[gateway]\nlisten = "127.0.0.1:0"\nops_listen = "127.0.0.1:0"\nrpc_listen = ""\n'
        f'database = "sqlite:///{home}/p.db"\n'
        '[routing]\nstrategy = "requested"\n'
        f'[services.credentials]\ndatabase = "sqlite:///{home}/c.db"\n'
        '[log]\nformat = "json"\nlevel = "debug"\n'
    )
    return file


@contextmanager
def routed(home: Path) -> Iterator[Router]:
    """Give a router that runs until the block ends."""
    configured(home)
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            command("serve"),
            cwd=home,
            env=environment(home, POINTSMAN_ADMIN_TOKEN=ADMIN),
            stdout=log,
            stderr=log,
        )
        try:
            yield Router(home, _url(home, process))
        finally:
            process.terminate()
            process.wait(START_S)


def _url(home: Path, process: subprocess.Popen[bytes]) -> str:
    until_s = time.monotonic() + START_S
    while time.monotonic() < until_s and process.poll() is None:
        url = running.found(f"sqlite:///{home}/p.db")
        if url:
            return url
        time.sleep(0.05)
    raise AssertionError((home / "log").read_text())
