"""One conversation in both dialects, as request bodies: first turn, tool turn, second turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import orjson

from services.domain.vocab import WireFamily
from tests.fakes.upstream import FakeUpstream, ToolCall

Body = dict[str, object]

PATHS: Mapping[WireFamily, str] = {
    WireFamily.ANTHROPIC: "/v1/messages",
    WireFamily.OPENAI_CHAT: "/v1/chat/completions",
}
DIALECTS = tuple(PATHS)
TOOL = "get_weather"
CITY = {"city": "Oslo"}
SCHEMA: Body = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CALL = ToolCall(TOOL, CITY)
WEATHER = "Sun all day"
FIRST_WORDS = "alpha beta gamma delta "
"""What the fake says when it was told nothing."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request of a conversation."""

    turn: str
    dialect: WireFamily
    body: Body

    @property
    def path(self) -> str:
        """Return where it goes."""
        return PATHS[self.dialect]

    @property
    def content(self) -> bytes:
        """Return the bytes of its body."""
        return orjson.dumps(self.body)


def script(upstream: FakeUpstream) -> None:
    """Let the provider forget what was, and call the tool wherever it is offered."""
    upstream.clear()
    upstream.say(None, CALL)


def asks(dialect: WireFamily, model: str, *, streamed: bool) -> Iterator[Ask]:
    """Yield every request of the conversation."""
    messages = _MESSAGES_TURNS if dialect is WireFamily.ANTHROPIC else _CHAT_TURNS
    for turn, history in messages.items():
        yield Ask(turn, dialect, body(dialect, model, history, streamed=streamed))


def body(
    dialect: WireFamily,
    model: str,
    history: list[dict[str, object]] | None = None,
    *,
    streamed: bool = False,
) -> Body:
    """Return the body of one request; its tool is offered once the history speaks of weather."""
    history = history or [{"role": "user", "content": "Hello"}]
    asked: Body = {"model": model, "max_tokens": 256, "messages": history}
    if any("weather" in str(message["content"]) for message in history):
        asked["tools"] = [MESSAGES_TOOL if dialect is WireFamily.ANTHROPIC else CHAT_TOOL]
    if streamed:
        asked["stream"] = True
        if dialect is WireFamily.OPENAI_CHAT:
            asked["stream_options"] = {"include_usage": True}
    return asked


MESSAGES_TOOL: Body = {"name": TOOL, "description": "Tells the weather", "input_schema": SCHEMA}
CHAT_TOOL: Body = {
    "type": "function",
    "function": {"name": TOOL, "description": "Tells the weather", "parameters": SCHEMA},
}

_OPENING: list[Body] = [{"role": "user", "content": "Hello"}]
_ASKED: list[Body] = [
    *_OPENING,
    {"role": "assistant", "content": FIRST_WORDS},
    {"role": "user", "content": "How is the weather?"},
]
_MESSAGES_RESULT: list[Body] = [
    *_ASKED,
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "toolu_1", "name": TOOL, "input": CITY}],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": WEATHER}],
    },
]
_CHAT_RESULT: list[Body] = [
    *_ASKED,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": TOOL, "arguments": orjson.dumps(CITY).decode()},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": WEATHER},
]
_THANKS: list[Body] = [
    {"role": "assistant", "content": "Sunny."},
    {"role": "user", "content": "Thank you. Anything else?"},
]

_MESSAGES_TURNS: Mapping[str, list[Body]] = {
    "first": _OPENING,
    "call": _ASKED,
    "result": _MESSAGES_RESULT,
    "second": [*_MESSAGES_RESULT, *_THANKS],
}
_CHAT_TURNS: Mapping[str, list[Body]] = {
    "first": _OPENING,
    "call": _ASKED,
    "result": _CHAT_RESULT,
    "second": [*_CHAT_RESULT, *_THANKS],
}
