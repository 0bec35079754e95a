"""Runs a program for a test: gathers its log lines, waits for one of them, always cleans up."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson

from tests.fakes.children import dying_with_parent

SHOWN_LINES = 20
STOP_SECONDS = 5.0
KILL_SECONDS = 5.0


class ProcessNotReadyError(AssertionError):
    """The program ended, or time ran out, before the awaited line; shows its last lines."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line that a program wrote, to either output."""

    text: str
    fields: Mapping[str, object]
    """The line as a JSON object; empty when it is none."""

    def has(self, **fields: object) -> bool:
        """Tell whether the line holds each of `fields` with that value."""
        return all(
            name in self.fields and self.fields[name] == value for name, value in fields.items()
        )


class RunningProcess:
    """A program that runs inside `async with`, in a process group of its own.

    `env` is added to our environment; a None removes a name. What is left of the group at the
    end is asked to stop and, when it does not, killed.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self._command = tuple(command)
        self._env = _environment(env or {})
        self._cwd = cwd
        self._output = _Output()
        self._transport: asyncio.SubprocessTransport | None = None

    async def __aenter__(self) -> Self:
        self._transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: self._output,
            *self._command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=self._env,
            cwd=self._cwd,
            start_new_session=True,
            preexec_fn=dying_with_parent(signal.SIGKILL),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self.returncode is None:
                await self.terminate()
        finally:
            self._signal_group(signal.SIGKILL)
            self._running.close()
            with contextlib.suppress(TimeoutError):
                await self._output.wait_until(lambda: self._output.closed, KILL_SECONDS)

    @property
    def pid(self) -> int:
        """Return the id of the process."""
        return self._running.get_pid()

    @property
    def returncode(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        return self._running.get_returncode()

    @property
    def lines(self) -> tuple[LogLine, ...]:
        """Return every whole line so far."""
        return tuple(self._output.lines)

    async def wait_for_line(
        self, accepts: Callable[[LogLine], bool], timeout: float = 15.0
    ) -> LogLine:
        """Return the first line, already written or yet to come, that `accepts`.

        Raises: ProcessNotReadyError.
        """

        def found() -> LogLine | None:
            return next((line for line in self._output.lines if accepts(line)), None)

        with contextlib.suppress(TimeoutError):
            await self._output.wait_until(
                lambda: found() is not None or self._output.ended, timeout
            )
        line = found()
        if line is None:
            raise ProcessNotReadyError(self._complaint(timeout))
        return line

    async def wait_for_event(self, event: str, timeout: float = 15.0, **fields: object) -> LogLine:
        """Return the first JSON line whose `event` is this, with each of `fields`.

        Raises: ProcessNotReadyError.
        """
        return await self.wait_for_line(lambda line: line.has(event=event, **fields), timeout)

    async def wait(self, timeout: float = 15.0) -> int:
        """Return the exit code once the process has ended and its output was read.

        Raises: TimeoutError.
        """
        await self._output.wait_until(lambda: self._output.ended, timeout)
        code = self.returncode
        if code is None:
            message = f"{self._command[0]} ended without an exit code"
            raise RuntimeError(message)
        return code

    async def terminate(self, timeout: float = STOP_SECONDS) -> int:
        """Ask the process to stop, kill it when it does not in time, and return the exit code."""
        self.send_signal(signal.SIGTERM)
        try:
            return await self.wait(timeout)
        except TimeoutError:
            return await self.kill()

    async def kill(self) -> int:
        """Kill the process and all that it started, and return the exit code."""
        self._signal_group(signal.SIGKILL)
        return await self.wait(KILL_SECONDS)

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the process alone; nothing happens when it has ended."""
        with contextlib.suppress(ProcessLookupError):
            self._running.send_signal(number)

    @property
    def _running(self) -> asyncio.SubprocessTransport:
        if self._transport is None:
            message = "the process runs inside `async with` only"
            raise RuntimeError(message)
        return self._transport

    def _signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def _complaint(self, timeout: float) -> str:
        state = "runs" if self.returncode is None else f"ended with {self.returncode}"
        shown = "\n".join(line.text for line in self._output.lines[-SHOWN_LINES:])
        return f"{' '.join(self._command)} {state}, no such line in {timeout:g} s; last:\n{shown}"


class _Output(asyncio.SubprocessProtocol):
    def __init__(self) -> None:
        self.lines: list[LogLine] = []
        self.closed = False
        self._exited = False
        self._drained = False
        self._rest = b""
        self._changed = asyncio.Event()

    @property
    def ended(self) -> bool:
        return self._exited and self._drained

    async def wait_until(self, condition: Callable[[], bool], timeout: float) -> None:
        async with asyncio.timeout(timeout):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        *whole, self._rest = (self._rest + data).split(b"\n")
        self.lines.extend(_line(raw) for raw in whole)
        self._changed.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if self._rest:
            self.lines.append(_line(self._rest))
        self._drained = True
        self._changed.set()

    def process_exited(self) -> None:
        self._exited = True
        self._changed.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        self._changed.set()


def _line(raw: bytes) -> LogLine:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        value = None
    return LogLine(raw.decode(errors="replace"), value if isinstance(value, dict) else {})


def _environment(changes: Mapping[str, str | None]) -> dict[str, str]:
    merged = {**os.environ, **changes}
    return {name: value for name, value in merged.items() if value is not None}
