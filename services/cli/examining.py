"""Looks at what a user needs in order to be served.

What cannot be looked at because something before it is wrong is left out.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import orjson

from services.cli.asking import addressed, asking
from services.cli.clients.wiring import PROGRAMS, wiring_of
from services.cli.configuring import verdict
from services.cli.reaching import KEY_VARIABLE, checked_key
from services.cli.surveying import served_models
from services.runtime.launch import StartError
from services.runtime.sources import ConfigError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Mapping
    from pathlib import Path

    from services.cli.asking import Asker
    from services.cli.clients.model import Program

MOST_SKEW_S = 60.0
"""Clocks further apart make expiries and resets of windows wrong."""
SAID = "Hello"
DIALECTS: Mapping[str, dict[str, object]] = {
    "anthropic": {"max_tokens": 1024, "messages": [{"role": "user", "content": SAID}]},
    "openai_chat": {"messages": [{"role": "user", "content": SAID}]},
    "openai_responses": {"input": SAID},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": SAID}]}]},
}
"""A request of every surface, without its model."""

NO_MODEL = "no model can serve: set the api_key of a provider, or add [[credentials]]"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, and what it is like or what to do about it."""

    check: str
    ok: bool
    said: str


async def examined(server: str, config: Path | None) -> list[Finding]:
    """Return what was found, each thing before those that need it."""
    found = [await _looked("configuration", _configuration(config))]
    found += [each async for each in _router(server)]
    return found + [each async for each in _clients()]


async def _looked(check: str, look: Awaitable[str]) -> Finding:
    try:
        return Finding(check, ok=True, said=await look)
    except (ConfigError, StartError, OSError) as error:
        return Finding(check, ok=False, said=str(error))


async def _configuration(config: Path | None) -> str:
    return await asyncio.to_thread(verdict, config)


async def _router(server: str) -> AsyncIterator[Finding]:
    async with addressed(server, {}) as asker:
        router = await _looked("router", _version(asker))
        yield router
        if not router.ok:
            return
        yield await _looked("clock", _clock(asker))
        yield await _looked("parts", _parts(asker))
    async for each in _holder(server):
        yield each


async def _holder(server: str) -> AsyncIterator[Finding]:
    """Look at what the holder of the key gets."""
    try:
        async with asking(server, checked_key(os.environ.get(KEY_VARIABLE, ""))) as asker:
            models = await _models(asker)
            yield Finding("key", ok=True, said=f"{len(models)} models can serve")
            for surface in DIALECTS:
                yield await _looked(surface, _decided(asker, surface, models[0]))
    except (ConfigError, StartError) as error:
        yield Finding("key", ok=False, said=str(error))


async def _models(asker: Asker) -> tuple[str, ...]:
    models = await served_models(asker)
    if not models:
        raise StartError(NO_MODEL)
    return models


async def _version(asker: Asker) -> str:
    answered = await asker.get("/v1/version")
    return f"{answered.document.get('version')} at {asker.server}"


async def _clock(asker: Asker) -> str:
    theirs = parsedate_to_datetime((await asker.get("/health")).headers["date"])
    skew_s = abs((datetime.now(UTC) - theirs).total_seconds())
    if skew_s > MOST_SKEW_S:
        raise StartError(f"differs from the router's by {skew_s:.0f} s: set both by NTP")
    return "as the router's"


async def _parts(asker: Asker) -> str:
    status, answered = await asker.look("/readyz")
    needs = answered.document.get("needs")
    states = needs if isinstance(needs, dict) else {}
    if status != 200:
        down = ", ".join(name for name, state in states.items() if state != "up")
        raise StartError(f"down: {down}; their /readyz and logs say why")
    return "up: " + ", ".join(states)


async def _decided(asker: Asker, surface: str, model: str) -> str:
    named = {} if surface == "gemini" else {"model": model}
    query = urlencode({"surface": surface, "model": model})
    found = await asker.post(f"/v1/route?{query}", orjson.dumps(DIALECTS[surface] | named))
    return f"{found.document.get('model')} at {found.document.get('provider')} would serve"


async def _clients() -> AsyncIterator[Finding]:
    for program in PROGRAMS:
        found = await _looked(program.name, _client(program))
        if found.said:
            yield found


async def _client(program: Program) -> str:
    """Return where a program is led; empty: it is not wired."""
    wiring = wiring_of(program)
    if wiring is None:
        return ""
    async with asking(wiring.address, wiring.key) as asker:
        await served_models(asker)
    return f"asks {wiring.address}"
