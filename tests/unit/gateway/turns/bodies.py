"""Synthetic requests in the shape that clients send, and what is read from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson

from gateway.turns import client_of, turn_type_of
from services.domain.vocab import TurnType, WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.features import features_of
from services.domain.wire.model import Request

MESSAGES = WireFamily.ANTHROPIC
CHAT = WireFamily.OPENAI_CHAT

CLAUDE = {"x-app": "cli", "user-agent": "claude-cli/2.1.197 (external, cli)"}
CODEX = {"user-agent": "codex_exec/0.171.0 (Debian 12.0.0; x86_64)"}
ROOT_AGENT = "/root"
"""Name that Codex gives the agent of its main loop; those of others follow it."""
OPENCODE = {"user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4.0.23"}

BILLING = "x-anthropic-billing-header: cc_version=2.1.197.b58; cc_entrypoint=cli;"
TOOL: Mapping[str, object] = {"name": "read", "input_schema": {"type": "object"}}
CHAT_TOOL: Mapping[str, object] = {
    "type": "function",
    "function": {"name": "read", "parameters": {"type": "object"}},
}
TITLE_SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}}


def user(*texts: str) -> dict[str, object]:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


def assistant(text: str) -> dict[str, object]:
    return {"role": "assistant", "content": text}


def tool_round(*texts: str) -> list[dict[str, object]]:
    use = {"type": "tool_use", "id": "t1", "name": "read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    extra = [{"type": "text", "text": text} for text in texts]
    return [
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result, *extra]},
    ]


def messages_body(
    messages: Sequence[Mapping[str, object]], **members: object
) -> tuple[WireFamily, bytes]:
    body = {"model": "m", "max_tokens": 64000, "messages": messages, **members}
    return MESSAGES, orjson.dumps({key: value for key, value in body.items() if value is not None})


def chat_body(
    messages: Sequence[Mapping[str, object]], **members: object
) -> tuple[WireFamily, bytes]:
    return CHAT, orjson.dumps({"model": "m", "messages": messages, **members})


def decoded(made: tuple[WireFamily, bytes]) -> Request:
    family, body = made
    return codec_for(family).decode_request(body)


def typed(made: tuple[WireFamily, bytes], headers: Mapping[str, str] | None = None) -> TurnType:
    family, body = made
    request = decoded(made)
    client = client_of(headers or {}, family)
    return turn_type_of(request, features_of(request, len(body)), client)
