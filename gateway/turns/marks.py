"""Short marks by which clients' own requests are told from a person's words.

One table, so that a new version of a client is one new row. A mark is a lower-case phrase; the
version is the client's in which it was last seen. What no row names is an ordinary action: a missed
mark costs a little money, a wrong one changes an answer.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from services.domain.vocab import TurnType, WireFamily

CLAUDE_CODE = "claude-code"
CODEX = "codex"
OPENCODE = "opencode"
GEMINI_CLI = "gemini-cli"
CURSOR = "cursor"
AIDER = "aider"

HARNESSES = frozenset({CLAUDE_CODE, CODEX, OPENCODE, GEMINI_CLI, CURSOR, AIDER})
"""Coding programs, whose users may write commands into a conversation."""

ANY_SURFACE = frozenset(WireFamily)
MESSAGES_SURFACE = frozenset({WireFamily.ANTHROPIC})
OPENAI_SURFACES = frozenset({WireFamily.OPENAI_CHAT, WireFamily.OPENAI_RESPONSES})

BILLING_LINE = "x-anthropic-billing-header:"
"""Opens a system block of Claude Code that differs from request to request."""
SUB_AGENT_FLAG = "cc_is_subagent=true"
TRANSCRIPT_TAG = "<transcript>"
SUB_AGENT_USER_PREFIX = "subagent:"


class Place(enum.Enum):
    """Where a mark is looked for."""

    SYSTEM = enum.auto()
    """Anywhere in the instructions."""
    SYSTEM_START = enum.auto()
    """At the start of the instructions."""
    LAST_USER_TEXT = enum.auto()
    """In the first 4,096 bytes of a text of the last message."""


@dataclass(frozen=True, slots=True)
class TurnMark:
    """A kind of action that one client marks by phrases, all of which must be there."""

    turn_type: TurnType
    app: str
    version: str
    place: Place
    phrases: tuple[str, ...]
    surfaces: frozenset[WireFamily] = ANY_SURFACE
    is_app_required: bool = False
    """Whether an unknown client may not be meant: the phrase is too common."""


_SUMMARY_TASK = "your task is to create a detailed summary"

TURN_MARKS = (
    TurnMark(
        TurnType.TITLE_GEN,
        CODEX,
        "0.171.0",
        Place.LAST_USER_TEXT,
        ("your job is to provide a short title for a task",),
        OPENAI_SURFACES,
    ),
    TurnMark(
        TurnType.TITLE_GEN, OPENCODE, "1.18.33", Place.SYSTEM_START, ("you are a title generator",)
    ),
    TurnMark(
        TurnType.COMPACTION,
        CLAUDE_CODE,
        "2.1.197",
        Place.LAST_USER_TEXT,
        (_SUMMARY_TASK, "do not call any tools"),
        MESSAGES_SURFACE,
    ),
    TurnMark(
        TurnType.COMPACTION,
        CLAUDE_CODE,
        "2.0",
        Place.SYSTEM,
        (_SUMMARY_TASK,),
        MESSAGES_SURFACE,
    ),
    TurnMark(
        TurnType.COMPACTION,
        CODEX,
        "0.171.0",
        Place.LAST_USER_TEXT,
        ("context checkpoint compaction",),
    ),
    TurnMark(
        TurnType.COMPACTION,
        OPENCODE,
        "1.18.33",
        Place.SYSTEM_START,
        ("you are a helpful ai assistant tasked with summarizing conversations",),
        is_app_required=True,
    ),
    TurnMark(
        TurnType.RECAP,
        CLAUDE_CODE,
        "2.1.197",
        Place.LAST_USER_TEXT,
        ("stepped away", "recap"),
        MESSAGES_SURFACE,
    ),
)

GEMINI_CLASSIFIER_PROPERTIES = frozenset({"complexity_reasoning", "complexity_score"})
"""Properties of the answer that Gemini CLI asks its own router for."""


@dataclass(frozen=True, slots=True)
class ContextMark:
    """The opening of a text that a client puts before or around the person's words.

    A tag ends with its closing tag; a sentence takes its whole text.
    """

    opening: str
    app: str
    version: str
    is_stable: bool = False
    """Whether it stays the same through a session and tells sessions apart."""


CONTEXT_MARKS = (
    ContextMark("<system-reminder>", CLAUDE_CODE, "2.1.197"),
    ContextMark("<environment_context>", CODEX, "0.171.0"),
    ContextMark("<user_instructions>", CODEX, "0.171.0"),
    ContextMark("<session_context>", GEMINI_CLI, "0.61.0", is_stable=True),
    ContextMark("Here are summaries of some files present in my git repo", AIDER, "0.86.2"),
    ContextMark("I have *added these files to the chat*", AIDER, "0.86.2"),
    ContextMark("Here are some READ ONLY files", AIDER, "0.86.2"),
)

EXAMPLES_END = "I switched to a new code base."
"""Opens the message of aider 0.86.2 after which the conversation proper begins."""

TRAILING_REMINDERS = (
    "\n\nTo suggest changes to a file you MUST",
    "\n\n# *SEARCH/REPLACE block* Rules:",
    "\n\n# File editing rules:",
)
"""Openings of what aider 0.86.2 appends to the newest message alone."""
