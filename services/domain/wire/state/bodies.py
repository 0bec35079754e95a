"""A client's own body without the state that other vendors issued.

A body that goes to its own vendor keeps its bytes, but for what we once gave to the client to keep:
sealed texts in signatures go with the thoughts that they sign, and ids lose what they carry.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.reading import mapping, text
from services.domain.wire.scanner import scan
from services.domain.wire.state.sealing import MARK, clean_id, is_sealed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from services.domain.wire.scanner import Edit, Node, Plan

_MARK = MARK.encode("ascii")
_PARTS: Plan = {
    "functionCall": {},
    "function_call": {},
    "functionResponse": {},
    "function_response": {},
}
_PLANS: Mapping[WireFamily, tuple[str, Plan]] = {
    WireFamily.ANTHROPIC: ("messages", {"*": {"content": {"*": {}}}}),
    WireFamily.OPENAI_CHAT: ("messages", {"*": {"tool_calls": {"*": {}}}}),
    WireFamily.OPENAI_RESPONSES: ("input", {"*": {}}),
    WireFamily.GEMINI: ("contents", {"*": {"parts": {"*": _PARTS}}}),
}
_LISTS = ("content", "parts", "tool_calls")
_IDS = ("id", "tool_use_id", "tool_call_id", "call_id")
_STATES = ("signature", "data", "thoughtSignature", "thought_signature", "encrypted_content")


def without_foreign_state(body: bytes, family: WireFamily) -> bytes:
    """Return a body of ``family`` as its vendor may see it.

    Raises:
        WireError: the body cannot be read.
    """
    if _MARK not in body:
        return body
    key, plan = _PLANS[family]
    document = scan(body, {key: plan})
    turns = document.member(key)
    if turns is None:
        return body
    if family is WireFamily.OPENAI_RESPONSES:
        # Reasoning items go with the ids of what follows them: the codec's own edits see to both.
        return document.splice(_clean_ids(turns.items))
    return document.splice(_edits(turns))


def _edits(turns: Node) -> list[Edit]:
    edits: list[Edit] = []
    emptied: list[Node] = []
    for turn in turns.items:
        if _is_state(turn):
            emptied.append(turn)
            continue
        lists = (turn.members[name] for name in _LISTS if name in turn.members)
        inner = next((each for each in lists if each.items), None)
        items = inner.items if inner is not None else []
        gone = [item for item in items if _is_state(item)]
        if inner is not None and gone and len(gone) == len(items):
            emptied.append(turn)
            continue
        if inner is not None:
            edits += inner.without(gone)
        dropped = {id(item) for item in gone}
        kept = [item for item in items if id(item) not in dropped]
        inside = [turn, *kept, *_inner(kept)]
        edits += _without_state(inside) + _clean_ids(inside)
    return [*edits, *turns.without(emptied)]


def _is_state(node: Node) -> bool:
    """Return whether a thought, an item or a part is there for foreign state alone.

    What a thought says goes with it: no vendor is shown the reasoning of another one.
    """
    value = mapping(node.value)
    if not any(is_sealed(text(value.get(name))) for name in _STATES):
        return False
    is_thought = value.get("type") in ("thinking", "redacted_thinking", "reasoning")
    return is_thought or value.get("thought") is True or value.get("text") == ""


def _inner(items: Iterable[Node]) -> list[Node]:
    return [item.members[name] for item in items for name in _PARTS if name in item.members]


def _without_state(nodes: Iterable[Node]) -> list[Edit]:
    """Return the edits that leave no sealed text in members that hold state."""
    edits: list[Edit] = []
    for node in nodes:
        sealed = [each for each in node.items if each.key in _STATES and is_sealed(_text(each))]
        edits += node.without(sealed)
    return edits


def _clean_ids(nodes: Iterable[Node]) -> list[Edit]:
    ids = [each for node in nodes for each in node.items if each.key in _IDS]
    return [
        each.replaced_by(json.dumps(clean_id(_text(each))))
        for each in ids
        if clean_id(_text(each)) != _text(each)
    ]


def _text(node: Node) -> str:
    return text(node.value)
