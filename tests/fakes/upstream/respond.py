"""Chooses the answer to one request by its path and its fault, and sends it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson
from aiohttp import web

from tests.fakes.upstream.answer import Voice, decide, make_id, seed_of
from tests.fakes.upstream.anthropic import AnthropicDialect
from tests.fakes.upstream.dialect import Dialect
from tests.fakes.upstream.openai_chat import CREATED_UNIX_S, OpenAIChatDialect
from tests.fakes.upstream.sending import cut, send_body, send_stream
from tests.fakes.upstream.values import Family, RecordedRequest, Scenario, Usage

ANTHROPIC = AnthropicDialect()
OPENAI_CHAT = OpenAIChatDialect()

GENERATION: Sequence[tuple[re.Pattern[str], Dialect]] = (
    (re.compile(r"/messages/?$"), ANTHROPIC),
    (re.compile(r"/chat/completions/?$"), OPENAI_CHAT),
)
"""Paths that generate, and the dialect that answers; any prefix is accepted."""

COUNT_TOKENS = re.compile(r"/messages/count_tokens/?$")
MODELS = re.compile(r"/models/?$")
JSON = "application/json"
EVENT_STREAM = "text/event-stream; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Reply:
    """Everything that the answers of one server have in common."""

    scenario: Scenario
    voice: Voice
    models: Sequence[str]

    async def send(self, http: web.Request, request: RecordedRequest) -> web.StreamResponse:
        """Answer `request` as its fault says, and return the response."""
        fault = request.fault
        await asyncio.sleep(fault.delay)
        if fault.drop:
            return cut(http, request, web.Response(status=500))
        dialect = _dialect_of(request)
        literal = fault.literal_body()
        if literal is not None and fault.status < 400 and request.is_streamed:
            return await self._stream(http, request, dialect, _frames_of(literal))
        if literal is not None:
            return await send_body(http, request, literal, _headers(request, JSON))
        if fault.status >= 400:
            return await self._refuse(http, request, dialect, fault.status)
        return await self._succeed(http, request, dialect)

    async def _succeed(
        self, http: web.Request, request: RecordedRequest, dialect: Dialect
    ) -> web.StreamResponse:
        if request.method == "GET" and MODELS.search(request.path):
            return await _send_json(http, request, _model_list(self.models))
        if request.method == "POST" and COUNT_TOKENS.search(request.path):
            return await _send_json(http, request, {"input_tokens": _count_tokens(request)})
        if request.method != "POST" or not any(p.search(request.path) for p, _ in GENERATION):
            return await self._refuse(http, request, dialect, 404)
        answer = decide(request, request.fault, self.scenario, self.voice)
        if request.is_streamed:
            return await self._stream(http, request, dialect, dialect.stream(answer))
        return await _send_json(http, request, dialect.full(answer))

    async def _stream(
        self, http: web.Request, request: RecordedRequest, dialect: Dialect, frames: Iterable[bytes]
    ) -> web.StreamResponse:
        fault = request.fault
        error = dialect.stream_error(fault.error_type, fault.message or "injected in-stream error")
        delay = self.voice.chunk_delay if fault.chunk_delay is None else fault.chunk_delay
        headers = {"Cache-Control": "no-cache", **_headers(request, EVENT_STREAM)}
        return await send_stream(http, request, frames, error, delay, headers)

    async def _refuse(
        self, http: web.Request, request: RecordedRequest, dialect: Dialect, status: int
    ) -> web.StreamResponse:
        fault = request.fault
        error = dialect.error(status, fault.error_type, fault.message or f"injected {status}")
        if status == fault.status:
            return await send_body(http, request, orjson.dumps(error), _headers(request, JSON))
        return web.Response(
            status=status, body=orjson.dumps(error), headers=_headers(request, JSON)
        )


def family_of(request: RecordedRequest) -> Family:
    """Return the family whose headers and errors a request expects."""
    if COUNT_TOKENS.search(request.path) or "anthropic-version" in request.headers:
        return Family.ANTHROPIC
    return Family.ANTHROPIC if GENERATION[0][0].search(request.path) else Family.OPENAI


def _dialect_of(request: RecordedRequest) -> Dialect:
    for pattern, dialect in GENERATION:
        if pattern.search(request.path):
            return dialect
    return ANTHROPIC if family_of(request) is Family.ANTHROPIC else OPENAI_CHAT


def _headers(request: RecordedRequest, content_type: str) -> dict[str, str]:
    fault = request.fault
    name = "request-id" if family_of(request) is Family.ANTHROPIC else "x-request-id"
    headers = {
        "Content-Type": fault.content_type or content_type,
        name: make_id(seed_of(request), "req_"),
    }
    if fault.retry_after is not None:
        headers["Retry-After"] = str(fault.retry_after)
    return {**headers, **fault.headers}


async def _send_json(
    http: web.Request, request: RecordedRequest, body: Mapping[str, object]
) -> web.StreamResponse:
    raw = b"{not json" if request.fault.bad_json else orjson.dumps(body)
    return await send_body(http, request, raw, _headers(request, JSON))


def _frames_of(literal: bytes) -> list[bytes]:
    return [part + b"\n\n" for part in literal.split(b"\n\n") if part]


def _count_tokens(request: RecordedRequest) -> int:
    usage: Usage | None = request.fault.usage
    return usage.input if usage else max(1, len(request.body) // 4)


def _model_list(models: Sequence[str]) -> Mapping[str, object]:
    return {
        "object": "list",
        "has_more": False,
        "first_id": models[0] if models else None,
        "last_id": models[-1] if models else None,
        "data": [
            {
                "id": model,
                "object": "model",
                "type": "model",
                "display_name": model,
                "created": CREATED_UNIX_S,
                "created_at": "2023-11-14T22:13:20Z",
                "owned_by": "fake",
            }
            for model in models
        ],
    }
