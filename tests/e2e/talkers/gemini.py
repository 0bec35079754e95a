"""The Google GenAI SDK."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import AsyncIterator, Sequence

import httpx
from google import genai
from google.genai import errors, types

from tests.e2e.talkers.talker import MAX_TOKENS, TOOL, Place, Refused
from tests.unit.domain.wire.recorded.answers import Told, Usage

DECLARED = types.FunctionDeclaration(
    name=TOOL,
    description="Tells the weather.",
    parameters=types.Schema(
        type=types.Type.OBJECT,
        properties={"city": types.Schema(type=types.Type.STRING)},
        required=["city"],
    ),
)
TOOLS: types.ToolListUnion = [types.Tool(function_declarations=[DECLARED])]
CONFIG = types.GenerateContentConfig(
    tools=TOOLS,
    max_output_tokens=MAX_TOKENS,
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    thinking_config=types.ThinkingConfig(include_thoughts=True),
)


class GeminiTalker:
    """Talks Gemini."""

    def __init__(self, client: genai.client.AsyncClient, place: Place) -> None:
        self._client = client
        self._place = place
        self._said: list[types.ContentUnionDict] = []
        self._last: list[types.FunctionCall] = []

    async def ask(self, words: str, image: str = "") -> Told:
        """Say something and return the answer."""
        parts = [types.Part(text=words)]
        if image:
            raw = base64.b64decode(image)
            parts.append(types.Part.from_bytes(data=raw, mime_type="image/png"))
        self._said.append(types.Content(role="user", parts=parts))
        return await self._listen()

    async def answer(self, result: str) -> Told:
        """Answer every call of the last answer and return what comes of it."""
        answers = [
            types.FunctionResponse(id=call.id, name=call.name, response={"result": result})
            for call in self._last
        ]
        parts = [types.Part(function_response=each) for each in answers]
        self._said.append(types.Content(role="user", parts=parts))
        return await self._listen()

    async def _listen(self) -> Told:
        try:
            answers = await self._answers()
        except errors.APIError as error:
            status = None if self._place.is_streamed and self._is_begun else error.code
            raise Refused(status, error.message or "") from error
        candidates = [answer.candidates[0] for answer in answers if answer.candidates]
        contents = [candidate.content for candidate in candidates if candidate.content]
        parts = [part for content in contents for part in content.parts or ()]
        self._last = [part.function_call for part in parts if part.function_call]
        self._said.append(types.Content(role="model", parts=_whole(parts)))
        finish = candidates[-1].finish_reason
        return _told(answers[-1], parts, "" if finish is None else finish.value)

    async def _answers(self) -> Sequence[types.GenerateContentResponse]:
        models, model = self._client.models, self._place.model
        self._is_begun = False
        if not self._place.is_streamed:
            answer = await models.generate_content(model=model, contents=self._said, config=CONFIG)
            return [answer]
        stream = await models.generate_content_stream(
            model=model, contents=self._said, config=CONFIG
        )
        answers: list[types.GenerateContentResponse] = []
        async for chunk in stream:
            self._is_begun = True
            answers.append(chunk)
        return answers


def _whole(parts: Sequence[types.Part]) -> list[types.Part]:
    """Return the parts that the next request repeats: all but empty texts."""
    return [part for part in parts if part.function_call or part.text or part.thought_signature]


def _told(answer: types.GenerateContentResponse, parts: Sequence[types.Part], finish: str) -> Told:
    usage = answer.usage_metadata
    assert usage is not None
    thoughts = usage.thoughts_token_count or 0
    calls = [part.function_call for part in parts if part.function_call]
    return Told(
        text="".join(part.text or "" for part in parts if not part.thought),
        thinking="".join(part.text or "" for part in parts if part.thought),
        calls=tuple((call.name or "", dict(call.args or {})) for call in calls),
        stop=finish,
        usage=Usage(
            usage.prompt_token_count or 0,
            usage.cached_content_token_count or 0,
            (usage.candidates_token_count or 0) + thoughts,
            thoughts,
        ),
        call_ids=tuple(call.id or "" for call in calls),
        model=answer.model_version or "",
    )


@contextlib.asynccontextmanager
async def open_gemini(place: Place) -> AsyncIterator[GeminiTalker]:
    """Give a talker that closes its connections in the end."""
    async with httpx.AsyncClient(timeout=30.0, trust_env=False) as transport:
        # The SDK's own transport derives its session from aiohttp's, which aiohttp warns of.
        options = types.HttpOptions(base_url=place.url, httpx_async_client=transport)
        async with genai.Client(api_key=place.key, http_options=options).aio as client:
            yield GeminiTalker(client, place)
