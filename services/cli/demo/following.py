"""Follows the decisions of a router over gRPC while the sessions are played."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc
from pointsman.common.v1 import action_pb2
from pointsman.router.v1 import router_pb2, router_pb2_grpc

from services.cli.reaching import unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from services.runtime.launch import StartError

CONNECT_S = 5.0
SETTLE_S = 5.0
MANY = 1_000


@dataclass(frozen=True, slots=True)
class Seen:
    """What became of one action."""

    decision: router_pb2.RouteDecision | None = None
    result: router_pb2.ActionResult | None = None

    @property
    def turn_type(self) -> str:
        """Kind of action that was recognised; empty: not told."""
        if self.decision is None or not self.decision.turn_type:
            return ""
        name = action_pb2.TurnType.Name(self.decision.turn_type)
        return name.removeprefix("TURN_TYPE_").lower()

    @property
    def path(self) -> str:
        """What decided; empty: not told."""
        if self.decision is None or not self.decision.path:
            return ""
        name = router_pb2.DecisionPath.Name(self.decision.path)
        return name.removeprefix("DECISION_PATH_").lower()


class Follower:
    """What was told so far, by action."""

    def __init__(self, stub: router_pb2_grpc.RouterServiceAsyncStub, key: str) -> None:
        self._stub = stub
        self._metadata = (("authorization", f"Bearer {key}"),)
        self._decisions: dict[str, router_pb2.RouteDecision] = {}
        self._results: dict[str, router_pb2.ActionResult] = {}
        self._is_connected = asyncio.Event()
        self._has_news = asyncio.Condition()

    async def dearest_model(self) -> str:
        """Return the servable model of the highest list price, to ask for; empty: there is none."""
        request = router_pb2.ListModelsRequest(page_size=MANY, is_servable_only=True)
        answer = await self._stub.ListModels(request, timeout=CONNECT_S, metadata=self._metadata)
        models = [model for model in answer.models if model.is_routable]
        models.sort(key=lambda model: -model.bindings[0].price.output_micro_usd_per_mtok)
        return models[0].model_id if models else ""

    async def connected(self) -> None:
        """Return once everything that happens is told."""
        async with asyncio.timeout(CONNECT_S):
            await self._is_connected.wait()

    async def seen(self, action_id: str) -> Seen:
        """Return what became of an action, as soon as it is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_S), self._has_news:
                await self._has_news.wait_for(lambda: action_id in self._results)
        return Seen(self._decisions.get(action_id), self._results.get(action_id))

    async def follow(self) -> None:
        """Take in what is told until the caller cancels."""
        watch = router_pb2.WatchDecisionsRequest()
        async for told in self._stub.WatchDecisions(watch, metadata=self._metadata):
            self._is_connected.set()
            async with self._has_news:
                match told.WhichOneof("event"):
                    case "decided":
                        self._decisions[told.decided.action_id] = told.decided
                    case "completed":
                        self._results[told.completed.action_id] = told.completed
                self._has_news.notify_all()


@contextlib.asynccontextmanager
async def following(rpc: str, key: str) -> AsyncIterator[Follower]:
    """Give what follows the router at ``rpc``.

    Raises:
        StartError: it does not answer there, or refuses the key.
    """
    async with grpc.aio.insecure_channel(rpc) as channel:
        follower = Follower(router_pb2_grpc.RouterServiceStub(channel), key)
        task = asyncio.ensure_future(follower.follow())
        try:
            waiting = asyncio.ensure_future(follower.connected())
            await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done() or waiting.exception() is not None:
                waiting.cancel()
                raise _why(rpc, task)
            yield follower
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, grpc.aio.AioRpcError):
                await task


def _why(rpc: str, task: asyncio.Future[None]) -> StartError:
    fault = task.exception() if task.done() and not task.cancelled() else None
    return unreachable(rpc, fault if isinstance(fault, grpc.aio.AioRpcError) else None)
