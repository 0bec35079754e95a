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
from tests.fakes.upstream.gemini import GeminiDialect
from tests.fakes.upstream.openai_chat import CREATED_UNIX_S, OpenAIChatDialect
from tests.fakes.upstream.openai_responses import OpenAIResponsesDialect
from tests.fakes.upstream.sending import cut, send_body, send_stream
from tests.fakes.upstream.values import Family, RecordedRequest, Scenario, Usage


@dataclass(frozen=True, slots=True)
class Route:
    """One wire API: paths that generate or count, and who answers; any prefix is accepted."""

    dialect: Dialect
    family: Family
    generates: re.Pattern[str]
    counts: re.Pattern[str] | None = None


MESSAGES = Route(
    AnthropicDialect(),
    Family.ANTHROPIC,
    re.compile(r"/messages/?$"),
    re.compile(r"/messages/count_tokens/?$"),
)
CHAT = Route(OpenAIChatDialect(), Family.OPENAI, re.compile(r"/chat/completions/?$"))
RESPONSES = Route(
    OpenAIResponsesDialect(),
    Family.OPENAI,
    re.compile(r"/responses/?$"),
    re.compile(r"/responses/input_tokens/?$"),
)
GEMINI = Route(
    GeminiDialect(),
    Family.GEMINI,
    re.compile(r"/models/.+:(generateContent|streamGenerateContent)$"),
    re.compile(r"/models/.+:countTokens$"),
)
ROUTES = (MESSAGES, CHAT, RESPONSES, GEMINI)
MODELS = re.compile(r"/models/?$")
FRAME_END = re.compile(rb"(?<=\n\n)|(?<=\n\r\n)")
REQUEST_IDS = {Family.ANTHROPIC: "request-id", Family.OPENAI: "x-request-id"}
"""Header that names a request; one vendor sends none."""
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
        dialect = route_of(request).dialect
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
            return await _send_json(http, request, _model_list(request, self.models))
        route = route_of(request)
        if request.method == "POST" and route.counts and route.counts.search(request.path):
            counted = dialect.count(_count_tokens(request)) or {}
            return await _send_json(http, request, counted)
        if request.method != "POST" or not route.generates.search(request.path):
            return await self._refuse(http, request, dialect, 404)
        if route is GEMINI and request.is_streamed and request.query.get("alt") != "sse":
            return await self._refuse(http, request, dialect, 400)
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
        is_timed = self.voice.stamp
        return await send_stream(http, request, frames, error, delay, headers, is_timed=is_timed)

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


def route_of(request: RecordedRequest) -> Route:
    """Return the wire API that a request speaks; on paths that all share, its headers tell."""
    for route in ROUTES:
        patterns = (route.generates, route.counts)
        if any(pattern and pattern.search(request.path) for pattern in patterns):
            return route
    if "anthropic-version" in request.headers:
        return MESSAGES
    return GEMINI if "x-goog-api-key" in request.headers else CHAT


def _headers(request: RecordedRequest, content_type: str) -> dict[str, str]:
    fault = request.fault
    headers = {"Content-Type": fault.content_type or content_type}
    name = REQUEST_IDS.get(route_of(request).family)
    if name is not None:
        headers[name] = make_id(seed_of(request), "req_")
    if fault.retry_after is not None:
        headers["Retry-After"] = str(fault.retry_after)
    return {**headers, **fault.headers}


async def _send_json(
    http: web.Request, request: RecordedRequest, body: Mapping[str, object]
) -> web.StreamResponse:
    raw = b"{not json" if request.fault.bad_json else orjson.dumps(body)
    return await send_body(http, request, raw, _headers(request, JSON))


def _frames_of(literal: bytes) -> list[bytes]:
    return [part for part in FRAME_END.split(literal) if part]


def _count_tokens(request: RecordedRequest) -> int:
    usage: Usage | None = request.fault.usage
    return usage.input if usage else max(1, len(request.body) // 4)


def _model_list(request: RecordedRequest, models: Sequence[str]) -> Mapping[str, object]:
    if route_of(request) is GEMINI:
        listed = [{"name": f"models/{model}", "displayName": model} for model in models]
        return {"models": listed}
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
