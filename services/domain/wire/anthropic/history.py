"""The turns of another dialect's request as Messages history.

The dialect is strict: roles alternate, the first turn is a user's, every call is answered in the
very next turn and results come first in it, and no text is empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.wire.anthropic.media import encode_media
from services.domain.wire.anthropic.response import clean_call_id
from services.domain.wire.arguments import as_object
from services.domain.wire.labels import CONTINUE_TEXT
from services.domain.wire.model import (
    Media,
    Opaque,
    Record,
    Refusal,
    Role,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    TransformAction,
)
from services.domain.wire.pairing import paired

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.model import Block, CacheMark, Target, Turn

JsonBlock = dict[str, object]


class HistoryEncoder(Record):
    """Builds the ``messages`` of one request; ``transforms`` tells what was changed."""

    def __init__(self, target: Target) -> None:
        super().__init__()
        self._target = target
        self._messages: list[JsonBlock] = []

    def encode(self, turns: Sequence[Turn]) -> list[JsonBlock]:
        """Return the messages of ``turns``.

        Raises:
            UnbuildableError: a block has no form in this dialect.
        """
        for _, turn in paired(turns, self.transforms):
            path = f"messages[{turn.origin_index}]"
            content: list[JsonBlock] = []
            for block in turn.blocks:
                content.extend(self._block(block, path, content))
            self._append("assistant" if turn.role is Role.ASSISTANT else "user", content)
        self._begin_with_user()
        self._trim_prefill()
        return self._messages

    def _append(self, role: str, content: list[JsonBlock]) -> None:
        if not content:
            return
        if self._messages and self._messages[-1]["role"] == role:
            before = self._messages[-1]["content"]
            if isinstance(before, list):
                before.extend(content)
            return
        self._messages.append({"role": role, "content": content})

    def _block(self, block: Block, path: str, before: list[JsonBlock]) -> list[JsonBlock]:
        match block:
            case Text(text=words, cache=cache):
                return self._text(words, cache, path, before)
            case Refusal(text=words):
                return self._text(words, None, path, before)
            case Media():
                return [encode_media(block, path, self.note)]
            case Thinking():
                return self._thinking(block, path)
            case Opaque(rendering=rendering):
                if rendering.strip():
                    self.note("opaque_rendered", TransformAction.FLATTENED, path)
                    return self._text(rendering, None, path, before)
                self.note("opaque_dropped", TransformAction.DROPPED, path)
                return []
            case ToolUse():
                return [self._call(block, path)]
            case ToolResult():
                return [self._result(block, path)]

    def _text(
        self, words: str, cache: CacheMark | None, path: str, before: list[JsonBlock]
    ) -> list[JsonBlock]:
        if words.strip():
            return [_marked({"type": "text", "text": words}, cache)]
        self.note("empty_text_dropped", TransformAction.DROPPED, path)
        if cache is not None and before:
            before[-1].setdefault("cache_control", orjson.Fragment(cache.raw))
        return []

    def _thinking(self, block: Thinking, path: str) -> list[JsonBlock]:
        """Return reasoning that this family issued; other reasoning is never shown to it."""
        own = [entry for entry in block.state if entry.family is self._target.family]
        is_welcome = self._target.facts.reasoning != "none" and not self._target.is_model_switched
        if not own or not is_welcome:
            self.note("thinking_dropped", TransformAction.DROPPED, path)
            return []
        if own[0].kind == "redacted":
            return [{"type": "redacted_thinking", "data": own[0].payload}]
        return [{"type": "thinking", "thinking": block.text, "signature": own[0].payload}]

    def _call(self, call: ToolUse, path: str) -> JsonBlock:
        arguments, is_repaired = as_object(call.arguments)
        if is_repaired:
            self.note("arguments_repaired", TransformAction.PROJECTED, path)
        block: JsonBlock = {
            "type": "tool_use",
            "id": clean_call_id(call.call_id),
            "name": call.name,
            "input": orjson.Fragment(arguments),
        }
        return _marked(block, call.cache)

    def _result(self, result: ToolResult, path: str) -> JsonBlock:
        content = self._result_content(result, path)
        block: JsonBlock = {"type": "tool_result", "tool_use_id": clean_call_id(result.call_id)}
        only = content[0] if len(content) == 1 else None
        is_plain = only is not None and only.keys() == {"type", "text"}
        block["content"] = only["text"] if only is not None and is_plain else content or ""
        if result.is_error:
            block["is_error"] = True
        return _marked(block, result.cache)

    def _result_content(self, result: ToolResult, path: str) -> list[JsonBlock]:
        content: list[JsonBlock] = []
        for inner in result.blocks:
            if isinstance(inner, Opaque):
                words = inner.rendering or inner.raw.decode("utf-8", "replace")
                self.note("opaque_rendered", TransformAction.FLATTENED, path)
                content.append({"type": "text", "text": words})
            else:
                content.extend(self._block(inner, path, content))
        return content

    def _begin_with_user(self) -> None:
        if not self._messages or self._messages[0]["role"] != "user":
            self.note("first_turn_synthesised", TransformAction.SYNTHESISED, "messages")
            opening = [{"type": "text", "text": CONTINUE_TEXT}]
            self._messages.insert(0, {"role": "user", "content": opening})

    def _trim_prefill(self) -> None:
        """Remove blanks at the end of a final assistant text: the dialect refuses them."""
        last = self._messages[-1]
        content = last["content"]
        if last["role"] != "assistant" or not isinstance(content, list):
            return
        block = content[-1]
        words = block.get("text")
        if isinstance(words, str) and words != words.rstrip():
            block["text"] = words.rstrip()
            self.note("prefill_trimmed", TransformAction.PROJECTED, "messages")


def _marked(block: JsonBlock, cache: CacheMark | None) -> JsonBlock:
    if cache is not None:
        block["cache_control"] = orjson.Fragment(cache.raw)
    return block
