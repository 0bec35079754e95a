"""Commands and their answers, taken out of a body before anything else reads it. Pure.

What is taken out is taken out of every later request in the same way, so that the history that
providers see stays one, and their caches warm. All else keeps its bytes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gateway.commands.model import MARK, Command
from gateway.commands.reading import command_in, has_words
from services.domain.vocab import WireFamily
from services.domain.wire.model import Role, Text, WireError
from services.domain.wire.scanner import scan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Request
    from services.domain.wire.scanner import Document, Edit, Node, Plan

_LISTS: Mapping[WireFamily, tuple[str, str]] = {
    WireFamily.ANTHROPIC: ("messages", "content"),
    WireFamily.OPENAI_CHAT: ("messages", "content"),
    WireFamily.OPENAI_RESPONSES: ("input", "content"),
    WireFamily.GEMINI: ("contents", "parts"),
}
_PLANS: Mapping[WireFamily, Plan] = {
    family: {items: {"*": {parts: {"*": {}}}}} for family, (items, parts) in _LISTS.items()
}
_TEXTS = frozenset({None, "text", "input_text", "output_text"})
_RESULTS = frozenset({"tool_result", "function_call_output"})
_ASSISTANTS = frozenset({"assistant", "model"})
_SYSTEMS = frozenset({"system", "developer"})


@dataclass(frozen=True, slots=True)
class Stripped:
    """A body without commands, and the one that its last message holds."""

    body: bytes
    command: Command | None = None


@dataclass(slots=True)
class _Message:
    """One message of the client's list; mutable, belongs to one body."""

    node: Node
    role: object
    texts: list[Node]
    has_more: bool
    """Whether it holds more than text."""
    has_result: bool
    edits: list[Edit] = field(default_factory=list)
    command: Command | None = None


def has_commands(request: Request) -> bool:
    """Return whether a person's text anywhere in a request begins with a command."""
    return any(
        isinstance(block, Text) and command_in(block.text) is not None
        for turn in request.turns
        if turn.role is Role.USER
        for block in turn.blocks
    )


def stripped(body: bytes, family: WireFamily) -> Stripped:
    """Return a body without commands; the very bytes where there is none, or it is unreadable."""
    try:
        document = scan(body, _PLANS[family])
    except WireError:
        return Stripped(body)
    messages = _messages(document, family)
    for message in messages:
        _read(message)
    last = next((each for each in reversed(messages) if each.role not in _SYSTEMS), None)
    dropped: list[Node] = []
    edits: list[Edit] = []
    for at, message in enumerate(messages):
        if message.command is None:
            continue
        answer = messages[at + 1] if at + 1 < len(messages) else None
        if not message.command.is_alone:
            edits.extend(message.edits)
        elif message is not last and answer is not None and _is_acknowledgement(answer):
            dropped += [message.node, answer.node]
    if not edits and not dropped:
        return Stripped(body, last.command if last is not None else None)
    items = document.member(_LISTS[family][0])
    if items is not None and dropped:
        edits = [*edits, *items.without(dropped)]
    command = last.command if last is not None else None
    return Stripped(document.splice(edits), command)


def _read(message: _Message) -> None:
    """Take note of the command of a person's message; what tools answered commands nothing."""
    if message.role != "user" or message.has_result:
        return
    for node in message.texts:
        found = command_in(str(node.value))
        if found is None:
            continue
        others = [text for text in message.texts if text is not node]
        is_alone = (
            found.command.is_alone
            and not message.has_more
            and not any(has_words(str(text.value)) for text in others)
        )
        message.command = replace(found.command, is_alone=is_alone)
        message.edits.append(node.replaced_by(json.dumps(found.rest, ensure_ascii=False)))
        return


def _is_acknowledgement(message: _Message) -> bool:
    return message.role in _ASSISTANTS and any(
        str(node.value).startswith(MARK) for node in message.texts
    )


def _messages(document: Document, family: WireFamily) -> list[_Message]:
    items, parts = _LISTS[family]
    node = document.member(items)
    if node is None:
        return []
    if isinstance(node.value, str):
        return [_Message(node, "user", [node], has_more=False, has_result=False)]
    return [_message(item, parts) for item in node.items]


def _message(item: Node, parts: str) -> _Message:
    role = item.members["role"].value if "role" in item.members else _role_of(item)
    content = item.members.get(parts)
    is_result = _kind(item) in _RESULTS or role == "tool"
    if content is None:
        return _Message(item, role, [], has_more=True, has_result=is_result)
    if isinstance(content.value, str):
        return _Message(item, role, [content], has_more=False, has_result=is_result)
    texts = [text for part in content.items if (text := _text(part)) is not None]
    return _Message(
        item,
        role,
        texts,
        has_more=len(texts) < len(content.items),
        has_result=is_result or any(map(_is_result, content.items)),
    )


def _role_of(item: Node) -> str:
    """Return who speaks where nothing says so: in Gemini's dialect the user does."""
    return "" if "type" in item.members else "user"


def _kind(node: Node) -> object:
    return node.members["type"].value if "type" in node.members else None


def _is_result(part: Node) -> bool:
    return _kind(part) in _RESULTS or "functionResponse" in part.members


def _text(part: Node) -> Node | None:
    text = part.members.get("text")
    is_text = text is not None and isinstance(text.value, str) and _kind(part) in _TEXTS
    return text if is_text else None
