"""The OpenAI SDK on Chat Completions."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator

from openai import APIError, APIStatusError, AsyncOpenAI, LengthFinishReasonError
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionFunctionToolParam,
    ChatCompletionMessageFunctionToolCall,
    ChatCompletionMessageParam,
)

from tests.e2e.talkers.talker import MAX_TOKENS, SCHEMA, TOOL, Place, Refused
from tests.unit.domain.wire.recorded.answers import Told, Usage

OFFERED: ChatCompletionFunctionToolParam = {
    "type": "function",
    "function": {"name": TOOL, "description": "Tells the weather.", "parameters": dict(SCHEMA)},
}


class ChatTalker:
    """Talks Chat Completions."""

    def __init__(self, client: AsyncOpenAI, place: Place) -> None:
        self._client = client
        self._place = place
        self._said: list[ChatCompletionMessageParam] = []
        self._last: list[ChatCompletionMessageFunctionToolCall] = []

    async def ask(self, words: str, image: str = "") -> Told:
        """Say something and return the answer."""
        if image:
            url = f"data:image/png;base64,{image}"
            self._said.append(
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": words},
                        {"type": "image_url", "image_url": {"url": url}},
                    ],
                }
            )
        else:
            self._said.append({"role": "user", "content": words})
        return await self._listen()

    async def answer(self, result: str) -> Told:
        """Answer every call of the last answer and return what comes of it."""
        for call in self._last:
            self._said.append({"role": "tool", "tool_call_id": call.id, "content": result})
        return await self._listen()

    async def _listen(self) -> Told:
        try:
            completion = await self._completion()
        except APIStatusError as error:
            raise Refused(error.status_code, error.message) from error
        except APIError as error:
            raise Refused(None, error.message) from error
        message = completion.choices[0].message
        self._last = [
            call
            for call in message.tool_calls or ()
            if isinstance(call, ChatCompletionMessageFunctionToolCall)
        ]
        self._remember(message.content)
        return _told(completion, self._last)

    def _remember(self, content: str | None) -> None:
        if not self._last:
            self._said.append({"role": "assistant", "content": content})
            return
        self._said.append(
            {
                "role": "assistant",
                "content": content,
                "tool_calls": [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {
                            "name": call.function.name,
                            "arguments": call.function.arguments,
                        },
                    }
                    for call in self._last
                ],
            }
        )

    async def _completion(self) -> ChatCompletion:
        place, completions = self._place, self._client.chat.completions
        if not place.is_streamed:
            return await completions.create(
                model=place.model, max_tokens=MAX_TOKENS, messages=self._said, tools=[OFFERED]
            )
        async with completions.stream(
            model=place.model,
            max_tokens=MAX_TOKENS,
            messages=self._said,
            tools=[OFFERED],
            stream_options={"include_usage": True},
        ) as stream:
            try:
                return await stream.get_final_completion()
            except LengthFinishReasonError as cut:
                return cut.completion


def _told(completion: ChatCompletion, calls: list[ChatCompletionMessageFunctionToolCall]) -> Told:
    choice, usage = completion.choices[0], completion.usage
    assert usage is not None
    assert usage.prompt_tokens_details is not None
    assert usage.completion_tokens_details is not None
    extra = choice.message.model_extra or {}
    return Told(
        text=choice.message.content or "",
        thinking=extra.get("reasoning_content") or "",
        calls=tuple((call.function.name, json.loads(call.function.arguments)) for call in calls),
        stop=choice.finish_reason,
        usage=Usage(
            usage.prompt_tokens,
            usage.prompt_tokens_details.cached_tokens or 0,
            usage.completion_tokens,
            usage.completion_tokens_details.reasoning_tokens or 0,
        ),
        call_ids=tuple(call.id for call in calls),
        model=completion.model,
    )


@contextlib.asynccontextmanager
async def open_chat(place: Place) -> AsyncIterator[ChatTalker]:
    """Give a talker that closes its connections in the end."""
    async with AsyncOpenAI(base_url=f"{place.url}/v1", api_key=place.key, max_retries=0) as client:
        yield ChatTalker(client, place)
