"""The dispatch service behind the gateway's port."""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

import grpc
from pointsman.dispatch.v1 import dispatch_pb2, dispatch_pb2_grpc

from gateway.codec import answers, requests
from services.domain.errors import PeerError, Reason, RouterError
from services.runtime import status
from services.runtime.host import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.model import Action, BindingRef, EligibilityRecord, Grant, Part, Plan
    from services.runtime.channel import Channel

    Call = grpc.aio.UnaryStreamCall[dispatch_pb2.DispatchRequest, dispatch_pb2.DispatchResponse]

COUNT_TIMEOUT_S = 10.0


class DispatchClient:
    """Calls dispatch over a channel; never twice for one action.

    ``give_back`` is told of grants whose walk was lost or refused: nobody else reports on them.
    """

    def __init__(self, channel: Channel, give_back: Callable[[Action, Grant], None]) -> None:
        self._stub = dispatch_pb2_grpc.DispatchServiceStub(channel)
        self._give_back = give_back

    def dispatch(
        self,
        action: Action,
        record: EligibilityRecord,
        plan: Plan,
        grant: Grant | None,
        budget_s: float,
    ) -> RunningAnswer:
        """Start the one walk of ``action``."""
        request = requests.dispatch_request(action, record, plan, grant, VERSION)
        lost = _nothing if grant is None else partial(self._give_back, action, grant)
        return RunningAnswer(self._stub.Dispatch(request, timeout=budget_s), lost)

    async def count_tokens(
        self, action: Action, record: EligibilityRecord | None, binding: BindingRef | None
    ) -> int | None:
        """Return dispatch's count; None when it does not answer or refuses."""
        request = requests.count_request(action, record, binding)
        try:
            answer = await self._stub.CountTokens(request, timeout=COUNT_TIMEOUT_S)
        except grpc.aio.AioRpcError:
            return None
        return answer.input_token_count


class RunningAnswer:
    """The parts of one walk; belongs to one reader."""

    def __init__(self, call: Call, lost: Callable[[], None]) -> None:
        self._call = call
        self._lost = lost
        self._ready: deque[dispatch_pb2.DispatchResponse] = deque()

    async def read(self) -> Part | None:
        """Return the next part, or None after the last."""
        while True:
            message = self._ready.popleft() if self._ready else await self._message()
            if message is None:
                return None
            part = answers.part_of(message)
            if part is not None:
                return part

    async def _message(self) -> dispatch_pb2.DispatchResponse | None:
        """Return the next message, whose other parts are then ready; None at the end."""
        try:
            message = await self._call.read()
        except grpc.aio.AioRpcError as error:
            self._lost()
            raise _fault(error) from None
        except asyncio.CancelledError:
            if _is_own_task_cancelled():
                raise
            raise RouterError(
                Reason.DRAINING, "the router is shutting down", retry_after_s=1.0
            ) from None
        if not isinstance(message, dispatch_pb2.DispatchResponse):
            return None
        self._ready.extend(message.more)
        return message

    def cancel(self) -> None:
        """End the walk."""
        self._call.cancel()


def _nothing() -> None:
    """Give nothing back."""


def _fault(error: grpc.aio.AioRpcError) -> RouterError:
    """Return what a failed walk means; a dispatch that is away is 503 and soon again."""
    fault = status.error_of(error)
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return PeerError(
            Reason.ROUTING_UNAVAILABLE, "the action ran out of time", retry_after_s=1.0
        )
    if isinstance(fault, PeerError):
        return PeerError(
            Reason.ROUTING_UNAVAILABLE,
            "the dispatch service does not answer: try again",
            retry_after_s=1.0,
        )
    return fault


def _is_own_task_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
