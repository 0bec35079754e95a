"""A client's request as the canonical one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.model import Opaque, Request, Role, SystemBlock, Text, Turn, WireError
from services.domain.wire.openai_responses.items import ITEM_PLAN, Conversation
from services.domain.wire.openai_responses.knobs import (
    limits,
    output_format,
    reasoning,
    sampling,
    tool_choice,
)
from services.domain.wire.openai_responses.parts import FAMILY
from services.domain.wire.openai_responses.tools import decode_tools
from services.domain.wire.reading import text
from services.domain.wire.recent import scan_request

if TYPE_CHECKING:
    from services.domain.wire.scanner import Document, Plan

PLAN: Plan = {
    "input": {"*": ITEM_PLAN},
    "tools": {"*": {"tools": {"*": {}}}},
    "text": {"format": {}},
    "reasoning": {},
}
"""What is opened for spans: whatever may be re-emitted or edited on its own."""

_KNOWN = frozenset(
    [
        "model",
        "input",
        "instructions",
        "stream",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "max_output_tokens",
        "temperature",
        "top_p",
        "top_logprobs",
        "reasoning",
        "text",
        "user",
    ]
)
_KEPT_AS_WRITTEN = frozenset(["input", "instructions", "reasoning", "text", "tool_choice"])
"""Known members that hold more than the canonical form; of ``input`` a bare string."""

STORED_MEMBERS = ("previous_response_id", "conversation", "prompt")
"""Members that name state which only the provider has that issued it."""
BACKGROUND = "background"
"""Member that asks for an answer which is kept by the provider and fetched later."""


def decode_request(body: bytes) -> Request:
    """Return the canonical form of a client body; unknown members are kept as extras.

    Raises:
        WireError: the body is no readable request of this dialect; names the path.
    """
    document = scan_request(body, PLAN)
    for key in ("input", "model"):
        if key in document.duplicates:
            raise WireError(key, "comes twice")
    model = document.value("model")
    if not isinstance(model, str) or not model.strip():
        raise WireError("model", "must be the name of a model")
    conversation = _conversation(document)
    return Request(
        family=FAMILY,
        model=model,
        is_stream=document.value("stream") is True,
        system=(*_instructions(document), *conversation.system),
        turns=tuple(conversation.turns),
        tools=decode_tools(document),
        tool_choice=tool_choice(document),
        limits=limits(document),
        sampling=sampling(document),
        reasoning=reasoning(document),
        output=output_format(document),
        is_stream_usage_wanted=True,
        user=text(document.value("user")),
        extras=tuple(
            (node.key, node.raw) for node in document.root.items if node.key not in _KNOWN
        ),
        native=tuple(
            (node.key, node.raw)
            for node in document.root.items
            if node.key in _KEPT_AS_WRITTEN and not isinstance(node.value, list)
        ),
    )


def stored_field(request: Request) -> str:
    """Return the member that leans on what only a provider stores; empty: none does.

    A part of the conversation may be known to its provider alone, and an answer that is made in the
    background is kept there.
    """
    if request.family is not FAMILY:
        return ""
    for key, raw in request.extras:
        if key in STORED_MEMBERS and raw != b"null":
            return key
    for turn in request.turns:
        for block in turn.blocks:
            if isinstance(block, Opaque) and block.kind == "item_reference":
                return f"input[{turn.origin_index}]"
    return BACKGROUND if is_background(request) else ""


def is_background(request: Request) -> bool:
    """Return whether the answer is to be made while the client does not wait for it."""
    return request.family is FAMILY and (BACKGROUND, b"true") in request.extras


def _instructions(document: Document) -> tuple[SystemBlock, ...]:
    words = document.value("instructions")
    if words is not None and not isinstance(words, str):
        raise WireError("instructions", "must be a string")
    return (SystemBlock(words, "instructions"),) if words else ()


def _conversation(document: Document) -> Conversation:
    node = document.member("input")
    conversation = Conversation()
    if node is not None and isinstance(node.value, str):
        conversation.turns.append(Turn(Role.USER, (Text(node.value),), 0))
        return conversation
    if node is not None and isinstance(node.value, list) and node.items:
        for index, item in enumerate(node.items):
            conversation.add(index, item)
        conversation.finish()
        return conversation
    is_stored = any(document.value(key) is not None for key in STORED_MEMBERS)
    if is_stored and (node is None or node.value in (None, [])):
        return conversation
    raise WireError("input", "must be a string or a list of items that is not empty")
