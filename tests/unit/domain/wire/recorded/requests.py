"""What the recorded requests ask, in no dialect, and what of it each upstream dialect must see."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.labels import CONTINUE_TEXT

if TYPE_CHECKING:
    from collections.abc import Mapping

A, O = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT  # noqa: E741 - the names of the matrix
R, G = WireFamily.OPENAI_RESPONSES, WireFamily.GEMINI


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in a conversation. Calls are named c1, c2, … as they first appear."""

    role: str
    kind: str
    words: str = ""
    call: str = ""
    name: str = ""
    arguments: str = ""
    """As JSON with sorted keys."""
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks."""

    entries: tuple[Entry, ...]
    system: str = ""
    tools: tuple[tuple[str, str, str], ...] = ()
    """Name, description and schema, which is JSON with sorted keys and types in lower case."""
    choice: str = ""
    limit: int | None = 300
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    schema: str = ""


PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5Er"
    "kJggg=="
)
PDF = "JVBERi0xLjQKJSVFT0YK"
SCHEMA = (
    '{"properties": {"n": {"type": "integer"}, "path": {"type": "string"}}, "required": ["path"], '
    '"type": "object"}'
)
TOOLS = (
    ("f", "Reads a file.", SCHEMA),
    ("now", "Tells the time.", '{"properties": {}, "type": "object"}'),
)
ARGUMENTS = '{"n": 12345678901234567890, "path": "ä/ö"}'


def user(words: str) -> Entry:
    """Return text of the user."""
    return Entry("user", "text", words)


def model(words: str) -> Entry:
    """Return text of the model."""
    return Entry("assistant", "text", words)


def called(call: str = "c1", name: str = "f", arguments: str = ARGUMENTS) -> Entry:
    """Return a call."""
    return Entry("assistant", "call", call=call, name=name, arguments=arguments)


def result(call: str = "c1", words: str = "one", *, is_error: bool = False) -> Entry:
    """Return the result of a call."""
    return Entry("user", "result", words, call, is_error=is_error)


LABEL, MADE_UP = "(a label)", "(made up)"
"""Stand for words that each encoder chooses."""
THOUGHT = "Secret"
"""Word that every thought of the recorded requests holds, and nothing else."""
LOOK = user("look")
HI = Asked((user("hi"),))
IMAGE, DOCUMENT = Entry("user", "image", PNG), Entry("user", "document", PDF)

REQUESTS: Mapping[str, Asked] = {
    "text": Asked((user("look é 😀"),)),
    "system": replace(HI, system="Be kind.\nBe brief."),
    "late_system": Asked(
        (
            user("hi"),
            model("Hello."),
            Entry("system", "text", "Now in French."),
            user("go on"),
        ),
        system="Be kind.",
    ),
    "one_tool": Asked((LOOK, model("I look."), called(), result()), tools=TOOLS),
    "parallel_tools": Asked(
        (
            LOOK,
            model("I look."),
            called(),
            called("c2", "now", "{}"),
            result(),
            result("c2", "two"),
            user("and now?"),
        ),
        tools=TOOLS,
    ),
    "no_arguments": Asked((user("time?"), called("c1", "now", "{}"), result()), tools=TOOLS),
    "signed_thinking": Asked((LOOK, called(), result()), tools=TOOLS),
    "plain_thinking": Asked((LOOK, model("I saw."), user("go on"))),
    "image": Asked((user("what is it?"), IMAGE)),
    "pdf": Asked((DOCUMENT, user("sum it up"))),
    "result_image": Asked((LOOK, called(), result(words="seen"), IMAGE), tools=TOOLS),
    "failed_result": Asked((LOOK, called(), result(words="denied", is_error=True)), tools=TOOLS),
    "empty_result": Asked((LOOK, called(), result(words="")), tools=TOOLS),
    "unanswered_call": Asked(
        (
            LOOK,
            called(),
            called("c2"),
            result(words=MADE_UP, is_error=True),
            result("c2"),
            user("never mind"),
        ),
        tools=TOOLS,
    ),
    "orphan_result": Asked(
        (LOOK, model("No."), user(LABEL), user("lost"), user("why?")), tools=TOOLS
    ),
    "late_result": Asked(
        (LOOK, called(), result(), user("wait"), model("Waiting."), user("done?")), tools=TOOLS
    ),
    "knobs": replace(HI, temperature=0.5, stop=("END", "HALT")),
    "schema": replace(HI, schema=SCHEMA),
    "choice_required": replace(HI, tools=TOOLS, choice="required"),
    "choice_none": replace(HI, tools=TOOLS, choice="none"),
    "choice_named": replace(HI, tools=TOOLS, choice="named f"),
    "prefill": Asked((user("hi"), model("Well"), user(CONTINUE_TEXT))),
}


def expected(case: str, client: WireFamily, upstream: WireFamily) -> Asked:
    """Return what an upstream of another dialect must see of a request case."""
    asked = REQUESTS[case]
    if case == "late_system" and upstream in (A, G):
        asked = replace(
            asked,
            system="Be kind.\nNow in French.",
            entries=tuple(entry for entry in asked.entries if entry.role != "system"),
        )
    if case == "prefill" and upstream is A:
        asked = replace(asked, entries=asked.entries[:-1])
    if case == "knobs" and R in (client, upstream):
        asked = replace(asked, stop=())
    return asked


def with_own_words(asked: Asked, wanted: Asked) -> Asked:
    """Return what was read with the words that an encoder may choose replaced by their names."""
    pairs = zip(asked.entries, wanted.entries, strict=False)
    entries = [
        replace(entry, words=due.words) if due.words in (LABEL, MADE_UP) and entry.words else entry
        for entry, due in pairs
    ]
    return replace(asked, entries=(*entries, *asked.entries[len(entries) :]))
