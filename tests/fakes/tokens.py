"""A token endpoint on a real loopback socket: rotates, refuses, fails and waits as it is told."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

from aiohttp import web

LIFE_S = 3_600


@dataclass(frozen=True, slots=True)
class Asked:
    """One question that came."""

    refresh_token: str
    fields: Mapping[str, str]
    is_form: bool


@dataclass(slots=True)
class TokenIssuer:
    """Gives a new pair for each live refresh token; a used one is refused, as issuers do."""

    live: set[str] = field(default_factory=lambda: {"R1"})
    asked: list[Asked] = field(default_factory=list)
    is_rotating: bool = True
    life_s: int | None = LIFE_S
    failure: tuple[int, Mapping[str, object]] | None = None
    """Status and body of every answer; None: it works."""
    hold: asyncio.Event | None = None
    """Questions wait for it before anything happens."""
    answer_hold: asyncio.Event | None = None
    """Answers wait for it after the rotation."""
    is_dropping: bool = False
    """Whether it closes connections in the place of an answer, after the rotation."""
    mark: str = ""
    """Beginning of every token that it gives."""
    is_forgiving: bool = False
    """Whether a used token may be used again."""
    url: str = ""
    _names: itertools.count[int] = field(default_factory=lambda: itertools.count(2))
    _runner: web.AppRunner | None = None

    async def __aenter__(self) -> TokenIssuer:
        app = web.Application()
        app.router.add_post("/token", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{port}/token"
        return self

    async def __aexit__(self, *_: object) -> None:
        for gate in (self.hold, self.answer_hold):
            if gate is not None:
                gate.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        is_form = request.content_type == "application/x-www-form-urlencoded"
        given = await request.post() if is_form else await request.json()
        fields = {str(name): str(value) for name, value in given.items()}
        token = fields.get("refresh_token", "")
        self.asked.append(Asked(token, fields, is_form))
        if self.hold is not None:
            await self.hold.wait()
            if request.transport is None or request.transport.is_closing():
                raise web.HTTPRequestTimeout  # who asked is gone, and nothing was done
        if self.failure is not None:
            return web.json_response(self.failure[1], status=self.failure[0])
        if token not in self.live:
            return web.json_response({"error": "invalid_grant"}, status=400)
        answer: dict[str, object] = {"token_type": "Bearer"}
        number = next(self._names)
        answer["access_token"] = f"{self.mark}access-{number}"
        answer["id_token"] = f"{self.mark}id-{number}"
        if self.life_s is not None:
            answer["expires_in"] = self.life_s
        if self.is_rotating:
            spent = set() if self.is_forgiving else {token}
            fresh = f"{self.mark}R{number}"
            self.live = (self.live - spent) | {fresh}
            answer["refresh_token"] = fresh
        if self.answer_hold is not None:
            await self.answer_hold.wait()
        if self.is_dropping and request.transport is not None:
            request.transport.abort()
        return web.json_response(answer)
