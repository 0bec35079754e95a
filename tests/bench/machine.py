"""Starts the bench's programs, each on its CPU, and ends them all.

The server under test has one CPU to itself; the provider and the generator share the other. On a
machine with one CPU they all share it, and only the CPU figures mean something.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import orjson

from tests.bench.asked import AskedProgram
from tests.bench.canned import request_body
from tests.bench.shapes import Entrance, Route
from tests.fakes.children import dying_with_parent

Found = TypeVar("Found")

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60.0
STOP_SECONDS = 15.0
ANSWER_SECONDS = 10.0
POLL_SECONDS = 0.02
SHOWN_BYTES = 2000
OK = 200
SERVER_FAULT = 500


class BenchError(RuntimeError):
    """A program did not start or did not answer; says which, and its last words."""


@dataclass(frozen=True, slots=True)
class Program:
    """A running program; what it writes goes to a file, so that nobody pays for reading it."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    started: float

    @property
    def pid(self) -> int:
        """Return the id of the process."""
        return self.process.pid

    def announced_port(self) -> int:
        """Return the port that one of the bench's own servers prints.

        Raises: BenchError.
        """
        return self._awaited(self._announcement, "said no port")

    def first_answer(self, port: int, route: Route, entrance: Entrance) -> float:
        """Return the seconds from the start to the first answered request.

        Raises: BenchError.
        """
        complaints = ["nothing answered"]

        def look() -> bool | None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                status, body = _ask(port, route, entrance)
                complaints.append(
                    f"answered {status}: {body[:SHOWN_BYTES].decode(errors='replace')}"
                )
                return status == OK if status < SERVER_FAULT else None
            return None

        if not self._awaited(look, lambda: complaints[-1]):
            raise self._complaint(complaints[-1])
        return time.monotonic() - self.started

    def stop(self) -> None:
        """Ask the program and all that it started to end; kill what does not in time."""
        with contextlib.suppress(ProcessLookupError):
            if self.process.poll() is None:
                self.process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(STOP_SECONDS)
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait(STOP_SECONDS)

    def _awaited(self, look: Callable[[], Found | None], what: str | Callable[[], str]) -> Found:
        give_up = time.monotonic() + START_SECONDS
        while time.monotonic() < give_up and self.process.poll() is None:
            if (found := look()) is not None:
                return found
            time.sleep(POLL_SECONDS)
        raise self._complaint(what if isinstance(what, str) else what())

    def _complaint(self, reason: str) -> BenchError:
        words = self.log.read_bytes()[-SHOWN_BYTES:].decode(errors="replace")
        return BenchError(f"{self.name}: {reason}; it wrote:\n{words}")

    def _announcement(self) -> int | None:
        line, newline, _ = self.log.read_bytes().partition(b"\n")
        return int(orjson.loads(line)["port"]) if newline else None


class Machine:
    """Where programs run: two CPUs when there are two, logs in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        cpus = sorted(os.sched_getaffinity(0))
        self._cpu_of_load, self._cpu_of_target = cpus[0], cpus[-1]
        self._count = 0
        self._generator: AskedProgram | None = None

    def keep_off_the_target(self) -> None:
        """Leave the target's CPU to it; what we start without saying where stays off it too."""
        os.sched_setaffinity(0, {self._cpu_of_load})

    @contextlib.contextmanager
    def running(
        self,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        is_target: bool = True,
    ) -> Iterator[Program]:
        """Run a program inside `with`; `env` is added to our environment."""
        self._count += 1
        log = self.folder / f"{self._count}-{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **(env or {})},
                cwd=ROOT,
                start_new_session=True,
                preexec_fn=self._prepare(is_target=is_target),
            )
        program = Program(name, process, log, time.monotonic())
        try:
            yield program
        finally:
            program.stop()

    def complete(self, command: Sequence[str], order: bytes, timeout_seconds: float) -> bytes:
        """Return what a program on the load's CPU prints for an order on its input.

        Raises: BenchError.
        """
        try:
            done = subprocess.run(
                command,
                input=order,
                capture_output=True,
                cwd=ROOT,
                timeout=timeout_seconds,
                check=True,
                preexec_fn=self._prepare(is_target=False),
            )
        except subprocess.CalledProcessError as error:
            raise BenchError(f"{command}: {error.stderr.decode()[-SHOWN_BYTES:]}") from error
        return done.stdout

    def generate(self, order: bytes, timeout_seconds: float) -> bytes:
        """Return what the load generator says to an order; it runs from the first to :meth:`close`.

        Raises: BenchError.
        """
        if self._generator is None:
            self._generator = AskedProgram(
                own_program("tests.bench.load"),
                self.folder / "load.log",
                folder=ROOT,
                prepare=self._prepare(is_target=False),
            )
        answer = self._generator.ask(order, timeout_seconds)
        if answer is None:
            raise BenchError(f"the load generator gave no answer: {self._generator.last_words()}")
        return answer

    def close(self) -> None:
        """End the load generator."""
        if self._generator is not None:
            self._generator.close()
            self._generator = None

    def _prepare(self, *, is_target: bool) -> Callable[[], None]:
        cpu = self._cpu_of_target if is_target else self._cpu_of_load
        die = dying_with_parent(signal.SIGKILL)

        def prepare() -> None:
            os.sched_setaffinity(0, {cpu})
            if die is not None:
                die()

        return prepare


def own_program(module: str, *arguments: str) -> tuple[str, ...]:
    """Return the command of a module of ours."""
    return (sys.executable, "-m", module, *arguments)


def _ask(port: int, route: Route, entrance: Entrance) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
    with contextlib.closing(connection):
        body = request_body(route, entrance.model, is_stream=False)
        headers = {"Content-Type": "application/json", **entrance.headers}
        connection.request("POST", route.path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
