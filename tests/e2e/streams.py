"""Reads streams as they come, frame by frame, and judges how they end."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import httpx
import orjson

from services.domain.vocab import WireFamily
from tests.e2e.conversations import PATHS, body
from tests.e2e.deployments import Deployment

JSON = {"content-type": "application/json"}


@dataclass(slots=True)
class Stream:
    """One streamed answer, as far as it was read."""

    dialect: WireFamily
    response: httpx.Response
    raw: bytearray = field(default_factory=bytearray)

    async def read_frames(self, count: int) -> None:
        """Read until `count` frames are here; fails when the stream ends before."""
        async for piece in self._pieces:
            self.raw += piece
            if self.raw.count(b"\n\n") >= count:
                return
        message = f"the stream ended after {self.raw!r}"
        raise AssertionError(message)

    async def read_to_end(self) -> None:
        """Read what is left; a connection that breaks fails the test."""
        async for piece in self._pieces:
            self.raw += piece

    @property
    def is_whole(self) -> bool:
        """Tell whether the answer has its dialect's terminal frame, and no error."""
        if self.error is not None:
            return False
        end = b"event: message_stop" if self.dialect is WireFamily.ANTHROPIC else b"data: [DONE]"
        return end in bytes(self.raw).split(b"\n\n")[-2]

    @property
    def error(self) -> Mapping[str, object] | None:
        """Return the error of the stream's error frame; every frame must be whole and valid."""
        assert self.raw.endswith(b"\n\n"), self.raw[-200:]
        found = [error for frame in bytes(self.raw).split(b"\n\n")[:-1] for error in _errors(frame)]
        assert len(found) <= 1, found
        return found[0] if found else None

    @property
    def _pieces(self) -> AsyncIterator[bytes]:
        if self._iterator is None:
            self._iterator = self.response.aiter_raw()
        return self._iterator

    _iterator: AsyncIterator[bytes] | None = None


def _errors(frame: bytes) -> list[Mapping[str, object]]:
    """Return the error that a frame carries, as a list of one or none."""
    lines = [line.partition(b":") for line in frame.split(b"\n")]
    payload = b"\n".join(value.strip() for name, _, value in lines if name == b"data")
    if payload in (b"", b"[DONE]"):
        return []
    value = orjson.loads(payload)
    error = value.get("error")
    return [error] if isinstance(error, dict) else []


@contextlib.asynccontextmanager
async def streaming(
    deployment: Deployment, dialect: WireFamily, model: str, **headers: str
) -> AsyncIterator[Stream]:
    """Ask for a streamed answer; gives it once its headers are here."""
    asked = orjson.dumps(body(dialect, model, streamed=True))
    async with (
        deployment.client(**headers) as client,
        client.stream("POST", PATHS[dialect], content=asked, headers=JSON) as response,
    ):
        yield Stream(dialect, response)


async def ask(
    deployment: Deployment, dialect: WireFamily, model: str, **headers: str
) -> httpx.Response:
    """Return the whole answer to one request that asks for no stream."""
    async with deployment.client(**headers) as client:
        asked = orjson.dumps(body(dialect, model))
        return await client.post(PATHS[dialect], content=asked, headers=JSON)
