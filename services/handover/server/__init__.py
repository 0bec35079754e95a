"""Serves HandoverService: decode, summarise or compact, encode, one line in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.handover.v1 import handover_pb2 as pb
from pointsman.handover.v1 import handover_pb2_grpc as rpc
from prometheus_client import Histogram

from services.handover.codec.compactions import compaction_of, compaction_response
from services.handover.codec.requests import question_of
from services.handover.codec.responses import response_of
from services.runtime import host, log
from services.runtime.metrics import BUCKETS_S

if TYPE_CHECKING:
    from collections.abc import Callable

    import grpc

    from services.handover.server.compactions import Compactions
    from services.handover.server.summaries import Summaries
    from services.runtime.clock import Clock

SUMMARY_SECONDS = Histogram(
    "pointsman_handover_seconds", "Time for a summary by outcome", ("outcome",), buckets=BUCKETS_S
)

COMPACTION_SECONDS = Histogram(
    "pointsman_compaction_seconds",
    "Time for a compaction by outcome",
    ("outcome",),
    buckets=BUCKETS_S,
)

_log = log.get_logger("handover")


class Handover(rpc.HandoverServiceServicer):
    """Serves HandoverService. Holds no state between calls."""

    def __init__(self, summaries: Summaries, compactions: Compactions, clock: Clock) -> None:
        self._summaries = summaries
        self._compactions = compactions
        self._clock = clock

    def replaced(self, summaries: Summaries) -> Callable[[], None]:
        """Return what makes later calls use ``summaries``; those that run keep theirs."""

        def take_over() -> None:
            self._summaries = summaries

        return take_over

    async def Summarize(  # noqa: N802 - name fixed by the proto
        self,
        request: pb.SummarizeRequest,
        context: grpc.aio.ServicerContext[pb.SummarizeRequest, pb.SummarizeResponse],
    ) -> pb.SummarizeResponse:
        """Put a summary in the place of the history, or say why there is none."""
        began_s = self._clock.monotonic_s()
        question = question_of(request)
        result = await self._summaries.make(question, context.time_remaining())
        elapsed_s = self._clock.monotonic_s() - began_s
        SUMMARY_SECONDS.labels(result.outcome.value).observe(elapsed_s)
        author = result.stored.summarizer if result.stored else None
        _log.info(
            "summarize",
            action_id=question.context.action_id,
            session_hash=question.context.session_hash,
            kind=question.kind.value,
            outcome=result.outcome.value,
            summarizer_model=author.model_id if author else None,
            summarizer_provider=author.provider if author else None,
            attempts=len(result.attempts),
            removed_messages=result.rewritten.removed_messages if result.rewritten else 0,
            summary_tokens=result.summary_tokens,
            elapsed_ms=round(elapsed_s * 1000),
        )
        return response_of(question, result, host.VERSION)

    async def Compact(  # noqa: N802 - name fixed by the proto
        self,
        request: pb.CompactRequest,
        context: grpc.aio.ServicerContext[pb.CompactRequest, pb.CompactResponse],
    ) -> pb.CompactResponse:
        """Bring a conversation under its limits, or say why that is not done."""
        began_s = self._clock.monotonic_s()
        question = compaction_of(request)
        result = await self._compactions.make(question, context.time_remaining())
        elapsed_s = self._clock.monotonic_s() - began_s
        COMPACTION_SECONDS.labels(result.outcome.value).observe(elapsed_s)
        _log.info(
            "compact",
            action_id=question.context.action_id,
            session_hash=question.context.session_hash,
            outcome=result.outcome.value,
            summary_outcome=result.summary_outcome.value if result.summary_outcome else None,
            is_summary_reverted=result.is_summary_reverted,
            cleared_results=result.draft.cleared_results,
            trimmed_messages=result.draft.trimmed_messages,
            overflow_tokens=result.draft.tokens,
            attempts=len(result.attempts),
            elapsed_ms=round(elapsed_s * 1000),
        )
        return compaction_response(question, result, host.VERSION)
