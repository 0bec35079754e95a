"""Reports on their way to the credentials service: batched, bounded, off every answer's path."""

from __future__ import annotations

import asyncio
import contextlib
from itertools import chain, islice
from typing import TYPE_CHECKING

import grpc
from pointsman.credentials.v1 import credentials_pb2_grpc as rpc

from services.dispatch.codec import peers
from services.dispatch.model.access import HeadersSeen
from services.domain.errors import PeerError
from services.runtime import status
from services.runtime.background import ended, in_background
from services.runtime.log import get_logger
from services.runtime.tallies import Counter

if TYPE_CHECKING:
    from services.dispatch.model.access import Report
    from services.runtime.channel import Channel

BATCH_DELAY_S = 0.03
"""Time that a report waits for company; headers are to arrive within 50 ms."""
RETRY_DELAY_S = 0.5
MAX_BATCH = 256
MAX_QUEUED = 1024
"""Above this, signs of life and headers of successes are dropped; nothing else ever is."""
SEND_TIMEOUT_S = 1.0
CLOSE_TIMEOUT_S = 2.0

DROPPED = Counter("pointsman_attempt_reports_dropped_total", "Reports dropped under pressure")

_log = get_logger("dispatch")


class ReportQueue:
    """Sends reports in order, in batches; a batch that is not taken is sent again.

    Reports that could not be stored are sent again behind all others, however many they become.
    """

    def __init__(self, channel: Channel) -> None:
        self._stub = rpc.CredentialsServiceStub(channel)
        self._queue: dict[int, Report] = {}
        """Reports by their object's identity, in order."""
        self._unstored: dict[int, Report] = {}
        """Those that came there, and are to be sent again."""
        self._headers: dict[tuple[str, str, int], Report] = {}
        """Queued headers of attempts, as long as they were not sent."""
        self._has_news = asyncio.Event()
        self._sender: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to send."""
        self._sender = in_background(self._send_for_ever(), "attempt-reports")

    def put(self, report: Report) -> None:
        """Queue a report; never waits.

        An attempt that ends well before its headers were sent is told in one report.
        """
        earlier = self._headers.pop(report.attempt, None)
        if earlier is not None and (both := report.with_headers_of(earlier)) is not None:
            del self._queue[id(earlier)]
            report = both
        if len(self._queue) >= MAX_QUEUED and report.is_droppable:
            DROPPED.inc()
            return
        self._queue[id(report)] = report
        if isinstance(report.event, HeadersSeen):
            self._headers[report.attempt] = report
        self._has_news.set()

    async def aclose(self) -> None:
        """Stop, and send what is left for at most 2 s."""
        sender, self._sender = self._sender, None
        await ended(sender)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                while self._has_any and await self._send_batch():
                    pass
        if self._has_any:
            lost = len(self._queue) + len(self._unstored)
            _log.warning("attempt_reports_lost", count=lost)

    @property
    def _has_any(self) -> bool:
        return bool(self._queue or self._unstored)

    async def _send_for_ever(self) -> None:
        while True:
            await self._has_news.wait()
            await asyncio.sleep(BATCH_DELAY_S)
            self._has_news.clear()
            while self._has_any:
                if not await self._send_batch():
                    await asyncio.sleep(RETRY_DELAY_S)
                elif self._has_news.is_set():
                    break  # what came meanwhile waits for company, too

    async def _send_batch(self) -> bool:
        """Return whether the oldest reports were all taken, or refused for good."""
        batch = list(islice(chain(self._queue.values(), self._unstored.values()), MAX_BATCH))
        for row in batch:
            self._headers.pop(row.attempt, None)
        request = peers.report_request(batch)
        unstored: list[Report] = []
        try:
            answer = await self._stub.ReportAttempt(request, timeout=SEND_TIMEOUT_S)
            unstored = peers.unstored(batch, answer)
        except grpc.aio.AioRpcError as failure:
            error = status.error_of(failure)
            if isinstance(error, PeerError):
                return False
            _log.warning("attempt_reports_refused", count=len(batch), reason=error.reason.value)
        for row in batch:
            self._queue.pop(id(row), None)
            self._unstored.pop(id(row), None)
        self._unstored |= {id(row): row for row in unstored}
        return not unstored
