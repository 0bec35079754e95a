"""Whole Messages answers, to and from the canonical form."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import orjson

from services.domain.vocab import WireFamily
from services.domain.wire.anthropic.blocks import decode_content
from services.domain.wire.anthropic.stops import stop_name, stop_of
from services.domain.wire.anthropic.usage import UsageCount, seed_usage, usage_member
from services.domain.wire.arguments import as_object
from services.domain.wire.assemble import without_half_call
from services.domain.wire.model import (
    Refusal,
    Response,
    Text,
    Thinking,
    ToolUse,
    WireError,
)
from services.domain.wire.reading import dump, mapping, text
from services.domain.wire.scanner import scan
from services.domain.wire.state.kept import NONCE
from services.domain.wire.state.sealing import clean_id, has_state

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.domain.wire.model import Block, ProviderState, RenderContext
    from services.domain.wire.scanner import Plan

_PLAN: Plan = {"content": {"*": {}}}
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")


def clean_call_id(call_id: str) -> str:
    """Return a call id in the characters that this dialect allows; calls and results alike."""
    return _ILLEGAL.sub("_", call_id)


class CallIds:
    """Ids of one answer's calls as its client sees them.

    Some upstreams number their calls anew in every turn, and clients drop what they take for a
    repeat: each id gets a short suffix of the answer. An id that came back with a suffix keeps it
    and never grows.
    """

    def __init__(self, nonce: str) -> None:
        self._suffix = "_n" + hashlib.sha256(nonce.encode("utf-8", "replace")).hexdigest()[:6]
        self._given: set[str] = set()
        self._last_numbers: dict[str, int] = {}

    def show(self, call_id: str) -> str:
        """Return the id to show for ``call_id``: legal, and unique in this answer.

        State that it carries stays behind it.
        """
        own = clean_id(call_id)
        carried = call_id[len(own) :] if has_state(call_id) else ""
        clean = clean_call_id(own) or "call"
        shown = base = clean if NONCE.search(clean) else clean + self._suffix
        while shown in self._given:
            number = self._last_numbers[base] = self._last_numbers.get(base, 1) + 1
            shown = f"{base}-{number}"
        self._given.add(shown)
        return shown + carried


def decode_response(body: bytes) -> Response:
    """Return the canonical form of a whole Messages answer.

    Raises:
        WireError: the body is no answer: unreadable, an error envelope, or without content.
    """
    document = scan(body, _PLAN)
    kind = document.value("type")
    if kind == "error" or (kind != "message" and document.value("error") is not None):
        raise WireError("error", "the upstream answered with an error body")
    content = document.member("content")
    if content is None or not isinstance(content.value, list):
        raise WireError("content", "must be an array of blocks")
    usage = UsageCount()
    return Response(
        id=text(document.value("id")),
        model=text(document.value("model")),
        blocks=decode_content(content, "content"),
        stop=stop_of(mapping(document.root.value)),
        usage=usage.add(document.value("usage")),
    )


def encode_response(response: Response, context: RenderContext) -> bytes:
    """Return a whole Messages answer for the client, under the catalog's model id."""
    message_id = context.new_id("msg_")
    content = _content(without_half_call(response.blocks, response.stop), CallIds(message_id))
    has_tool_use = any(block["type"] == "tool_use" for block in content)
    usage = response.usage or seed_usage(None, context.estimated_input_tokens)
    return dump(
        {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": context.model_id,
            "content": content,
            "stop_reason": stop_name(response.stop, has_tool_use=has_tool_use),
            "stop_sequence": response.stop.sequence,
            "usage": usage_member(usage),
        }
    )


def _content(blocks: Iterable[Block], ids: CallIds) -> list[dict[str, object]]:
    content: list[dict[str, object]] = []
    for block in blocks:
        if isinstance(block, ToolUse):
            if block.name:
                content.append(_tool_use(block, ids))
        else:
            content.extend(_words(block))
    return content


def _tool_use(block: ToolUse, ids: CallIds) -> dict[str, object]:
    arguments, _ = as_object(block.arguments)
    return {
        "type": "tool_use",
        "id": ids.show(block.call_id),
        "name": block.name,
        "input": orjson.Fragment(arguments),
    }


def _words(block: Block) -> list[dict[str, object]]:
    """Return the block of text or thinking; none for blank text and for what is not shown."""
    match block:
        case Text(text=words) | Refusal(text=words) if words.strip():
            return [{"type": "text", "text": words}]
        case Thinking(text=words, state=state):
            return _thinking(words, state)
        case _:
            return []


def _thinking(words: str, state: tuple[ProviderState, ...]) -> list[dict[str, object]]:
    own = [entry for entry in state if entry.family is WireFamily.ANTHROPIC]
    if own and own[0].kind == "redacted":
        return [{"type": "redacted_thinking", "data": own[0].payload}]
    signature = own[0].payload if own else ""
    if not words and not signature:
        return []
    return [{"type": "thinking", "thinking": words, "signature": signature}]
