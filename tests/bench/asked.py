"""A program that is started once and asked many times: an order a line, an answer a line.

A start of the load generator costs more CPU than a short load.
"""

from __future__ import annotations

import contextlib
import select
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

SHOWN_BYTES = 2000


class AskedProgram:
    """A running program; what it complains of goes to a file."""

    def __init__(
        self, command: Sequence[str], log: Path, *, folder: Path, prepare: Callable[[], None]
    ) -> None:
        self._log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                cwd=folder,
                preexec_fn=prepare,
            )

    def ask(self, order: bytes, timeout_seconds: float) -> bytes | None:
        """Return the answer to an order without line breaks; None: there is none in time."""
        order_pipe, answer_pipe = self._process.stdin, self._process.stdout
        if order_pipe is None or answer_pipe is None:
            return None
        with contextlib.suppress(BrokenPipeError):
            order_pipe.write(order + b"\n")
            order_pipe.flush()
        ready, _, _ = select.select([answer_pipe], [], [], timeout_seconds)
        return answer_pipe.readline() or None if ready else None

    def last_words(self) -> str:
        """Return the end of what it complained of."""
        return self._log.read_bytes()[-SHOWN_BYTES:].decode(errors="replace")

    def close(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.communicate()
