"""LangChain's chat models, one per dialect."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping

from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)
from langchain_core.messages.ai import add_ai_message_chunks
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from services.domain.vocab import WireFamily
from tests.e2e.talkers.talker import MAX_TOKENS, SCHEMA, TOOL, OpenTalker, Place
from tests.unit.domain.wire.recorded.answers import Told, Usage

OFFERED = {
    "type": "function",
    "function": {"name": TOOL, "description": "Tells the weather.", "parameters": dict(SCHEMA)},
}
STOPS = ("stop_reason", "finish_reason", "status")
"""Where LangChain says why an answer ended, by dialect."""


class LangChainTalker:
    """Talks through a chat model of LangChain, whatever its dialect."""

    def __init__(self, model: BaseChatModel, *, is_streamed: bool) -> None:
        self._model = model.bind_tools([OFFERED])
        self._is_streamed = is_streamed
        self._said: list[BaseMessage] = []

    async def ask(self, words: str, image: str = "") -> Told:
        """Say something and return the answer."""
        parts: list[str | dict[str, object]] = [{"type": "text", "text": words}]
        if image:
            parts.append({"type": "image", "base64": image, "mime_type": "image/png"})
        self._said.append(HumanMessage(content=parts))
        return await self._listen()

    async def answer(self, result: str) -> Told:
        """Answer every call of the last answer and return what comes of it."""
        last = self._said[-1]
        assert isinstance(last, AIMessage)
        for call in last.tool_calls:
            self._said.append(ToolMessage(result, tool_call_id=call["id"], name=call["name"]))
        return await self._listen()

    async def _listen(self) -> Told:
        message = await self._message()
        self._said.append(message)
        return _told(message)

    async def _message(self) -> AIMessage:
        if not self._is_streamed:
            return await self._model.ainvoke(self._said)
        stream = self._model.astream(self._said)
        chunks = [chunk async for chunk in stream if isinstance(chunk, AIMessageChunk)]
        return add_ai_message_chunks(*chunks)


def _told(message: AIMessage) -> Told:
    usage = message.usage_metadata
    assert usage is not None
    prompt, answered = usage.get("input_token_details", {}), usage.get("output_token_details", {})
    thoughts = [block for block in message.content_blocks if block["type"] == "reasoning"]
    told = message.response_metadata
    return Told(
        text=message.text,
        thinking="".join(block.get("reasoning", "") for block in thoughts),
        calls=tuple((call["name"], call["args"]) for call in message.tool_calls),
        stop=next((str(told[name]) for name in STOPS if name in told), ""),
        usage=Usage(
            usage["input_tokens"],
            prompt.get("cache_read") or 0,
            usage["output_tokens"],
            answered.get("reasoning") or 0,
        ),
        call_ids=tuple(call["id"] or "" for call in message.tool_calls),
        model=told.get("model_name", ""),
    )


def _messages(place: Place) -> BaseChatModel:
    return ChatAnthropic(
        model_name=place.model,
        base_url=place.url,
        api_key=SecretStr(place.key),
        max_tokens_to_sample=MAX_TOKENS,
        max_retries=0,
        timeout=30.0,
        stop=None,
    )


def _chat(place: Place) -> BaseChatModel:
    return ChatOpenAI(
        model=place.model,
        base_url=f"{place.url}/v1",
        api_key=SecretStr(place.key),
        max_completion_tokens=MAX_TOKENS,
        max_retries=0,
        stream_usage=True,
    )


def _responses(place: Place) -> BaseChatModel:
    return ChatOpenAI(
        model=place.model,
        base_url=f"{place.url}/v1",
        api_key=SecretStr(place.key),
        max_completion_tokens=MAX_TOKENS,
        max_retries=0,
        use_responses_api=True,
        store=False,
    )


def _gemini(place: Place) -> BaseChatModel:
    return ChatGoogleGenerativeAI(
        model=place.model,
        base_url=place.url,
        api_key=SecretStr(place.key),
        max_output_tokens=MAX_TOKENS,
        max_retries=0,
        include_thoughts=True,
    )


def _opening(model_at: Callable[[Place], BaseChatModel]) -> OpenTalker:
    @contextlib.asynccontextmanager
    async def open_talker(place: Place) -> AsyncIterator[LangChainTalker]:
        yield LangChainTalker(model_at(place), is_streamed=place.is_streamed)

    return open_talker


LANGCHAIN: Mapping[WireFamily, OpenTalker] = {
    WireFamily.ANTHROPIC: _opening(_messages),
    WireFamily.OPENAI_CHAT: _opening(_chat),
    WireFamily.OPENAI_RESPONSES: _opening(_responses),
    WireFamily.GEMINI: _opening(_gemini),
}
