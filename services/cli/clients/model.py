"""What a client program is told, and what keeps its file from being told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

KEY_PREFIX = "rk_"


class UnfitError(Exception):
    """A program's file cannot take our lines, or cannot be read; says why, without its name."""


@dataclass(frozen=True, slots=True)
class Wiring:
    """A router and how it is asked."""

    address: str
    """Root of the router, without a slash at its end."""
    key: str = field(repr=False)
    models: tuple[str, ...] = ()
    """Models that can serve, for programs that want a list; the first is the one to start with."""


class Program(Protocol):
    """One client program and the file that it reads."""

    @property
    def name(self) -> str:
        """Return what the commands call it."""
        ...

    @property
    def hint(self) -> str:
        """Return what its user has to know once it is wired."""
        ...

    def file(self, home: Path, environment: Mapping[str, str]) -> Path:
        """Return its file; variables of its own may move it."""
        ...

    def wired(self, text: str, wiring: Wiring) -> str:
        """Return the file's text with our lines, in the place of earlier ones.

        Raises:
            UnfitError: what the user wrote there is in the way.
        """
        ...

    def cleared(self, text: str) -> str:
        """Return the text without our lines; what the user wrote stays.

        Raises:
            UnfitError: the text cannot be read.
        """
        ...

    def found(self, text: str) -> Wiring | None:
        """Return how the text wires the program to a router; None: not by us.

        Raises:
            UnfitError: the text cannot be read.
        """
        ...
