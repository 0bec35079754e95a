"""Messages and their parts as each dialect writes them: what is made up, and what was written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.scanner import scan
from services.handover.policy.history import Speaker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.handover.policy.history import Message

_GEMINI_ROLES = {Speaker.USER: "user", Speaker.ASSISTANT: "model"}


def said(family: WireFamily, speaker: Speaker, words: str) -> str:
    """Return a message of the user's or the assistant's that holds nothing but ``words``."""
    if family is WireFamily.GEMINI:
        return json.dumps({"role": _GEMINI_ROLES[speaker], "parts": [{"text": words}]})
    return json.dumps({"role": speaker.value, "content": words})


def message_of(family: WireFamily, role: str, parts: Sequence[str]) -> str:
    """Return a message of these parts, each as it is written."""
    return f'{{"role":"{role}","{_member(family)}":[{",".join(parts)}]}}'


def text_part(family: WireFamily, words: str) -> str:
    """Return a part that holds text."""
    return wrapped(family, json.dumps(words))


def wrapped(family: WireFamily, string_source: str) -> str:
    """Return a part that holds a text, which is written as JSON already."""
    if family is WireFamily.GEMINI:
        return f'{{"text":{string_source}}}'
    kind = "input_text" if family is WireFamily.OPENAI_RESPONSES else "text"
    return f'{{"type":"{kind}","text":{string_source}}}'


def raw_parts(family: WireFamily, message: Message) -> list[str]:
    """Return the content of a message as parts, each as it was written; blank texts are none."""
    name = _member(family)
    content = scan(message.node.raw, {name: {"*": {}}}).root.members.get(name)
    if content is None or content.value is None:
        return []
    if isinstance(content.value, str):
        return [wrapped(family, content.source)] if content.value.strip() else []
    return [
        item.source if isinstance(item.value, dict) else wrapped(family, item.source)
        for item in content.items
    ]


def _member(family: WireFamily) -> str:
    return "parts" if family is WireFamily.GEMINI else "content"
