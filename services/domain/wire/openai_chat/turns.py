"""A client's messages as system blocks and turns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.domain.wire.arguments import written_arguments
from services.domain.wire.content import cache_mark, without_failure_label
from services.domain.wire.custom_tools import arguments_of
from services.domain.wire.model import (
    Refusal,
    Role,
    SystemBlock,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Turn,
    WireError,
)
from services.domain.wire.openai_chat.parts import content_blocks
from services.domain.wire.reading import mapping, text

if TYPE_CHECKING:
    from services.domain.wire.model import Block, CacheMark
    from services.domain.wire.scanner import Node

_READ_ALWAYS = frozenset(["role", "content"])
_READ_OF_ASSISTANT = _READ_ALWAYS | {"reasoning_content", "refusal", "tool_calls", "function_call"}
_READ_OF_TOOL = _READ_ALWAYS | {"tool_call_id", "name"}


class Conversation:
    """Collects the messages of one request in order."""

    def __init__(self) -> None:
        self.system: list[SystemBlock] = []
        self.turns: list[Turn] = []
        self._legacy_calls: dict[str, str] = {}
        self._nameless: set[str] = set()

    def add(self, index: int, node: Node) -> None:
        """Take the next message.

        Raises:
            WireError: the message is unreadable, or its role is not known.
        """
        path = f"messages[{index}]"
        message = node.value
        if not isinstance(message, dict):
            raise WireError(path, "must be an object")
        role = message.get("role")
        if role in ("system", "developer"):
            self._add_system(index, node, path, is_developer=role == "developer")
        elif role == "user":
            blocks = content_blocks(node.members.get("content"), f"{path}.content")
            self._add_turn(Role.USER, blocks, index, node, _READ_ALWAYS)
        elif role == "assistant":
            self._add_turn(
                Role.ASSISTANT, self._said(index, node, path), index, node, _READ_OF_ASSISTANT
            )
        elif role in ("tool", "function"):
            self._add_result(index, node, path, is_legacy=role == "function")
        else:
            raise WireError(f"{path}.role", "is not a known role")

    def _add_turn(
        self,
        role: Role,
        blocks: tuple[Block, ...],
        index: int,
        node: Node,
        read: frozenset[str],
    ) -> None:
        extras = tuple((item.key, item.raw) for item in node.items if item.key not in read)
        self.turns.append(Turn(role, _marked(blocks, cache_mark(node)), index, extras))

    def _add_system(self, index: int, node: Node, path: str, *, is_developer: bool) -> None:
        blocks = content_blocks(node.members.get("content"), f"{path}.content")
        self.system.extend(
            SystemBlock(
                text=block.text,
                origin="developer" if is_developer else "system",
                after_turn=len(self.turns),
                cache=block.cache,
                origin_index=index,
                raw=block.raw,
            )
            for block in _marked(blocks, cache_mark(node))
            if isinstance(block, Text) and block.text
        )

    def _said(self, index: int, node: Node, path: str) -> tuple[Block, ...]:
        message = mapping(node.value)
        blocks: list[Block] = []
        if reasoning := text(message.get("reasoning_content")):
            blocks.append(Thinking(reasoning))
        blocks += content_blocks(node.members.get("content"), f"{path}.content")
        if refusal := text(message.get("refusal")):
            blocks.append(Refusal(refusal))
        calls = node.members.get("tool_calls")
        for at, call in enumerate(calls.items if calls else ()):
            if not isinstance(call.value, dict):
                raise WireError(f"{path}.tool_calls[{at}]", "must be an object")
            blocks += self._call(call, f"call_{index}_{at}")
        legacy = message.get("function_call")
        if isinstance(legacy, dict) and (name := text(legacy.get("name"))):
            call_id = self._legacy_calls[name] = f"call_{index}_legacy"
            blocks.append(ToolUse(call_id, name, written_arguments(legacy.get("arguments"))))
        return tuple(blocks)

    def _call(self, node: Node, default_id: str) -> list[ToolUse]:
        """Return the call; a nameless one is dropped, and so will be its result."""
        call = mapping(node.value)
        call_id = text(call.get("id")) or default_id
        is_custom = call.get("type") == "custom"
        told = mapping(call.get("custom" if is_custom else "function"))
        name = text(told.get("name"))
        if not name:
            self._nameless.add(call_id)
            return []
        if is_custom:
            arguments = arguments_of(text(told.get("input")))
        else:
            arguments = written_arguments(told.get("arguments"))
        return [ToolUse(call_id, name, arguments, raw=node.raw)]

    def _add_result(self, index: int, node: Node, path: str, *, is_legacy: bool) -> None:
        message = mapping(node.value)
        name = text(message.get("name"))
        call_id = text(message.get("tool_call_id"))
        if is_legacy and not call_id:
            call_id = self._legacy_calls.get(name, "")
        if call_id and call_id in self._nameless:
            return
        blocks = content_blocks(node.members.get("content"), f"{path}.content")
        blocks, is_error = without_failure_label(blocks)
        result = ToolResult(call_id, blocks, is_error, name)
        self._add_turn(Role.USER, (result,), index, node, _READ_OF_TOOL)


def _marked(blocks: tuple[Block, ...], mark: CacheMark | None) -> tuple[Block, ...]:
    """Return blocks with the breakpoint of their message on the last that is not empty."""
    for at in range(len(blocks) - 1 if mark is not None else -1, -1, -1):
        block = blocks[at]
        is_blank = isinstance(block, Text) and not block.text.strip()
        if not is_blank and not isinstance(block, Thinking | Refusal):
            kept = block if block.cache is not None else replace(block, cache=mark)
            return (*blocks[:at], kept, *blocks[at + 1 :])
    return blocks
