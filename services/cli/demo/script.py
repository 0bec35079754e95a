"""The sample sessions: made up here, and of nobody's traffic.

Lines that begin with ``sandbox:`` tell the sandbox provider what to answer; a real model reads them
as a hint at most.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Surface(enum.StrEnum):
    """Names the dialect of a session."""

    MESSAGES = "messages"
    CHAT = "chat"


class Kind(enum.Enum):
    """What a step sends."""

    SAID = enum.auto()
    """Words of a person, after all that went before."""
    RESULT = enum.auto()
    """Results of the tools that the answer before called; left out where it called none."""
    ASIDE = enum.auto()
    """Words apart from the conversation, as programs send them."""
    TITLE = enum.auto()
    """A title is asked for, apart from the conversation."""


@dataclass(frozen=True, slots=True)
class Step:
    """One request of a session."""

    text: str = ""
    kind: Kind = Kind.SAID
    max_tokens: int = 600


@dataclass(frozen=True, slots=True)
class Script:
    """One session."""

    name: str
    surface: Surface
    instructions: str
    steps: tuple[Step, ...]
    has_tools: bool = False


_HOUSE_RULES = "\n".join(
    f"{number}. {rule}"
    for number, rule in enumerate(
        (
            "Read a file before you change it, and change as little as solves the problem.",
            "Name things by what they are for; a comment says why and never what.",
            "Every number in an answer has its unit, and every claim the file and line it is from.",
            "A test that was red before the change and green after it belongs to every repair.",
            "When two readings are possible, say which one you took and how to get the other.",
            "Times are UTC, money is whole micro-units, sizes are bytes, rates are per second.",
        )
        * 8,
        start=1,
    )
)
_CODING = (
    "You help to maintain a small library that keeps railway timetables. House rules:\n"
    + _HOUSE_RULES
)
_DESK = (
    "You answer letters for a museum of railway signals, in plain words.\n" + _HOUSE_RULES[:1200]
)

SCRIPTS = (
    Script(
        "repair",
        Surface.MESSAGES,
        _CODING,
        (
            Step("ready?", Kind.ASIDE, max_tokens=1),
            Step(
                "The last train of the day is missing from `departures_after`. Find out why."
                '\nsandbox: call read_file {"path": "timetable/departures.py"}'
            ),
            Step(
                "def departures_after(rows, minute):\n"
                "    return [row for row in rows[:-1] if row.minute > minute]\n" * 12,
                Kind.RESULT,
            ),
            Step("The last train of the day is missing.", Kind.TITLE, max_tokens=60),
            Step(
                "Prove that the repaired function returns every departure exactly once when the"
                " timetable wraps around midnight, and give the invariant that a property test"
                " should check.\nsandbox: say The slice drops the last row; iterate over all rows."
            ),
            Step("Thanks. Write the commit message.\nsandbox: say Keep the last departure."),
        ),
        has_tools=True,
    ),
    Script(
        "letters",
        Surface.CHAT,
        _DESK,
        (
            Step(
                "Answer in one word: is this letter a complaint? 'The tram was lovely.'",
                Kind.ASIDE,
                max_tokens=16,
            ),
            Step("Say in two sentences what a semaphore is.\nsandbox: say An arm on a post."),
            Step("And in one sentence for a child of six.\nsandbox: say It waves at trains."),
            Step(
                "Now derive how far ahead of the signal a train at 120 km/h that brakes with"
                " 0.9 m/s² has to see it, and say how rain changes that."
                "\nsandbox: say About 617 m."
            ),
        ),
    ),
)
"""What is played, in order."""
