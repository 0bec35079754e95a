"""Inputs that broke something, kept as files that can be read again."""

from __future__ import annotations

import hashlib
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.fuzz.inputs import TARGETS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fuzz.inputs import Target


@dataclass(frozen=True, slots=True)
class Finding:
    """The smallest input known that breaks ``target``, and how."""

    target: Target
    data: bytes
    trace: str

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.target.name}-{hashlib.sha256(self.data).hexdigest()[:12]}"

    def keep(self, folder: Path) -> Path:
        """Write the input and, beside it, the trace; return the path of the input."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.bin"
        path.write_bytes(self.data)
        path.with_suffix(".txt").write_text(self.trace)
        return path


def finding_of(target: Target, data: bytes, error: BaseException) -> Finding:
    """Return what ``error`` says of ``data``."""
    return Finding(target, data, "".join(traceback.format_exception(error)))


def target_of(path: Path) -> Target:
    """Return the target that a kept input belongs to.

    Raises:
        ValueError: its name tells none.
    """
    name = path.name.rpartition("-")[0]
    for target in TARGETS:
        if target.name == name:
            return target
    known = ", ".join(target.name for target in TARGETS)
    raise ValueError(f"{path.name}: name the file TARGET-ID.bin, TARGET being one of {known}")


def say(line: str) -> None:
    """Write one line of a campaign's progress at once."""
    print(line, flush=True)  # noqa: T201 - a campaign is read on a terminal
