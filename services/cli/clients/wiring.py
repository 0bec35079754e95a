"""Puts our lines into the files of client programs, takes them out, and tells where they are."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from services.cli.clients.blocks import Codex, GeminiCli
from services.cli.clients.documents import ClaudeCode, Opencode
from services.cli.clients.model import UnfitError, Wiring
from services.runtime.launch import StartError

if TYPE_CHECKING:
    from services.cli.clients.model import Program

PROGRAMS: tuple[Program, ...] = (ClaudeCode(), Codex(), GeminiCli(), Opencode())
PRIVATE = 0o600
"""A file with a key is for its owner alone."""


def named(name: str) -> Program:
    """Return the program that commands call so."""
    return next(program for program in PROGRAMS if program.name == name)


def file_of(program: Program) -> Path:
    """Return where the program reads its settings; a link is followed, and stays one."""
    return program.file(Path.home(), os.environ).resolve()


def wiring_of(program: Program) -> Wiring | None:
    """Return how a program is wired; None: it is not.

    Raises:
        StartError: its file cannot be read.
    """
    file = file_of(program)
    try:
        return program.found(_text(file))
    except UnfitError as error:
        raise StartError(f"{file}: {error}") from None


def wire(program: Program, wiring: Wiring) -> None:
    """Let a program ask a router.

    Raises:
        StartError: what its user wrote is in the way.
    """
    file = file_of(program)
    try:
        text = program.wired(_text(file), wiring)
    except UnfitError as error:
        raise StartError(f"{file}: {error}") from None
    file.parent.mkdir(parents=True, exist_ok=True)
    _replace(file, text, PRIVATE)


def unwire(program: Program) -> None:
    """Take our lines out; a file that holds nothing else goes with them.

    Raises:
        StartError: its file cannot be read.
    """
    file = file_of(program)
    try:
        text = program.cleared(_text(file))
    except UnfitError as error:
        raise StartError(f"{file}: {error}") from None
    if text.strip():
        _replace(file, text, stat.S_IMODE(file.stat().st_mode))
    else:
        file.unlink()


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise UnfitError("is not UTF-8 text") from None


def _replace(file: Path, text: str, mode: int) -> None:
    """Write a file whole: nobody reads half of it, and a full disk leaves the old one."""
    fresh = file.with_name(f".{file.name}.pointsman")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE)
    try:
        with os.fdopen(handle, "wb") as out:
            os.fchmod(out.fileno(), mode)
            out.write(text.encode())
        fresh.replace(file)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
