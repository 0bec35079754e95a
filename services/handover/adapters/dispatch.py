"""Models behind the dispatch service."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import grpc
from pointsman.dispatch.v1 import dispatch_pb2_grpc

from services.handover.codec.calls import Answer, order_of
from services.handover.model import CallEnd
from services.runtime.host import VERSION

if TYPE_CHECKING:
    from services.handover.model import Call, Told
    from services.runtime.channel import Channel
    from services.runtime.clock import Clock


class DispatchModels:
    """Asks models through dispatch: one walk per question, never again by itself."""

    def __init__(self, channel: Channel, clock: Clock) -> None:
        self._stub: dispatch_pb2_grpc.DispatchServiceAsyncStub = (
            dispatch_pb2_grpc.DispatchServiceStub(channel)
        )
        self._clock = clock

    async def ask(self, call: Call) -> Told:
        """Return what came of one question; a walk that is left early is cancelled."""
        answer = Answer(call)
        walk = self._stub.Dispatch(order_of(call, VERSION), timeout=call.budget_s)
        try:
            async for part in walk:
                answer.take(part, self._clock.now_unix_s())
        except grpc.aio.AioRpcError as error:
            is_late = error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            return answer.lost(CallEnd.LATE if is_late else CallEnd.UNREACHABLE)
        except asyncio.CancelledError:
            if _is_own_task_cancelled():
                raise
            return answer.lost(CallEnd.UNREACHABLE)
        finally:
            walk.cancel()
        return answer.told()


def _is_own_task_cancelled() -> bool:
    """Return whether it is us who are cancelled, not the call by a server that goes away."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
