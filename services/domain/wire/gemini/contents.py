"""A client's contents as turns."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.content import filled
from services.domain.wire.gemini.names import child, member, snake
from services.domain.wire.gemini.parts import state_of
from services.domain.wire.model import (
    Media,
    Opaque,
    Role,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Turn,
    WireError,
)
from services.domain.wire.reading import mapping, rows, text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from services.domain.wire.model import Block
    from services.domain.wire.scanner import Node

_ROLES = {"user": Role.USER, "model": Role.ASSISTANT, "function": Role.USER}
NO_ROLE = ("role", b"")
"""Extra of a turn whose content names no role."""
_PLAIN_ROLES = (b'"user"', b'"model"')
_KINDS = ("functionCall", "functionResponse", "inlineData", "fileData")
_CODE_KINDS = ("executableCode", "codeExecutionResult")
_MEDIA_KINDS: dict[str, Literal["image", "audio", "video"]] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
}


class _Waiting:
    """Calls without result, found by id or by name, the oldest first."""

    def __init__(self) -> None:
        self._calls: list[ToolUse | None] = []
        self._by_id: dict[str, deque[int]] = defaultdict(deque)
        self._by_name: dict[str, deque[int]] = defaultdict(deque)

    def add(self, call: ToolUse) -> None:
        """Let a call wait."""
        self._by_id[call.call_id].append(len(self._calls))
        self._by_name[call.name].append(len(self._calls))
        self._calls.append(call)

    def answered_by(self, call_id: str, name: str) -> ToolUse | None:
        """Take the call that a result answers; None when none waits for it."""
        queue = self._by_id[call_id] if call_id else self._by_name[name]
        while queue:
            place = queue.popleft()
            call, self._calls[place] = self._calls[place], None
            if call is not None:
                return call
        return None


class Conversation:
    """Collects the contents of one request in order.

    Calls without id get one from their place; a result without id answers the first call of its
    name that waits.
    """

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self._waiting = _Waiting()
        self._nameless: set[str] = set()

    def add(self, index: int, node: Node) -> None:
        """Take the next content.

        Raises:
            WireError: it is unreadable, or its role is not known.
        """
        path = f"contents[{index}]"
        if not isinstance(node.value, dict):
            raise WireError(path, "must be an object")
        role = node.value.get("role")
        if role is not None and role not in ("", *_ROLES):
            raise WireError(f"{path}.role", "is not a known role")
        blocks: list[Block] = []
        for at, part in enumerate(part_nodes(node, path)):
            blocks += self._blocks(part, index, at)
        extras = tuple((item.key, item.raw) for item in node.items if _is_extra(item))
        if "role" not in node.value:
            extras = (*extras, NO_ROLE)
        self.turns.append(Turn(_ROLES.get(text(role), Role.USER), tuple(blocks), index, extras))

    def _blocks(self, part: Node, index: int, at: int) -> list[Block]:
        told = mapping(part.value)
        kinds = [kind for kind in _KINDS if isinstance(member(told, kind), dict)]
        words = told.get("text")
        if isinstance(words, str) and not kinds:
            return [_spoken(words, told, part.raw)]
        if len(kinds) != 1 or isinstance(words, str):
            return [_opaque(told, part.raw)]
        node = child(part, kinds[0])
        if node is not None and kinds[0] == "functionCall":
            return self._call(node, told, part.raw, f"call_{index}_{at}")
        if node is not None and kinds[0] == "functionResponse":
            return self._result(node, part.raw)
        media = media_of(mapping(member(told, kinds[0])), kinds[0], part.raw)
        place = "inlineData.data" if kinds[0] == "inlineData" else "fileData.fileUri"
        return [filled(media, f"contents[{index}].parts[{at}].{place}")]

    def _call(self, node: Node, told: Mapping[str, object], raw: bytes, own_id: str) -> list[Block]:
        """Return the call; a nameless one is dropped, and so will be its result."""
        call = mapping(node.value)
        name, call_id = text(call.get("name")), text(call.get("id"))
        if not name:
            self._nameless.add(call_id)
            return []
        args = child(node, "args")
        signature = text(member(told, "thoughtSignature"))
        use = ToolUse(
            call_id=call_id or own_id,
            name=name,
            arguments=args.raw if args is not None else b"{}",
            state=(state_of(signature),) if signature else (),
            raw=raw,
        )
        self._waiting.add(use)
        return [use]

    def _result(self, node: Node, raw: bytes) -> list[Block]:
        told = mapping(node.value)
        name, call_id = text(told.get("name")), text(told.get("id"))
        if not name and call_id in self._nameless:
            return []
        call = self._waiting.answered_by(call_id, name)
        response = child(node, "response")
        blocks, is_error = _told(response)
        blocks += [_inner(row) for row in rows(told.get("parts"))]
        found = call.call_id if call is not None else call_id
        return [ToolResult(found, tuple(blocks), is_error, name, raw=raw)]


def part_nodes(node: Node, path: str) -> list[Node]:
    """Return the parts of a content; none for one without that member.

    Raises:
        WireError: they are no list of objects.
    """
    parts = child(node, "parts")
    if parts is None:
        return []
    if not isinstance(parts.value, list):
        raise WireError(f"{path}.parts", "must be a list of parts")
    for at, part in enumerate(parts.items):
        if not isinstance(part.value, dict):
            raise WireError(f"{path}.parts[{at}]", "must be an object")
    return parts.items


def media_of(told: Mapping[str, object], kind: str, raw: bytes) -> Media:
    """Return inline data, or a file that its vendor stores, by its media type."""
    media_type = text(member(told, "mimeType"))
    family = _MEDIA_KINDS.get(media_type.partition("/")[0])
    return Media(
        kind=family or "document",
        media_type=media_type,
        data=text(told.get("data")) if kind == "inlineData" else "",
        file_id=text(member(told, "fileUri")) if kind == "fileData" else "",
        filename=text(member(told, "displayName")),
        raw=raw,
    )


def _is_extra(item: Node) -> bool:
    """Whether the same dialect needs this member again: all but the parts and a plain role."""
    return item.key != "parts" and not (item.key == "role" and item.raw in _PLAIN_ROLES)


def _spoken(words: str, told: Mapping[str, object], raw: bytes) -> Block:
    if told.get("thought") is not True:
        return Text(words, raw=raw)
    signature = text(member(told, "thoughtSignature"))
    return Thinking(words, (state_of(signature),) if signature else (), raw)


def _opaque(told: Mapping[str, object], raw: bytes) -> Opaque:
    for kind in _CODE_KINDS:
        code = mapping(member(told, kind))
        if code:
            rendering = text(code.get("code")) or text(code.get("output"))
            return Opaque(WireFamily.GEMINI, kind, raw, rendering)
    kind = next((key for key in told if snake(key) != "thought_signature"), "")
    return Opaque(WireFamily.GEMINI, kind, raw)


def _told(response: Node | None) -> tuple[list[Block], bool]:
    """Return what a function answered, and whether it failed.

    A lone ``result``, ``output`` or ``error`` that is a string is the text; all else is told as its
    JSON.
    """
    if response is None or not isinstance(response.value, dict):
        return [], False
    told = response.value
    is_error = "error" in told and not told.keys() & {"result", "output"}
    if len(told) == 1:
        only = told.get("result", told.get("output", told.get("error")))
        if isinstance(only, str):
            return ([Text(only)] if only else []), is_error
    return [Text(response.raw.decode("utf-8", "replace"))], is_error


def _inner(row: object) -> Block:
    told = mapping(row)
    for kind in ("inlineData", "fileData"):
        found = member(told, kind)
        if isinstance(found, dict):
            return media_of(found, kind, b"")
    return Opaque(WireFamily.GEMINI, next(iter(told), ""), b"{}")
