"""The sandbox provider: a small HTTP server on loopback that answers both dialects.

It exists so that the product can be tried without a key. It asks nobody, keeps nothing but the
digests of prompt prefixes, and refuses requests that carry a credential.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import orjson
from aiohttp import web

from services.embedded.sandbox import render
from services.embedded.sandbox.prompt import Prompt, read_chat, read_messages
from services.embedded.sandbox.render import Reply
from services.embedded.sandbox.script import answer
from services.embedded.sandbox.usage import PromptCache, token_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MODELS = ("sandbox-large", "sandbox-small")
MAX_BODY_BYTES = 64 * 1024 * 1024
CREDENTIAL_HEADERS = ("authorization", "x-api-key")


class Sandbox:
    """Serves on a free loopback port between ``start`` and ``aclose``."""

    def __init__(self) -> None:
        self._cache = PromptCache()
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_post("/v1/messages", self._messages)
        app.router.add_post("/v1/messages/count_tokens", self._count_tokens)
        app.router.add_post("/v1/chat/completions", self._chat)
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
        return await self._serve(
            request,
            read_messages,
            is_automatic=False,
            whole=render.message,
            events=render.message_events,
            error=render.message_error,
        )

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(
            request,
            read_chat,
            is_automatic=True,
            whole=render.completion,
            events=render.completion_events,
            error=render.completion_error,
        )

    async def _serve(
        self,
        request: web.Request,
        read: Callable[[Mapping[str, object]], Prompt],
        *,
        is_automatic: bool,
        whole: Callable[[Reply], Mapping[str, object]],
        events: Callable[[Reply], Iterator[bytes]],
        error: Callable[[int, str], Mapping[str, object]],
    ) -> web.StreamResponse:
        if any(request.headers.get(name) for name in CREDENTIAL_HEADERS):
            return _json(error(403, "the sandbox takes no requests with a credential"), 403)
        raw = await request.read()
        body = _body(raw)
        if body is None:
            return _json(error(400, "the body is not a JSON object"), 400)
        prompt = read(body)
        if prompt.model not in MODELS:
            return _json(error(404, f"no such model; there are {' and '.join(MODELS)}"), 404)
        given = answer(prompt)
        if given.error_status:
            return _json(error(given.error_status, "the sandbox was told to"), given.error_status)
        reply = Reply(
            id=hashlib.sha256(raw).hexdigest()[:16],
            model=prompt.model,
            answer=given,
            tokens=self._cache.count(prompt.model, prompt.segments, is_automatic=is_automatic),
            is_usage_wanted=prompt.is_usage_wanted,
        )
        if not prompt.is_stream:
            return _json(whole(reply), 200)
        return await _stream(request, events(reply))

    async def _count_tokens(self, request: web.Request) -> web.Response:
        body = _body(await request.read())
        if body is None:
            return _json(render.message_error(400, "the body is not a JSON object"), 400)
        count = sum(token_count(segment) for segment in read_messages(body).segments)
        return _json({"input_tokens": count}, 200)


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
