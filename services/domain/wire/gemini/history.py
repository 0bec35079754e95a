"""The turns of another dialect's request as contents.

Roles alternate, the first and the last content are a user's, and each group of calls is answered in
the very next content by as many results, in the order of the calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.wire.content import result_text
from services.domain.wire.gemini.media import media_part
from services.domain.wire.gemini.parts import own_signature
from services.domain.wire.gemini.render import call_part, text_part, thought_parts
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
from services.domain.wire.reading import is_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.gemini.render import JsonPart
    from services.domain.wire.model import Block, Turn


class HistoryEncoder(Record):
    """Builds the ``contents`` of one request; ``transforms`` tells what was changed."""

    def __init__(self) -> None:
        super().__init__()
        self._names: dict[str, str] = {}
        self._contents: list[tuple[str, list[JsonPart]]] = []

    def encode(self, turns: Sequence[Turn]) -> list[dict[str, object]]:
        """Return the contents of ``turns``.

        Raises:
            UnbuildableError: a block has no form in this dialect.
        """
        for _, turn in paired(turns, self.transforms):
            path = f"messages[{turn.origin_index}]"
            is_model = turn.role is Role.ASSISTANT
            parts = self._said(turn, path) if is_model else self._asked(turn, path)
            self._append("model" if is_model else "user", parts)
        if self._contents:
            self._begin_with_user()
            self._end_with_user()
        return [{"role": role, "parts": parts} for role, parts in self._contents]

    def _append(self, role: str, parts: list[JsonPart]) -> None:
        if not parts:
            return
        if self._contents and self._contents[-1][0] == role:
            self._contents[-1][1].extend(parts)
        else:
            self._contents.append((role, parts))

    def _said(self, turn: Turn, path: str) -> list[JsonPart]:
        """Return what the model said; the first signature of its calls stands on the first call."""
        parts: list[JsonPart] = []
        calls: list[JsonPart] = []
        for block in turn.blocks:
            if isinstance(block, ToolUse):
                self._names[block.call_id] = block.name
                calls.append(call_part(block))
            else:
                parts += self._block(block, path)
        signed = next((part for part in calls if "thoughtSignature" in part), None)
        if signed is not None:
            calls[0].setdefault("thoughtSignature", signed["thoughtSignature"])
        return parts + calls

    def _asked(self, turn: Turn, path: str) -> list[JsonPart]:
        results: list[JsonPart] = []
        rest: list[JsonPart] = []
        for block in turn.blocks:
            if isinstance(block, ToolResult):
                results.append(self._result(block, path))
                rest += [
                    media_part(inner, path)
                    for inner in block.blocks
                    if isinstance(inner, Media) and not inner.text
                ]
            else:
                rest += self._block(block, path)
        return results + rest

    def _block(self, block: Block, path: str) -> list[JsonPart]:
        match block:
            case Text(text=words) | Refusal(text=words):
                return [text_part(words)] if words.strip() else []
            case Media():
                return [media_part(block, path)]
            case Thinking(text=words, state=state):
                signature = own_signature(state)
                if not signature:
                    self.note("thinking", TransformAction.DROPPED, path)
                return thought_parts(words, signature, is_shown=True) if signature else []
            case Opaque(rendering=rendering):
                is_told = bool(rendering.strip())
                action = TransformAction.PROJECTED if is_told else TransformAction.DROPPED
                self.note("opaque_block", action, path)
                return [text_part(rendering)] if is_told else []
            case _:
                return []

    def _result(self, result: ToolResult, path: str) -> JsonPart:
        """Return the answer of a function: an object, whatever the tool returned."""
        name = result.name or self._names.get(result.call_id, "")
        return result_part(result, name, result_text(result, self, path))

    def _begin_with_user(self) -> None:
        if self._contents[0][0] != "user":
            self._contents.insert(0, ("user", [text_part(CONTINUE_TEXT)]))
            self.note("first_turn", TransformAction.SYNTHESISED, "messages")

    def _end_with_user(self) -> None:
        """Add the user text that stands for continuing a final model turn in place."""
        role, parts = self._contents[-1]
        if role == "user":
            return
        words = parts[-1].get("text")
        if isinstance(words, str):
            parts[-1]["text"] = words.rstrip()
        self._contents.append(("user", [text_part(CONTINUE_TEXT)]))
        self.note("prefill", TransformAction.SYNTHESISED, "messages")


def result_part(result: ToolResult, name: str, words: str) -> JsonPart:
    """Return the part that answers a call; words that are a JSON object are the answer itself."""
    response: object = {"error" if result.is_error else "result": words}
    if not result.is_error and is_object(words):
        response = orjson.Fragment(words.encode("utf-8", "replace"))
    told: dict[str, object] = {"id": result.call_id} if result.call_id else {}
    return {"functionResponse": {**told, "name": name, "response": response}}
