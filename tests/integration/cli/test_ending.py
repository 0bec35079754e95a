"""How the command line ends where its reader or its user had enough."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.integration.cli.pointsman import TIMEOUT_S, command, environment


def test_whoever_has_read_enough_of_it_hears_no_complaint(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        command("version"),
        cwd=tmp_path,
        env=environment(tmp_path, PYTHONUNBUFFERED=""),
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
        timeout=TIMEOUT_S,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


INTERRUPTED = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from services.cli.__main__ import main
main()
"""


def test_an_interrupt_while_it_loads_ends_it_without_a_word(tmp_path: Path) -> None:
    done = subprocess.run(
        (sys.executable, "-c", INTERRUPTED),
        cwd=tmp_path,
        env=environment(tmp_path, PYTHONUNBUFFERED=""),
        capture_output=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


def test_a_disk_that_is_full_is_one_line(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command("version"),
            cwd=tmp_path,
            env=environment(tmp_path, PYTHONUNBUFFERED=""),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=TIMEOUT_S,
        )
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
