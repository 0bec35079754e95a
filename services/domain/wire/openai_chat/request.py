"""A client's chat request as the canonical one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.model import Request, WireError
from services.domain.wire.openai_chat.knobs import (
    limits,
    output_format,
    reasoning,
    sampling,
    tool_choice,
)
from services.domain.wire.openai_chat.tools import decode_tools
from services.domain.wire.openai_chat.turns import Conversation
from services.domain.wire.reading import mapping, text
from services.domain.wire.recent import scan_request

if TYPE_CHECKING:
    from services.domain.wire.scanner import Document, Node, Plan

PLAN: Plan = {
    "messages": {"*": {"content": {"*": {}}, "tool_calls": {"*": {}}}},
    "tools": {"*": {"function": {}}},
    "functions": {"*": {}},
    "response_format": {"json_schema": {}},
    "stream_options": {},
}
"""What is opened for spans: whatever may be re-emitted or edited on its own."""

_KNOWN = frozenset(
    [
        "model",
        "messages",
        "stream",
        "stream_options",
        "tools",
        "functions",
        "tool_choice",
        "function_call",
        "parallel_tool_calls",
        "max_tokens",
        "max_completion_tokens",
        "stop",
        "n",
        "temperature",
        "top_p",
        "top_k",
        "seed",
        "frequency_penalty",
        "presence_penalty",
        "logit_bias",
        "logprobs",
        "top_logprobs",
        "reasoning_effort",
        "response_format",
        "verbosity",
        "user",
    ]
)

_KEPT_AS_WRITTEN = frozenset(["response_format", "stream_options"])
"""Known members that hold more than the canonical form."""


def decode_request(body: bytes) -> Request:
    """Return the canonical form of a client body; unknown members are kept as extras.

    Raises:
        WireError: the body is no readable chat request; names the path.
    """
    document = scan_request(body, PLAN)
    for key in ("messages", "model"):
        if key in document.duplicates:
            raise WireError(key, "comes twice")
    model = document.value("model")
    if not isinstance(model, str) or not model.strip():
        raise WireError("model", "must be the name of a model")
    conversation = Conversation()
    for index, node in enumerate(_messages(document)):
        conversation.add(index, node)
    return Request(
        family=WireFamily.OPENAI_CHAT,
        model=model,
        is_stream=document.value("stream") is True,
        system=tuple(conversation.system),
        turns=tuple(conversation.turns),
        tools=decode_tools(document),
        tool_choice=tool_choice(document),
        limits=limits(document),
        sampling=sampling(document),
        reasoning=reasoning(document),
        output=output_format(document),
        is_stream_usage_wanted=mapping(document.value("stream_options")).get("include_usage")
        is True,
        user=text(document.value("user")),
        extras=tuple(
            (node.key, node.raw) for node in document.root.items if node.key not in _KNOWN
        ),
        native=tuple(
            (node.key, node.raw) for node in document.root.items if node.key in _KEPT_AS_WRITTEN
        ),
    )


def _messages(document: Document) -> list[Node]:
    node = document.member("messages")
    if node is None or not isinstance(node.value, list):
        raise WireError("messages", "must be a list of messages")
    if not node.items:
        raise WireError("messages", "must not be empty")
    return node.items
