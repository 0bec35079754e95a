"""The sandbox provider: a small HTTP server on loopback that answers in every dialect.

It exists so that the product can be tried without a key. It asks nobody, keeps nothing but the
digests of prompt prefixes, and refuses requests that carry a credential.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import orjson
from aiohttp import web

from services.embedded.sandbox import chat, gemini, messages, responses
from services.embedded.sandbox.reply import Reply
from services.embedded.sandbox.script import answer
from services.embedded.sandbox.usage import PromptCache, token_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from services.embedded.sandbox.prompt import Prompt

MODELS = ("sandbox-large", "sandbox-small")
MAX_BODY_BYTES = 64 * 1024 * 1024
CREDENTIAL_HEADERS = ("authorization", "x-api-key", "x-goog-api-key")


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How one dialect is read and written."""

    read: Callable[[Mapping[str, object]], Prompt]
    whole: Callable[[Reply], Mapping[str, object]]
    events: Callable[[Reply], Iterator[bytes]]
    error: Callable[[int, str], Mapping[str, object]]
    is_automatic: bool = True
    """Whether prompts are cached without marks of the client's."""


_MESSAGES = _Dialect(
    messages.read, messages.whole, messages.events, messages.error, is_automatic=False
)
_CHAT = _Dialect(chat.read, chat.whole, chat.events, chat.error)
_RESPONSES = _Dialect(responses.read, responses.whole, responses.events, responses.error)
_GEMINI = _Dialect(gemini.read, gemini.whole, gemini.events, gemini.error)


class Sandbox:
    """Serves on a free loopback port between ``start`` and ``aclose``."""

    def __init__(self) -> None:
        self._cache = PromptCache()
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_post("/v1/messages", self._messages)
        app.router.add_post("/v1/messages/count_tokens", self._count_tokens)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/responses", self._responses)
        app.router.add_post("/v1/responses/input_tokens", self._input_tokens)
        app.router.add_post("/v1beta/models/{name:.+}", self._gemini)
        app.router.add_get("/v1/models", _models)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
        self.port = 0

    async def start(self) -> None:
        """Listen.

        Raises:
            OSError: loopback cannot be bound.
        """
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def aclose(self) -> None:
        """End what runs and close the port."""
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self.port}"

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, _MESSAGES)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, _CHAT)

    async def _responses(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, _RESPONSES)

    async def _gemini(self, request: web.Request) -> web.StreamResponse:
        model, _, action = request.match_info["name"].rpartition(":")
        if action == "countTokens":
            return await _counted(request, _GEMINI, "totalTokens")
        is_stream = action == "streamGenerateContent"

        def read(body: Mapping[str, object]) -> Prompt:
            return replace(gemini.read(body), model=model, is_stream=is_stream)

        return await self._serve(request, replace(_GEMINI, read=read))

    async def _serve(self, request: web.Request, dialect: _Dialect) -> web.StreamResponse:
        error = dialect.error
        if any(request.headers.get(name) for name in CREDENTIAL_HEADERS):
            return _json(error(403, "the sandbox takes no requests with a credential"), 403)
        raw = await request.read()
        body = _body(raw)
        if body is None:
            return _json(error(400, "the body is not a JSON object"), 400)
        prompt = dialect.read(body)
        if prompt.model not in MODELS:
            return _json(error(404, f"no such model; there are {' and '.join(MODELS)}"), 404)
        given = answer(prompt)
        if given.error_status:
            return _json(error(given.error_status, "the sandbox was told to"), given.error_status)
        reply = Reply(
            id=hashlib.sha256(raw).hexdigest()[:16],
            model=prompt.model,
            answer=given,
            tokens=self._cache.count(
                prompt.model, prompt.segments, is_automatic=dialect.is_automatic
            ),
            is_usage_wanted=prompt.is_usage_wanted,
        )
        if not prompt.is_stream:
            return _json(dialect.whole(reply), 200)
        return await _stream(request, dialect.events(reply))

    async def _count_tokens(self, request: web.Request) -> web.Response:
        return await _counted(request, _MESSAGES, "input_tokens")

    async def _input_tokens(self, request: web.Request) -> web.Response:
        return await _counted(request, _RESPONSES, "input_tokens")


async def _counted(request: web.Request, dialect: _Dialect, name: str) -> web.Response:
    body = _body(await request.read())
    if body is None:
        return _json(dialect.error(400, "the body is not a JSON object"), 400)
    asked = body.get("generateContentRequest")
    prompt = dialect.read(asked if isinstance(asked, dict) else body)
    return _json({name: sum(token_count(segment) for segment in prompt.segments)}, 200)


async def _models(_: web.Request) -> web.Response:
    rows = [
        {"id": name, "object": "model", "type": "model", "display_name": name} for name in MODELS
    ]
    return _json({"object": "list", "data": rows, "has_more": False}, 200)


async def _stream(request: web.Request, events: Iterator[bytes]) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
    )
    await response.prepare(request)
    for event in events:
        await response.write(event)
    await response.write_eof()
    return response


def _body(raw: bytes) -> Mapping[str, object] | None:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _json(body: Mapping[str, object], status: int) -> web.Response:
    headers = {"Retry-After": "1"} if status in (429, 503, 529) else None
    return web.Response(
        body=orjson.dumps(body), status=status, headers=headers, content_type="application/json"
    )
