"""Items of a client's ``input`` as system blocks and turns.

Neighbouring items of the assistant are one turn, so that parallel calls stay together in dialects
that have messages. Each message leaves its source in the extras of its turn, under the place and
number of its blocks, for a body of this dialect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.arguments import written_arguments
from services.domain.wire.content import without_failure_label
from services.domain.wire.custom_tools import arguments_of
from services.domain.wire.model import (
    Opaque,
    Role,
    SystemBlock,
    Text,
    ToolResult,
    ToolUse,
    Turn,
    WireError,
)
from services.domain.wire.openai_responses.parts import FAMILY, content_blocks
from services.domain.wire.openai_responses.state import thinking_of
from services.domain.wire.openai_responses.tools import flat_name
from services.domain.wire.reading import mapping, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Block
    from services.domain.wire.scanner import Node, Plan

ITEM_PLAN: Plan = {"content": {"*": {}}, "output": {"*": {}}}
"""What is opened of an item."""

_OF_USER = ("_output", "_response")


class Conversation:
    """Collects the items of one request in order."""

    def __init__(self) -> None:
        self.system: list[SystemBlock] = []
        self.turns: list[Turn] = []
        self._said: list[Block] = []
        self._sources: list[tuple[str, bytes]] = []
        self._said_from = -1
        self._nameless: set[str] = set()

    def add(self, index: int, node: Node) -> None:
        """Take the next item.

        Raises:
            WireError: the item is unreadable, or the role of a message is not known.
        """
        path = f"input[{index}]"
        item = node.value
        if not isinstance(item, dict):
            raise WireError(path, "must be an object")
        kind = text(item.get("type")) or ("message" if "role" in item else "item_reference")
        if kind == "message":
            self._message(index, node, path)
        elif kind in ("function_call", "custom_tool_call"):
            self._call(index, node, item)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            self._result(index, node, path)
        elif kind == "reasoning":
            self._say(index, thinking_of(item, node.raw))
        elif kind.endswith(_OF_USER):
            self._hear(index, (Opaque(FAMILY, kind, node.raw),))
        else:
            self._say(index, Opaque(FAMILY, kind, node.raw))

    def finish(self) -> None:
        """Take note that no item follows."""
        if self._said or self._sources:
            turn = Turn(Role.ASSISTANT, tuple(self._said), self._said_from, tuple(self._sources))
            self.turns.append(turn)
        self._said, self._sources = [], []

    def _say(self, index: int, *blocks: Block) -> None:
        if not self._said and not self._sources:
            self._said_from = index
        self._said += blocks

    def _hear(self, index: int, blocks: tuple[Block, ...], source: bytes = b"") -> None:
        self.finish()
        extras = ((source_key(0, len(blocks)), source),) if source else ()
        self.turns.append(Turn(Role.USER, blocks, index, extras))

    def _message(self, index: int, node: Node, path: str) -> None:
        role = mapping(node.value).get("role")
        if role not in ("user", "assistant", "system", "developer"):
            raise WireError(f"{path}.role", "is not a known role")
        blocks = content_blocks(node.members.get("content"), f"{path}.content")
        if role == "assistant":
            place = len(self._said)
            self._say(index, *blocks)
            self._sources.append((source_key(place, len(blocks)), node.raw))
        elif role == "user":
            self._hear(index, blocks, node.raw)
        else:
            self.finish()
            self._add_system(index, blocks, node.raw, is_developer=role == "developer")

    def _add_system(
        self, index: int, blocks: tuple[Block, ...], raw: bytes, *, is_developer: bool
    ) -> None:
        """Take instructions; the first block keeps the source of the whole message."""
        words = [block.text for block in blocks if isinstance(block, Text)] or [""]
        self.system.extend(
            SystemBlock(
                text=line,
                origin="developer" if is_developer else "system",
                after_turn=len(self.turns),
                origin_index=index,
                raw=b"" if at else raw,
            )
            for at, line in enumerate(words)
        )

    def _call(self, index: int, node: Node, item: Mapping[str, object]) -> None:
        call_id = text(item.get("call_id")) or text(item.get("id")) or f"call_{index}"
        name = text(item.get("name"))
        if not name:
            self._nameless.add(call_id)
            return
        if item.get("type") == "custom_tool_call":
            arguments = arguments_of(text(item.get("input")))
        else:
            arguments = written_arguments(item.get("arguments"))
        flat = flat_name(text(item.get("namespace")), name)
        self._say(index, ToolUse(call_id, flat, arguments, raw=node.raw))

    def _result(self, index: int, node: Node, path: str) -> None:
        call_id = text(mapping(node.value).get("call_id"))
        if call_id and call_id in self._nameless:
            return
        blocks = content_blocks(node.members.get("output"), f"{path}.output")
        blocks, is_error = without_failure_label(blocks)
        self._hear(index, (ToolResult(call_id, blocks, is_error, raw=node.raw),))


def source_key(place: int, count: int) -> str:
    """Return the key under which a turn keeps the source of a message of ``count`` blocks."""
    return f"{place}+{count}"
