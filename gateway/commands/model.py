"""Values of commands."""

from __future__ import annotations

import enum
from dataclasses import dataclass

MARK = "[pointsman] "
"""Opens every answer to a command, so that it can be taken out of later requests."""


class CommandScope(enum.StrEnum):
    """Whose commands are obeyed."""

    HARNESS = "harness"
    """Those of coding programs that are recognised."""
    ALL = "all"
    OFF = "off"


class CommandKind(enum.Enum):
    """What a command asks for."""

    FORCE = enum.auto()
    UNFORCE = enum.auto()
    FEEDBACK = enum.auto()


@dataclass(frozen=True, slots=True)
class Command:
    """One command line."""

    kind: CommandKind
    argument: str = ""
    """The rest of the line, blanks collapsed; for feedback ``+``, ``-`` or nothing."""
    is_alone: bool = True
    """Whether nothing but the command is asked: it is answered without a model."""
