"""The handover service behind the gateway's port."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
from pointsman.handover.v1 import handover_pb2_grpc

from gateway.codec import compaction, deciding

if TYPE_CHECKING:
    from gateway.model import Action, EligibilityRecord
    from gateway.model.compaction import CompactionAnswer, CompactionQuestion
    from gateway.model.decision import SummaryAnswer, SummaryQuestion
    from services.runtime.channel import Channel

SUMMARY_TIMEOUT_S = 8.0
COMPACTION_TIMEOUT_S = 90.0
LEFT_FOR_SERVING_S = 1.0
"""What a summary leaves of an action's time; with no more than as much again none is begun."""


class HandoverClient:
    """Calls handover over a channel; silence keeps the full history."""

    def __init__(self, channel: Channel) -> None:
        self._stub = handover_pb2_grpc.HandoverServiceStub(channel)

    async def summarize(
        self,
        action: Action,
        record: EligibilityRecord,
        question: SummaryQuestion,
        left_s: float,
    ) -> SummaryAnswer | None:
        """Return what came of it; None: nobody answered, or there is no time to ask."""
        longest_s = COMPACTION_TIMEOUT_S if question.is_of_trim else SUMMARY_TIMEOUT_S
        timeout_s = _within(longest_s, left_s)
        if timeout_s is None:
            return None
        request = deciding.summary_request(action, record, question)
        try:
            answer = await self._stub.Summarize(request, timeout=timeout_s)
        except grpc.aio.AioRpcError:
            return None
        return deciding.summary_answer(answer)

    async def compact(
        self,
        action: Action,
        record: EligibilityRecord,
        question: CompactionQuestion,
        left_s: float,
    ) -> CompactionAnswer | None:
        """Return what came of it; None: nobody answered, or there is no time to ask."""
        timeout_s = _within(COMPACTION_TIMEOUT_S, left_s)
        if timeout_s is None:
            return None
        request = compaction.compaction_request(action, record, question)
        try:
            answer = await self._stub.Compact(request, timeout=timeout_s)
        except grpc.aio.AioRpcError:
            return None
        return compaction.compaction_answer(answer)


def _within(longest_s: float, left_s: float) -> float | None:
    """Return the time for a call that leaves the action enough; None: it is not worth a call."""
    timeout_s = min(longest_s, left_s - LEFT_FOR_SERVING_S)
    return timeout_s if timeout_s >= LEFT_FOR_SERVING_S else None
