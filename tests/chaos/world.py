"""The deployment under test: one fake provider that plays every place, and a product before it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import orjson

from services.domain.vocab import WireFamily
from tests.chaos.schedules import LANES, PLACES, Schedule
from tests.e2e import deployments
from tests.e2e.deployments import Deployment
from tests.e2e.faults import DISPATCH, asked
from tests.e2e.settings import ROUTER_KEY, Wishes
from tests.fakes.upstream import FakeUpstream, Match, RecordedRequest

_BASES = {WireFamily.OPENAI_CHAT: "/v1", WireFamily.OPENAI_RESPONSES: "/v1"}
_STAND_IN = {
    WireFamily.ANTHROPIC: WireFamily.OPENAI_CHAT,
    WireFamily.OPENAI_CHAT: WireFamily.GEMINI,
    WireFamily.OPENAI_RESPONSES: WireFamily.ANTHROPIC,
    WireFamily.GEMINI: WireFamily.OPENAI_RESPONSES,
}
"""Whose dialect the model speaks that may stand in."""


@dataclass(slots=True)
class Seen:
    """What a client saw of one answer, and what its providers were asked meanwhile."""

    status: int
    content_type: str
    raw: bytes
    is_left: bool
    requests: list[RecordedRequest]


@dataclass(slots=True)
class World:
    """A running product, its provider and its clients."""

    deployment: Deployment
    fake: FakeUpstream
    session: aiohttp.ClientSession

    async def play(self, schedule: Schedule) -> Seen:
        """Ask once while the providers do what ``schedule`` says."""
        mark = f"schedule-{schedule.number}-"
        rules = []
        for place, faults in schedule.faults.items():
            match = Match(model=f"^{place}-", body=mark)
            for turn, fault in enumerate(faults, 1):
                times = None if turn == len(faults) else 1
                rules.append(self.fake.script(fault, times=times, match=match))
        try:
            status, kind, raw, is_left = await self._ask(schedule, mark)
        finally:
            for rule in rules:
                self.fake.rules.remove(rule)
        told = mark.encode()
        requests = [request for request in self.fake.requests if told in request.body]
        return Seen(status, kind, raw, is_left, requests)

    async def _ask(self, schedule: Schedule, mark: str) -> tuple[int, str, bytes, bool]:
        model_id = f"m-{schedule.upstream.value}-{schedule.lane}"
        path, body = asked(schedule.client, model_id, is_stream=schedule.is_stream)
        body = body.replace(b"Hello", mark.encode())
        raw, limit = bytearray(), schedule.leaves_after_bytes
        async with self.session.post(
            self.deployment.url + path, data=body, headers={"content-type": "application/json"}
        ) as answer:
            kind = answer.headers.get("content-type", "")
            async for piece in answer.content.iter_any():
                raw += piece
                if limit is not None and len(raw) > limit:
                    answer.close()
                    return answer.status, kind, bytes(raw), True
            return answer.status, kind, bytes(raw), False


@contextlib.asynccontextmanager
async def running(home: Path) -> AsyncIterator[World]:
    """Run the product in one process, with a provider at hand for every place and dialect.

    ``home`` is made; it must not be there yet.
    """
    await asyncio.to_thread(home.mkdir)
    async with FakeUpstream(log_limit=100_000) as fake:
        wishes = Wishes(
            dispatch=DISPATCH,
            models="".join(_model(f, lane) for f in WireFamily for lane in range(LANES)),
            tables="".join(
                _provider(place, f, fake.base_url) for place in PLACES for f in WireFamily
            ),
        )
        timeout = aiohttp.ClientTimeout(total=120)
        headers = {"x-router-key": ROUTER_KEY}
        connector = aiohttp.TCPConnector(limit=0)
        async with (
            deployments.embedded(home, fake, wishes) as deployment,
            aiohttp.ClientSession(
                connector=connector, timeout=timeout, headers=headers, auto_decompress=True
            ) as session,
        ):
            yield World(deployment, fake, session)


def _provider(place: str, family: WireFamily, url: str) -> str:
    return (
        f'\n[providers."{place}-{family.value}"]\nfamily = "{family.value}"\n'
        f'base_url = "{url}{_BASES.get(family, "")}"\napi_key = "key-of-{place}"\n'
    )


def _model(family: WireFamily, lane: int) -> str:
    stand_in = _STAND_IN[family]
    spare = f"s-{family.value}-{lane}"
    own = "".join(_binding(place, family, lane) for place in ("x", "y"))
    return (
        f'\n[[models]]\nid = "m-{family.value}-{lane}"\ntier = "mid"\ncontext_window = 200000\n'
        f'fallbacks = ["{spare}"]\n{own}'
        f'\n[[models]]\nid = "{spare}"\ntier = "mid"\ncontext_window = 400000\n'
        + _binding("z", stand_in, lane)
    )


def _binding(place: str, family: WireFamily, lane: int) -> str:
    return (
        f'\n[[models.bindings]]\nprovider = "{place}-{family.value}"\n'
        f'upstream_id = "{place}-{family.value}-{lane}"\n'
        "input_usd_per_mtok = 1.0\noutput_usd_per_mtok = 2.0\n"
    )


def shown(schedule: Schedule) -> str:
    """Return a schedule in one line, for a report."""
    faults = {place: [_brief(each) for each in row] for place, row in schedule.faults.items()}
    kind = "stream" if schedule.is_stream else "whole"
    pair = f"{schedule.client.value}->{schedule.upstream.value}/{schedule.lane} {kind}"
    leaves = schedule.leaves_after_bytes
    return f"#{schedule.number} {pair} leaves={leaves} {orjson.dumps(faults).decode()}"


def _brief(fault: object) -> str:
    plain = repr(type(fault)())
    ours = repr(fault)[:-1].split(", ")
    return ", ".join(part for part in ours if part not in plain)
