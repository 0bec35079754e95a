"""Agents that go round in circles, seen in the calls and words of one history. Pure."""

from __future__ import annotations

import enum
import hashlib
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from gateway.turns.texts import encoded
from services.domain.wire.model import Role, Text, ToolResult, ToolUse

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from services.domain.wire.features import Features
    from services.domain.wire.model import Request, Turn

TIGHT_WINDOW = 10
TIGHT_REPEATS = 5
WIDE_WINDOW = 30
WIDE_CALLS = 24
WIDE_DISTINCT_RATIO = 0.4
WORDS_WINDOW = 12
WORDS_REPEATS = 3
WORDS_CHARS = 40
PROMPT_BYTES = 512
DIGEST_BYTES = 8

EDIT_TOOLS = frozenset(
    {
        "edit",
        "multiedit",
        "multi_edit",
        "write",
        "notebookedit",
        "apply_patch",
        "patch",
        "str_replace",
        "str_replace_editor",
        "str_replace_based_edit_tool",
        "replace",
        "write_file",
        "edit_file",
        "create_file",
    }
)
"""Tools of coding programs that change files, in lower case: who uses them gets somewhere."""


class Loop(enum.StrEnum):
    """How an agent repeats itself."""

    NONE = ""
    WIDE = "wide"
    """Few different calls among many, and none that changes a file."""
    TIGHT = "tight"
    """One call again and again."""
    WORDS = "words"
    """The same words again and again."""
    STUCK = "stuck"
    """The same request again and again."""


def loop_of(request: Request, features: Features, *, is_stuck: bool = False) -> Loop:
    """Return the loop that a history shows; the widest first.

    ``is_stuck``: whether the session made this request again and again.
    """
    calls = list(islice(_latest_calls(request), WIDE_WINDOW))
    if _is_wide(calls, features.tool_call_count):
        return Loop.WIDE
    if _is_repeated(calls[:TIGHT_WINDOW], TIGHT_REPEATS):
        return Loop.TIGHT
    said = list(islice(_latest_texts(request), WORDS_WINDOW))
    if len(said) >= WORDS_REPEATS:
        words = (" ".join(text.lower().split()) for text in said)
        if _is_repeated([each for each in words if len(each) >= WORDS_CHARS], WORDS_REPEATS):
            return Loop.WORDS
    return Loop.STUCK if is_stuck else Loop.NONE


def progress_digest(request: Request, features: Features) -> bytes:
    """Return what stays the same while an agent gets nowhere: how long its history is, its latest
    call, and how the newest words of the person begin."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    digest.update(f"{features.message_count}/{features.tool_call_count}/".encode())
    for name, arguments in islice(_latest_calls(request), 1):
        digest.update(len(name).to_bytes(4, "big") + encoded(name) + arguments)
    digest.update(b"/" + _newest_words(request)[:PROMPT_BYTES])
    return digest.digest()


def _is_wide(calls: list[tuple[str, bytes]], call_count: int) -> bool:
    if call_count < WIDE_CALLS or not calls:
        return False
    is_editing = any(name.lower() in EDIT_TOOLS for name, _ in calls)
    return not is_editing and len(set(calls)) / len(calls) < WIDE_DISTINCT_RATIO


def _latest_calls(request: Request) -> Iterator[tuple[str, bytes]]:
    """Return the name and a digest of the arguments of each call, latest first."""
    for turn in reversed(request.turns):
        for block in reversed(turn.blocks):
            if isinstance(block, ToolUse):
                yield block.name, hashlib.blake2b(block.arguments, digest_size=8).digest()


def _is_repeated(things: Sequence[Hashable], times: int) -> bool:
    """Return whether some of ``things`` comes that many times."""
    return len(things) >= times and max(Counter(things).values()) >= times


def _latest_texts(request: Request) -> Iterator[str]:
    """Return what the assistant said since the person's last words, latest first."""
    for turn in reversed(request.turns):
        if turn.role is Role.USER and _is_spoken(turn):
            return
        if turn.role is not Role.ASSISTANT:
            continue
        for block in reversed(turn.blocks):
            if isinstance(block, Text) and block.text.strip():
                yield block.text


def _newest_words(request: Request) -> bytes:
    for turn in reversed(request.turns):
        words = "\n".join(block.text for block in turn.blocks if isinstance(block, Text))
        if turn.role is Role.USER and words.strip():
            return encoded(words)
    return b""


def _is_spoken(turn: Turn) -> bool:
    return not any(isinstance(block, ToolResult) for block in turn.blocks)
