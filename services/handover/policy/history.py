"""A conversation as its messages, each with the very bytes that the client wrote.

Only what is asked for is opened: a long history that is kept costs one scan.
"""

from __future__ import annotations

import enum
import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.anthropic.blocks import decode_content
from services.domain.wire.codecs import codec_for
from services.domain.wire.features import utf8_length
from services.domain.wire.model import Role, ToolResult, Turn, WireError
from services.domain.wire.openai_chat.turns import Conversation
from services.domain.wire.reading import text
from services.domain.wire.scanner import scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from services.domain.wire.scanner import Document, Node, Plan

_LISTS: Mapping[WireFamily, str] = {
    WireFamily.ANTHROPIC: "messages",
    WireFamily.OPENAI_CHAT: "messages",
    WireFamily.OPENAI_RESPONSES: "input",
    WireFamily.GEMINI: "contents",
}
"""Where each dialect keeps its messages."""
_BLOCK: Plan = {"content": {"*": {"content": {"*": {}}}}}
_MESSAGE: Mapping[WireFamily, Plan] = {
    WireFamily.ANTHROPIC: {"content": {"*": _BLOCK}},
    WireFamily.OPENAI_CHAT: {"content": {"*": {}}, "tool_calls": {"*": {}}},
}


class Speaker(enum.StrEnum):
    """Who speaks in a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


_SPEAKERS: Mapping[str, Speaker] = {
    "system": Speaker.SYSTEM,
    "developer": Speaker.SYSTEM,
    "user": Speaker.USER,
    "assistant": Speaker.ASSISTANT,
    "model": Speaker.ASSISTANT,
    "tool": Speaker.TOOL,
    "function": Speaker.TOOL,
}
_ROLES = frozenset({Role.USER.value, Role.ASSISTANT.value})
_OUTPUTS = ("_output", "_response")
"""Ends of the types of Responses items that answer a call."""


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of the client's list; ``place`` is its position there."""

    place: int
    speaker: Speaker
    node: Node

    @property
    def source(self) -> str:
        """The JSON text as the client wrote it."""
        return self.node.source

    @property
    def is_asking(self) -> bool:
        """Whether the message is the client's side: a person's words or a tool's output."""
        return self.speaker in (Speaker.USER, Speaker.TOOL)


@dataclass(frozen=True, slots=True)
class History:
    """All messages of one body, and those that are no instructions."""

    family: WireFamily
    document: Document
    messages: tuple[Message, ...]
    spoken: tuple[Message, ...]
    _decoded: list[tuple[Turn, ...]] = field(default_factory=list, compare=False)
    """All turns at once, of a dialect whose messages are only readable together."""

    def last_run(self) -> int:
        """Return where the client's side begins that ends the conversation.

        It is the number of spoken messages when an assistant's message is the last.
        """
        start = len(self.spoken)
        while start and self.spoken[start - 1].is_asking:
            start -= 1
        return start

    def run_end(self, start: int) -> int:
        """Return the end of the client's side that begins at ``start``."""
        end = start
        while end < len(self.spoken) and self.spoken[end].is_asking:
            end += 1
        return end

    def turns(self, start: int, end: int) -> tuple[Turn, ...]:
        """Return spoken messages as turns; their ``origin_index`` is the place in ``spoken``.

        Raises:
            WireError: one of them is not readable.
        """
        if self.family not in _MESSAGE:
            return self._decoded_turns(start, end)
        opened = [
            (i, scan(self.spoken[i].node.raw, _MESSAGE[self.family]).root)
            for i in range(start, end)
        ]
        if self.family is WireFamily.OPENAI_CHAT:
            conversation = Conversation()
            for i, node in opened:
                conversation.add(i, node)
            return tuple(conversation.turns)
        return tuple(_messages_turn(i, node) for i, node in opened)

    def _decoded_turns(self, start: int, end: int) -> tuple[Turn, ...]:
        """Return turns of a dialect whose messages are only readable together."""
        if not self._decoded:
            request = codec_for(self.family).decode_request(self.document.text.encode())
            spoken_at = {message.place: at for at, message in enumerate(self.spoken)}
            placed = ((spoken_at.get(turn.origin_index, -1), turn) for turn in request.turns)
            self._decoded.append(tuple(replace(turn, origin_index=at) for at, turn in placed))
        return tuple(turn for turn in self._decoded[0] if start <= turn.origin_index < end)

    def digest(self, count: int) -> bytes:
        """Return the SHA-256 of the first ``count`` spoken messages.

        Cache breakpoints do not count, nor does whether a text stands alone or as the only block:
        clients move the former from turn to turn, and the latter with them.

        Raises:
            WireError: a message is nested too deeply.
        """
        digest = hashlib.sha256()
        try:
            for message in self.spoken[:count]:
                plain = json.dumps(_plain(message.node.value), sort_keys=True)
                digest.update(plain.encode() + b"\n")
        except RecursionError:
            raise WireError("messages", "are nested too deeply") from None
        return digest.digest()


def read(family: WireFamily, body: bytes) -> History:
    """Return the conversation of a body.

    Raises:
        WireError: the body is no readable request whose messages are one list.
    """
    name = _LISTS[family]
    document = scan(body, {name: {"*": {}}})
    listed = document.member(name)
    if listed is None or not isinstance(listed.value, list) or name in document.duplicates:
        raise WireError(name, "must be one array")
    messages = tuple(_message(family, place, node) for place, node in enumerate(listed.items))
    spoken = tuple(m for m in messages if m.speaker is not Speaker.SYSTEM)
    return History(family, document, messages, spoken)


def has_result(turns: Iterable[Turn]) -> bool:
    """Return whether a tool's output is among the turns."""
    return any(isinstance(block, ToolResult) for turn in turns for block in turn.blocks)


def raw_size(messages: Sequence[Message]) -> int:
    """Return the bytes of messages as they were written."""
    return sum(utf8_length(message.source) for message in messages)


def _message(family: WireFamily, place: int, node: Node) -> Message:
    path = f"{_LISTS[family]}[{place}]"
    if not isinstance(node.value, dict):
        raise WireError(path, "must be an object")
    speaker = _speaker(family, node.value)
    if speaker is None:
        raise WireError(f"{path}.role", "is not a known role")
    return Message(place, speaker, node)


def _speaker(family: WireFamily, message: Mapping[str, object]) -> Speaker | None:
    """Return who speaks; None: the role is not known."""
    role = message.get("role")
    if family is WireFamily.GEMINI and role is None:
        return Speaker.USER
    if family is WireFamily.OPENAI_RESPONSES and role is None:
        kind = text(message.get("type"))
        return Speaker.TOOL if kind.endswith(_OUTPUTS) else Speaker.ASSISTANT
    return _SPEAKERS.get(text(role))


def _messages_turn(index: int, node: Node) -> Turn:
    path = f"messages[{index}]"
    blocks = decode_content(node.members.get("content"), f"{path}.content")
    role = text(node.members["role"].value)
    if role not in _ROLES:
        raise WireError(f"{path}.role", "must be user or assistant")
    return Turn(Role(role), blocks, index)


def _plain(value: object) -> object:
    """Return a message or block without what changes from turn to turn."""
    if not isinstance(value, dict):
        return value
    plain = {key: item for key, item in value.items() if key != "cache_control"}
    content = plain.get("content")
    if isinstance(content, str):
        plain["content"] = [{"type": "text", "text": content}]
    elif isinstance(content, list):
        plain["content"] = [_plain(block) for block in content]
    return plain
