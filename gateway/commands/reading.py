"""A command in the words of a person. Pure.

It stands on the first line that is not empty, behind context that a client put in front. ``/`` and
``$`` both begin it, for some programs keep the first for themselves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gateway.commands.model import Command, CommandKind

_KINDS = {
    "force-model": CommandKind.FORCE,
    "fm": CommandKind.FORCE,
    "unforce-model": CommandKind.UNFORCE,
    "ufm": CommandKind.UNFORCE,
    "router-feedback": CommandKind.FEEDBACK,
    "rf": CommandKind.FEEDBACK,
    "rf+": CommandKind.FEEDBACK,
    "rf-": CommandKind.FEEDBACK,
}
_LINE = re.compile(
    r"[ \t]*[/$](force-model|fm|unforce-model|ufm|router-feedback|rf[+-]?)(?:[ \t]([^\r\n]*))?"
    r"(?:\r?\n|\Z)"
)
_TAG = re.compile(r"\s*<([A-Za-z][\w-]*)>")
_BLANKS = re.compile(r"(?:[ \t]*\r?\n)*")


@dataclass(frozen=True, slots=True)
class Found:
    """A command and the text without its line."""

    command: Command
    rest: str


def command_in(text: str) -> Found | None:
    """Return the command that opens a text behind its contexts; None: there is none."""
    start = _blanks_end(text, _context_end(text))
    line = _LINE.match(text, start)
    if line is None:
        return None
    word, said = line[1], " ".join((line[2] or "").split())
    kind = _KINDS[word]
    argument = word[2:] if kind is CommandKind.FEEDBACK else said
    after = text[line.end() :]
    is_alone = not after.strip()
    rest = text[:start] + ("" if is_alone else after)
    return Found(Command(kind, argument, is_alone), rest)


def has_words(text: str) -> bool:
    """Return whether a text has more than contexts."""
    return bool(text[_context_end(text) :].strip())


def _context_end(text: str) -> int:
    """Return where the complete blocks in tags that open a text end."""
    at = 0
    while (tag := _TAG.match(text, at)) is not None:
        closing = f"</{tag[1]}>"
        end = text.find(closing, tag.end())
        if end < 0:
            return at
        at = end + len(closing)
    return at


def _blanks_end(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks is not None else at
