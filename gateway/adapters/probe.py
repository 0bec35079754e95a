"""Whether a peer answers: asked every few seconds, never by a call that costs anything."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import grpc
from pointsman.common.v1 import info_pb2, info_pb2_grpc

from services.runtime.background import ended, in_background
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from services.runtime.channel import Channel
    from services.runtime.clock import Clock

PROBE_EVERY_S = 5.0
PROBE_TIMEOUT_S = 1.0

_log = get_logger("gateway")


class PeerProbe:
    """Keeps asking one peer what it is; a change of state is logged once."""

    def __init__(
        self, name: str, channel: Channel, clock: Clock, *, is_needed: bool = True
    ) -> None:
        self.name = name
        self.is_needed = is_needed
        """Whether the gateway is not ready without it."""
        self.is_up = False
        """Whether the last question was answered."""
        self._stub = info_pb2_grpc.InfoServiceStub(channel)
        self._clock = clock
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to ask."""
        self._task = in_background(self._ask_for_ever(), f"probe-{self.name}")

    async def aclose(self) -> None:
        """Ask no more."""
        await ended(self._task)

    async def _ask_for_ever(self) -> None:
        while True:
            is_up = await self._ask()
            if is_up != self.is_up:
                _log.info("peer_up" if is_up else "peer_down", peer=self.name)
            self.is_up = is_up
            await self._clock.sleep(PROBE_EVERY_S if is_up else PROBE_TIMEOUT_S)

    async def _ask(self) -> bool:
        try:
            await self._stub.GetInfo(info_pb2.GetInfoRequest(), timeout=PROBE_TIMEOUT_S)
        except grpc.aio.AioRpcError:
            return False
        return True
