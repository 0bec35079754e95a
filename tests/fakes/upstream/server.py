"""The fake provider itself: a real HTTP server on loopback that records and obeys rules."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

import orjson
from aiohttp import web

from tests.fakes.upstream.answer import Voice
from tests.fakes.upstream.control import add_control_routes
from tests.fakes.upstream.respond import Reply
from tests.fakes.upstream.values import (
    Ending,
    Fault,
    Match,
    RecordedRequest,
    Rule,
    Scenario,
    ToolCall,
)

MAX_BODY_BYTES = 256 * 1024 * 1024
SHUTDOWN_SECONDS = 0.05


class FakeUpstream:
    """A provider on 127.0.0.1 that lives inside `async with`.

    It answers under any path prefix, so `base_url`, `base_url + "/v1"` and any deeper base work.
    `log_limit` bounds `requests`; the oldest are forgotten first.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        voice: Voice | None = None,
        models: Sequence[str] = ("fake-large", "fake-small"),
        log_limit: int = 5000,
    ) -> None:
        self.requests: list[RecordedRequest] = []
        self.rules: list[Rule] = []
        self.scenario = Scenario()
        self.aborted = 0
        """Exchanges that the client ended early."""
        self.open_streams = 0
        """Streamed exchanges that go on now."""
        self.peak_streams = 0
        self.seen = 0
        """Requests since the start, forgotten ones too."""
        self._voice = voice or Voice()
        self._models = tuple(models)
        self._log_limit = log_limit
        self._port = port
        self._runner: web.AppRunner | None = None
        self._changed = asyncio.Event()

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        add_control_routes(app, self)
        app.router.add_route("*", "/{tail:.*}", self._exchange)
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=SHUTDOWN_SECONDS
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=4096).start()
        self._port = int(self._runner.addresses[0][1])
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @property
    def port(self) -> int:
        """Return the port that the server listens on."""
        return self._port

    @property
    def base_url(self) -> str:
        """Return the root URL, without a trailing slash."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def open_connections(self) -> int:
        """Return how many connections are open now, used or kept."""
        server = self._runner.server if self._runner is not None else None
        return len(server.connections) if server is not None else 0

    def script(self, fault: Fault, *, times: int | None = 1, match: Match | None = None) -> Rule:
        """Add a rule after the others and return it; `times=None` answers every request so.

        The first rule that matches and has times left wins, so scripted faults come in order.
        """
        rule = Rule(fault=fault, match=match or Match(), times=times)
        self.rules.append(rule)
        return rule

    def say(self, text: str | None = None, *steps: ToolCall | Sequence[ToolCall]) -> None:
        """Set the scenario: tool calls step by step (a step may list alternatives), then `text`."""
        listed = tuple((step,) if isinstance(step, ToolCall) else tuple(step) for step in steps)
        self.scenario = Scenario(steps=listed, text=text)

    def clear(self) -> None:
        """Forget rules, scenario, recorded requests and counts."""
        self.rules.clear()
        self.requests.clear()
        self.scenario = Scenario()
        self.aborted = self.seen = 0
        self.peak_streams = self.open_streams

    async def wait_until(self, condition: Callable[[], bool], timeout: float = 5.0) -> None:
        """Return when `condition` holds; it is asked after each request and each ending.

        Raises: TimeoutError.
        """
        async with asyncio.timeout(timeout):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def _exchange(self, http: web.Request) -> web.StreamResponse:
        request = await self._record(http)
        if request.is_streamed:
            self.open_streams += 1
            self.peak_streams = max(self.peak_streams, self.open_streams)
        self._changed.set()
        reply = Reply(self.scenario, self._voice, self._models)
        try:
            response = await reply.send(http, request)
        except (ConnectionError, asyncio.CancelledError):
            if request.ending is None:
                request.ending = Ending.CLIENT_ABORTED
                self.aborted += 1
            raise
        else:
            request.status = None if request.fault.drop else response.status
            request.ending = request.ending or Ending.COMPLETE
            return response
        finally:
            request.ended = time.monotonic()
            self.open_streams -= request.is_streamed
            self._changed.set()

    async def _record(self, http: web.Request) -> RecordedRequest:
        started = time.monotonic()
        raw = await http.read()
        self.seen += 1
        request = RecordedRequest(
            number=self.seen,
            method=http.method,
            path=http.path,
            query=dict(http.query),
            headers={name.lower(): value for name, value in http.headers.items()},
            body=raw,
            json=_object_of(raw),
            started=started,
        )
        request.fault = self._pick(request)
        self.requests.append(request)
        del self.requests[: -self._log_limit or len(self.requests)]
        return request

    def _pick(self, request: RecordedRequest) -> Fault:
        for rule in self.rules:
            fault = rule.take(request)
            if fault is not None:
                return fault
        return Fault()


def _object_of(raw: bytes) -> Mapping[str, object]:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
