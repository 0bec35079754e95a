"""The OpenAI SDK on Responses."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator

from openai import APIError, APIStatusError, AsyncOpenAI
from openai.types.responses import (
    FunctionToolParam,
    Response,
    ResponseFunctionToolCall,
    ResponseInputItemParam,
    ResponseReasoningItem,
)

from tests.e2e.talkers.talker import MAX_TOKENS, SCHEMA, TOOL, Place, Refused
from tests.unit.domain.wire.recorded.answers import Told, Usage

OFFERED: FunctionToolParam = {
    "type": "function",
    "name": TOOL,
    "description": "Tells the weather.",
    "parameters": dict(SCHEMA),
    "strict": False,
}


class ResponsesTalker:
    """Talks Responses, and keeps the conversation itself."""

    def __init__(self, client: AsyncOpenAI, place: Place) -> None:
        self._client = client
        self._place = place
        self._said: list[ResponseInputItemParam] = []
        self._last: list[ResponseFunctionToolCall] = []

    async def ask(self, words: str, image: str = "") -> Told:
        """Say something and return the answer."""
        if image:
            self._said.append(
                {
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": words},
                        {
                            "type": "input_image",
                            "detail": "auto",
                            "image_url": f"data:image/png;base64,{image}",
                        },
                    ],
                }
            )
        else:
            self._said.append({"role": "user", "content": words})
        return await self._listen()

    async def answer(self, result: str) -> Told:
        """Answer every call of the last answer and return what comes of it."""
        for call in self._last:
            self._said.append(
                {"type": "function_call_output", "call_id": call.call_id, "output": result}
            )
        return await self._listen()

    async def _listen(self) -> Told:
        try:
            response = await self._response()
        except APIStatusError as error:
            raise Refused(error.status_code, error.message) from error
        except APIError as error:
            raise Refused(None, error.message) from error
        self._last = [
            item for item in response.output if isinstance(item, ResponseFunctionToolCall)
        ]
        self._said += _as_input(response)
        return _told(response, self._last)

    async def _response(self) -> Response:
        place = self._place
        if not place.is_streamed:
            return await self._client.responses.create(
                model=place.model,
                max_output_tokens=MAX_TOKENS,
                input=self._said,
                tools=[OFFERED],
                store=False,
            )
        events = await self._client.responses.create(
            model=place.model,
            max_output_tokens=MAX_TOKENS,
            input=self._said,
            tools=[OFFERED],
            store=False,
            stream=True,
        )
        last = [event async for event in events][-1]
        if last.type == "response.failed":
            assert last.response.error is not None
            raise Refused(None, last.response.error.message)
        if last.type == "error":
            raise Refused(None, last.message)
        assert last.type in ("response.completed", "response.incomplete")
        return last.response


def _as_input(response: Response) -> list[ResponseInputItemParam]:
    """Return the items of an answer as the next request repeats them."""
    items: list[ResponseInputItemParam] = []
    for item in response.output:
        if isinstance(item, ResponseFunctionToolCall):
            items.append(
                {
                    "type": "function_call",
                    "call_id": item.call_id,
                    "name": item.name,
                    "arguments": item.arguments,
                }
            )
        elif isinstance(item, ResponseReasoningItem):
            items.append(
                {
                    "type": "reasoning",
                    "id": item.id,
                    "summary": [{"type": "summary_text", "text": s.text} for s in item.summary],
                    "encrypted_content": item.encrypted_content,
                }
            )
        elif item.type == "message":
            words = "".join(part.text for part in item.content if part.type == "output_text")
            items.append({"role": "assistant", "content": words})
    return items


def _told(response: Response, calls: list[ResponseFunctionToolCall]) -> Told:
    usage = response.usage
    assert usage is not None
    thoughts = [item for item in response.output if isinstance(item, ResponseReasoningItem)]
    reason = response.incomplete_details.reason if response.incomplete_details else None
    return Told(
        text=response.output_text,
        thinking="".join(part.text for item in thoughts for part in item.summary),
        calls=tuple((call.name, json.loads(call.arguments)) for call in calls),
        stop=" ".join(filter(None, (response.status, reason))),
        usage=Usage(
            usage.input_tokens,
            usage.input_tokens_details.cached_tokens,
            usage.output_tokens,
            usage.output_tokens_details.reasoning_tokens,
        ),
        call_ids=tuple(call.call_id for call in calls),
        model=response.model,
    )


@contextlib.asynccontextmanager
async def open_responses(place: Place) -> AsyncIterator[ResponsesTalker]:
    """Give a talker that closes its connections in the end."""
    async with AsyncOpenAI(base_url=f"{place.url}/v1", api_key=place.key, max_retries=0) as client:
        yield ResponsesTalker(client, place)
