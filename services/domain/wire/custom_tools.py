"""Tools that take free text: where they are not known, functions whose one argument is that text.

A call of such a function comes back as the free text, for clients that declared the tool as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.model import ClientError, ErrorKind, Tool, WireError
from services.domain.wire.reading import dump, peek, text

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCHEMA = (
    b'{"type":"object","properties":{"input":{"type":"string"}},'
    b'"required":["input"],"additionalProperties":false}'
)

MALFORMED = ClientError(
    ErrorKind.UPSTREAM, "upstream made a tool call that cannot be read", code="malformed_call"
)
"""Told where a call cannot be shown in the form that the client declared."""


class MalformedCallError(WireError):
    """A call of a custom tool whose arguments are not exactly its one text."""

    def __init__(self) -> None:
        super().__init__("", "a call of a custom tool is not its one text")


def custom_tool(name: str, description: str, grammar: Mapping[str, object], raw: bytes) -> Tool:
    """Return a custom tool as a function; the form that its text must have is put in words."""
    lines = [description]
    if definition := text(grammar.get("definition")):
        syntax = text(grammar.get("syntax"))
        lines.append(f"The input must obey this {syntax} grammar:\n{definition}")
    words = "\n\n".join(line for line in lines if line)
    return Tool("function", name, words, _SCHEMA, raw=raw)


def arguments_of(words: str) -> bytes:
    """Return the free text of a call as the arguments of a function."""
    return dump({"input": words})


def input_of(arguments: bytes) -> str:
    """Return the free text of a call.

    Raises:
        MalformedCallError: the arguments are anything else or more.
    """
    told = peek(arguments)
    words = told.get("input") if isinstance(told, dict) and len(told) == 1 else None
    if not isinstance(words, str):
        raise MalformedCallError
    return words
