"""Looks at what a user needs in order to be served, and says what is wrong with it.

What cannot be looked at because something before it is wrong is left out.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import orjson
import typer

from services.cli import output
from services.cli.options import AsJson, ConfigFile
from services.cli.reaching import DEFAULT_SERVER, KEY_VARIABLE, checked_key
from services.runtime.launch import EXIT_FAILED, StartError
from services.runtime.sources import SERVER_VARIABLE, ConfigError

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


def doctor(
    server: Annotated[
        str, typer.Option(envvar=SERVER_VARIABLE, help="Address of the router.")
    ] = DEFAULT_SERVER,
    config: ConfigFile = None,
    *,
    json: AsJson = False,
) -> None:
    """Look at configuration, router, key, dialects and client programs; exit 1 names each fault.

    The router key is that in POINTSMAN_KEY. Nothing is sent to a provider.
    """
    found = asyncio.run(_examined(server, config))
    rows = [{"check": each.check, "ok": each.ok, "said": each.said} for each in found]
    if json:
        output.as_json_text(rows)
    else:
        output.table(rows)
    if not all(each.ok for each in found):
        raise typer.Exit(EXIT_FAILED)


async def _examined(server: str, config: Path | None) -> list[Finding]:
    found = [await _looked("configuration", _configuration(config))]
    found += [each async for each in _router(server)]
    return found + [each async for each in _clients()]


async def _looked(check: str, look: Awaitable[str]) -> Finding:
    try:
        return Finding(check, ok=True, said=await look)
    except (ConfigError, StartError, OSError) as error:
        return Finding(check, ok=False, said=str(error))


async def _configuration(config: Path | None) -> str:
    from services.cli.configuring import verdict

    return await asyncio.to_thread(verdict, config)


async def _router(server: str) -> AsyncIterator[Finding]:
    from services.cli.asking import addressed

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
    from services.cli.asking import asking

    try:
        async with asking(server, checked_key(os.environ.get(KEY_VARIABLE, ""))) as asker:
            models = await _models(asker)
            yield Finding("key", ok=True, said=f"{len(models)} models can serve")
            for surface in DIALECTS:
                yield await _looked(surface, _decided(asker, surface, models[0]))
    except (ConfigError, StartError) as error:
        yield Finding("key", ok=False, said=str(error))


async def _models(asker: Asker) -> tuple[str, ...]:
    from services.cli.surveying import served_models

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
    from services.cli.clients.wiring import PROGRAMS

    for program in PROGRAMS:
        found = await _looked(program.name, _client(program))
        if found.said:
            yield found


async def _client(program: Program) -> str:
    """Return where a program is led; empty: it is not wired."""
    from services.cli.asking import asking
    from services.cli.clients.wiring import wiring_of
    from services.cli.surveying import served_models

    wiring = wiring_of(program)
    if wiring is None:
        return ""
    async with asking(wiring.address, wiring.key) as asker:
        await served_models(asker)
    return f"asks {wiring.address}"
