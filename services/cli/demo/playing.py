"""Plays the sample sessions through a router, its own or one that runs."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from services.cli.asking import Asker, asking
from services.cli.demo.bodies import PATHS, Talk
from services.cli.demo.following import Follower, following
from services.cli.demo.report import Played
from services.cli.demo.script import SCRIPTS
from services.cli.demo.stack import LARGE, own_stack
from services.cli.reaching import DEFAULT_SERVER, checked_key
from services.runtime.launch import StartError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from services.cli.demo.script import Script

SESSION_HEADER = "x-session-id"
ACTION_HEADER = "x-router-action-id"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where to play and what to ask for; empty parts: as the demo thinks best."""

    server: str
    rpc: str
    key: str
    model: str
    strategy: str


async def played(wanted: Wanted) -> list[Played]:
    """Return every request and what became of it.

    Raises:
        StartError: there is no router to play through, or it refused a request.
    """
    server, key = wanted.server, wanted.key
    if server or (key and await _is_running(DEFAULT_SERVER, key)):
        return await _play(server or DEFAULT_SERVER, wanted.rpc, checked_key(key), wanted.model)
    async with own_stack(wanted.strategy) as own:
        return await _play(own.server, own.rpc, own.key, wanted.model or LARGE)


async def _is_running(server: str, key: str) -> bool:
    async with asking(server, key) as asker:
        try:
            await asker.get("/health")
        except StartError:
            return False
    return True


async def _play(server: str, rpc: str, key: str, model: str) -> list[Played]:
    async with following(rpc, key) as follower, asking(server, key) as asker:
        asked = model or await follower.dearest_model()
        if not asked:
            raise StartError(f"no model can serve at {server}: give it a provider key")
        return [one for script in SCRIPTS async for one in _session(script, asked, asker, follower)]


async def _session(
    script: Script, model: str, asker: Asker, follower: Follower
) -> AsyncIterator[Played]:
    talk = Talk(script, model)
    headers = {SESSION_HEADER: secrets.token_hex(8)}
    for step in script.steps:
        body = talk.request(step)
        if body is None:
            continue
        answered = await asker.post(PATHS[script.surface], orjson.dumps(body), headers=headers)
        talk.answered(step, answered.document)
        seen = await follower.seen(answered.headers.get(ACTION_HEADER, ""))
        yield Played(script.name, script.surface.value, model, seen)
