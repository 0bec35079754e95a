"""The control endpoint, for tests that run the fake provider as a process of its own.

`/_ctl/rules`     POST one rule or a list (appended), GET, DELETE
`/_ctl/scenario`  PUT, GET, DELETE
`/_ctl/log`       GET what was recorded, DELETE
`/_ctl/stats`     GET counts
Rules and scenarios are written like their dataclasses; unknown keys are refused with 400.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Protocol

import orjson
from aiohttp import web
from pydantic import TypeAdapter, ValidationError

from tests.fakes.upstream.values import RecordedRequest, Rule, Scenario

RULES: TypeAdapter[list[Rule]] = TypeAdapter(list[Rule])
SCENARIO: TypeAdapter[Scenario] = TypeAdapter(Scenario)


class Controlled(Protocol):
    """What the control endpoint may read and change."""

    rules: list[Rule]
    scenario: Scenario
    requests: list[RecordedRequest]
    aborted: int
    open_streams: int
    peak_streams: int
    seen: int


def add_control_routes(app: web.Application, upstream: Controlled) -> None:
    """Add the routes under `/_ctl/` that steer `upstream`."""
    control = _Control(upstream)
    for name, answer in (
        ("rules", control.rules),
        ("scenario", control.scenario),
        ("log", control.log),
        ("stats", control.stats),
    ):
        app.router.add_route("*", f"/_ctl/{name}", answer)


class _Control:
    def __init__(self, upstream: Controlled) -> None:
        self._upstream = upstream

    async def rules(self, http: web.Request) -> web.Response:
        if http.method == "DELETE":
            self._upstream.rules.clear()
        elif http.method == "POST":
            raw = await http.read()
            listed = raw if raw.lstrip().startswith(b"[") else b"[" + raw + b"]"
            try:
                self._upstream.rules.extend(RULES.validate_json(listed))
            except ValidationError as error:
                return web.Response(status=400, text=str(error))
        return _json(RULES.dump_json(self._upstream.rules))

    async def scenario(self, http: web.Request) -> web.Response:
        if http.method == "DELETE":
            self._upstream.scenario = Scenario()
        elif http.method == "PUT":
            try:
                self._upstream.scenario = SCENARIO.validate_json(await http.read())
            except ValidationError as error:
                return web.Response(status=400, text=str(error))
        return _json(SCENARIO.dump_json(self._upstream.scenario))

    async def log(self, http: web.Request) -> web.Response:
        if http.method == "DELETE":
            self._upstream.requests.clear()
        return _json(orjson.dumps([_entry(request) for request in self._upstream.requests]))

    async def stats(self, http: web.Request) -> web.Response:
        requests = self._upstream.requests
        body = {
            "seen": self._upstream.seen,
            "aborted": self._upstream.aborted,
            "open_streams": self._upstream.open_streams,
            "peak_streams": self._upstream.peak_streams,
            "paths": Counter(f"{request.method} {request.path}" for request in requests),
            "status": Counter(str(request.status) for request in requests if request.status),
        }
        return _json(orjson.dumps(body))


def _entry(request: RecordedRequest) -> Mapping[str, object]:
    return {
        "number": request.number,
        "method": request.method,
        "path": request.path,
        "query": request.query,
        "headers": request.headers,
        "key": request.key,
        "model": request.model,
        "streamed": request.is_streamed,
        "body": request.body.decode(errors="replace"),
        "started": request.started,
        "ended": request.ended,
        "ending": request.ending.value if request.ending else None,
        "status": request.status,
        "events": request.events,
    }


def _json(body: bytes) -> web.Response:
    return web.Response(body=body, content_type="application/json")
