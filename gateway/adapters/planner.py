"""The planner service behind the gateway's port."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
from pointsman.planner.v1 import planner_pb2_grpc

from gateway.codec import deciding
from services.domain.errors import PeerError
from services.runtime import status
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from gateway.model import Action
    from gateway.model.decision import PlanAnswer, PlanQuestion
    from services.runtime.channel import Channel

PLAN_TIMEOUT_S = 0.05

_log = get_logger("gateway")


class PlannerClient:
    """Calls the planner over a channel; silence and refusals alike leave the pin as it is."""

    def __init__(self, channel: Channel) -> None:
        self._stub = planner_pb2_grpc.PlannerServiceStub(channel)

    async def plan(self, action: Action, question: PlanQuestion) -> PlanAnswer | None:
        """Return the verdict; None: it did not come in time, or the question was refused."""
        request = deciding.plan_request(action, question)
        try:
            answer = await self._stub.PlanAction(request, timeout=PLAN_TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            fault = status.error_of(error)
            if not isinstance(fault, PeerError):
                _log.error("plan_refused", action_id=action.id, reason=fault.reason.value)
            return None
        return deciding.plan_answer(answer)
