"""Answers with state, and clients of every dialect that keep, lose or change what they are told."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from typing import TYPE_CHECKING

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.assemble import Assembler, events_of
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import (
    ProviderState,
    RenderContext,
    Response,
    Stop,
    StopReason,
    Target,
    Text,
    Thinking,
    Tool,
    ToolUse,
)
from services.domain.wire.translation import AnswerTranslation

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.domain.wire.model import Block, Request

A, O = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT  # noqa: E741 - the names of the matrix
R, G = WireFamily.OPENAI_RESPONSES, WireFamily.GEMINI
Json = dict[str, object]
TOOL = Tool("function", "find", schema=b'{"type":"object","properties":{"q":{"type":"string"}}}')


def context(numbers: itertools.count[int] | None = None) -> RenderContext:
    """Return a context with counted ids."""
    counted = itertools.count(1) if numbers is None else numbers
    return RenderContext("up-model", 1_700_000_000, lambda p: f"{p}{next(counted)}", tools=(TOOL,))


def target(family: WireFamily, model_id: str = "up-model") -> Target:
    """Return a target that reasons."""
    facts = ModelFacts(reasoning="optional", reasoning_budget=True, reasoning_levels=("low",))
    return Target(family, "p", model_id, "upstream-id", facts, is_vendor=True)


def answer_of(family: WireFamily, payload: str, turn: int = 0) -> Response:
    """Return an answer of a family that thinks, speaks and calls a tool twice."""
    calls = [
        ToolUse(
            f"call_{turn}_{at}_{'0123456789abcdef' * 2}", "find", b'{"q":"%d"}' % (turn * 2 + at)
        )
        for at in range(2)
    ]
    blocks: list[Block] = [Text(f"I look {turn}."), *calls]
    if family is A:
        blocks.insert(0, Thinking(f"hm {turn}", (ProviderState(A, "signature", payload),)))
    elif family is R:
        state = ProviderState(R, "encrypted", payload, item_id=f"rs_{turn}")
        blocks.insert(0, Thinking(f"sum {turn}", (state,)))
    elif family is G:
        state = ProviderState(G, "signature", payload)
        blocks[1] = dataclasses.replace(calls[0], state=(state,))
    return Response(f"up-{turn}", "m", tuple(blocks), Stop(StopReason.TOOL_USE), None)


class Client:
    """A client of one dialect with its history as it keeps it."""

    def __init__(self, family: WireFamily) -> None:
        self.family = family
        self.history: list[Json] = [_user(family)]
        self._numbers = itertools.count(1)

    def hear(self, response: Response, *, is_stream: bool = False) -> AnswerTranslation:
        """Take an answer and answer its calls."""
        there = context(self._numbers)
        translation = AnswerTranslation(self.family, there)
        codec = codec_for(self.family)
        if is_stream:
            assembler = Assembler()
            assembler.feed(translation.feed(events_of(response)))
            assert assembler.response is not None
            shown = assembler.response
        else:
            shown = translation.response(response)
        self._take(json.loads(codec.encode_response(shown, there)))
        return translation

    def change(self, change: Callable[[str], str]) -> None:
        """Change every id of a call, alike wherever it stands."""
        names = ("id", "tool_use_id", "tool_call_id", "call_id")
        self.history = [_changed(each, names, change) for each in self.history]

    def body(self) -> bytes:
        """Return the next request."""
        if self.family is G:
            return json.dumps({"contents": self.history}).encode()
        key = "input" if self.family is R else "messages"
        return json.dumps({"model": "m", "max_tokens": 99, key: self.history}).encode()

    def request(self) -> Request:
        """Return the next request in no dialect."""
        return codec_for(self.family).decode_request(self.body())

    def _take(self, told: Json) -> None:
        take = {A: self._messages, O: self._chat, R: self._responses, G: self._gemini}
        take[self.family](told)

    def _messages(self, told: Json) -> None:
        content = _rows(told["content"])
        self.history.append({"role": "assistant", "content": content})
        ids = [row["id"] for row in content if row["type"] == "tool_use"]
        results = [{"type": "tool_result", "tool_use_id": i, "content": "ok"} for i in ids]
        if results:
            self.history.append({"role": "user", "content": results})

    def _chat(self, told: Json) -> None:
        message = _mapping(_rows(told["choices"])[0]["message"])
        self.history.append(message)
        for call in _rows(message.get("tool_calls") or []):
            self.history.append({"role": "tool", "tool_call_id": call["id"], "content": "ok"})

    def _responses(self, told: Json) -> None:
        items = _rows(told["output"])
        self.history += items
        for item in items:
            if item["type"] == "function_call":
                result = {"type": "function_call_output", "call_id": item["call_id"]}
                self.history.append({**result, "output": "ok"})

    def _gemini(self, told: Json) -> None:
        content = _mapping(_rows(told["candidates"])[0]["content"])
        self.history.append(content)
        calls = [
            _mapping(p["functionCall"]) for p in _rows(content["parts"]) if "functionCall" in p
        ]
        parts = [
            {"functionResponse": {"id": c["id"], "name": c["name"], "response": {"result": "ok"}}}
            for c in calls
        ]
        self.history.append({"role": "user", "parts": parts})


def states_in(body: bytes, family: WireFamily) -> list[str]:
    """Return the payloads that a body of a family holds where its vendor looks for them."""
    request = codec_for(family).decode_request(body)
    return [
        state.payload
        for turn in request.turns
        for block in turn.blocks
        if isinstance(block, Thinking | ToolUse)
        for state in block.state
    ]


def normalised(call_id: str) -> str:
    """Return an id as some clients write it."""
    return re.sub(r"[^a-z0-9]", "_", call_id.casefold())


def _user(family: WireFamily) -> Json:
    if family is G:
        return {"role": "user", "parts": [{"text": "go"}]}
    return {"role": "user", "content": "go"}


def _changed(value: object, names: tuple[str, ...], change: Callable[[str], str]) -> Json:
    return _mapping(_walk(value, names, change))


def _walk(value: object, names: tuple[str, ...], change: Callable[[str], str]) -> object:
    if isinstance(value, list):
        return [_walk(each, names, change) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: change(each)
        if key in names and isinstance(each, str) and "call" in each
        else _walk(each, names, change)
        for key, each in value.items()
    }


def _rows(value: object) -> list[Json]:
    assert isinstance(value, list)
    return value


def _mapping(value: object) -> Json:
    assert isinstance(value, dict)
    return value
