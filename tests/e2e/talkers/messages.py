"""The Anthropic SDK."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from anthropic import APIStatusError, AsyncAnthropic
from anthropic.types import ContentBlock, Message, MessageParam, ToolParam

from tests.e2e.talkers.talker import MAX_TOKENS, SCHEMA, TOOL, Place, Refused
from tests.unit.domain.wire.recorded.answers import Told, Usage

OFFERED: ToolParam = {
    "name": TOOL,
    "description": "Tells the weather.",
    "input_schema": dict(SCHEMA),
}


class MessagesTalker:
    """Talks Messages."""

    def __init__(self, client: AsyncAnthropic, place: Place) -> None:
        self._client = client
        self._place = place
        self._said: list[MessageParam] = []
        self._last: list[ContentBlock] = []

    async def ask(self, words: str, image: str = "") -> Told:
        """Say something and return the answer."""
        if image:
            self._said.append(
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": words},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": image},
                        },
                    ],
                }
            )
        else:
            self._said.append({"role": "user", "content": words})
        return await self._listen()

    async def answer(self, result: str) -> Told:
        """Answer every call of the last answer and return what comes of it."""
        self._said.append(
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": block.id, "content": result}
                    for block in self._last
                    if block.type == "tool_use"
                ],
            }
        )
        return await self._listen()

    async def _listen(self) -> Told:
        try:
            message = await self._message()
        except APIStatusError as error:
            raise _refused(error) from error
        self._last = message.content
        self._said.append({"role": "assistant", "content": message.content})
        return _told(message)

    async def _message(self) -> Message:
        place = self._place
        if not place.is_streamed:
            return await self._client.messages.create(
                model=place.model, max_tokens=MAX_TOKENS, messages=self._said, tools=[OFFERED]
            )
        async with self._client.messages.stream(
            model=place.model, max_tokens=MAX_TOKENS, messages=self._said, tools=[OFFERED]
        ) as stream:
            return await stream.get_final_message()


def _refused(error: APIStatusError) -> Refused:
    """Return what was refused; the SDK gives the stream's own status to an error inside it."""
    return Refused(None if error.status_code == 200 else error.status_code, str(error.body))


def _told(message: Message) -> Told:
    blocks = message.content
    calls = [block for block in blocks if block.type == "tool_use"]
    usage = message.usage
    cached = usage.cache_read_input_tokens or 0
    prompt = usage.input_tokens + cached + (usage.cache_creation_input_tokens or 0)
    return Told(
        text="".join(block.text for block in blocks if block.type == "text"),
        thinking="".join(block.thinking for block in blocks if block.type == "thinking"),
        calls=tuple((call.name, dict(call.input)) for call in calls),
        stop=str(message.stop_reason),
        usage=Usage(prompt, cached, usage.output_tokens, None),
        call_ids=tuple(call.id for call in calls),
        model=message.model,
    )


@contextlib.asynccontextmanager
async def open_messages(place: Place) -> AsyncIterator[MessagesTalker]:
    """Give a talker that closes its connections in the end."""
    async with AsyncAnthropic(base_url=place.url, api_key=place.key, max_retries=0) as client:
        yield MessagesTalker(client, place)
