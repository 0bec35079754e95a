"""Tells credentials what came of one attempt, in order, while it runs and at its end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from services.dispatch.model.access import Ended, HeadersSeen, Report, StillAlive
from services.dispatch.model.enums import EndKind
from services.dispatch.policy import headers as header_rules
from services.dispatch.policy.challenge import is_challenge_page
from services.domain.vocab import FailureClass

if TYPE_CHECKING:
    from services.dispatch.model.access import Grant
    from services.dispatch.model.outcome import Fault
    from services.dispatch.model.plan import HeaderPairs
    from services.dispatch.ports import Credentials
    from services.runtime.clock import Clock

ALIVE_INTERVAL_S = 20.0
"""Time between two signs of life; a grant lives 60 s without one."""
MAX_REPORTED_BODY_BYTES = 8 * 1024


class AttemptReporter:
    """Reports of one attempt; ended exactly once, whatever happens."""

    def __init__(
        self, credentials: Credentials, clock: Clock, grant: Grant, action_id: str, number: int
    ) -> None:
        self._credentials = credentials
        self._clock = clock
        self._grant = grant
        self._action_id = action_id
        self._number = number
        self._sequence = 0
        self._send_unix_s: float | None = None
        self._heartbeat: asyncio.TimerHandle | None = None
        self._has_ended = False

    def sent(self, send_unix_s: float) -> None:
        """Take note that the request goes out now."""
        self._send_unix_s = send_unix_s
        self._beat_later()

    def headers(self, http_status: int, headers: HeaderPairs) -> None:
        """Report response headers, before the body is read."""
        kept = header_rules.for_report(headers)
        self._put(HeadersSeen(http_status, kept, self._clock.now_unix_s()))

    def failed(self, fault: Fault) -> None:
        """Report an end before the commit point."""
        is_empty = fault.failure_class is FailureClass.STREAM_EMPTY
        self.ended(
            EndKind.EMPTY_STREAM if is_empty else EndKind.FAILED,
            fault.http_status,
            fault.body,
            is_model_not_found=fault.failure_class is FailureClass.MODEL_NOT_FOUND,
            is_challenge_page=is_challenge_page(fault.http_status, fault.headers, fault.body),
        )

    def ended(
        self,
        kind: EndKind,
        http_status: int | None = None,
        error_body: bytes = b"",
        *,
        is_model_not_found: bool = False,
        is_challenge_page: bool = False,
    ) -> None:
        """Report the end; later calls change nothing."""
        if self._has_ended:
            return
        self._has_ended = True
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        body = error_body[:MAX_REPORTED_BODY_BYTES]
        now = self._clock.now_unix_s()
        self._put(Ended(kind, now, http_status, body, is_model_not_found, is_challenge_page))

    def _beat_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._heartbeat = loop.call_later(ALIVE_INTERVAL_S, self._beat)

    def _beat(self) -> None:
        self._put(StillAlive(self._clock.now_unix_s()))
        self._beat_later()

    def _put(self, event: HeadersSeen | StillAlive | Ended) -> None:
        self._sequence += 1
        self._credentials.report(
            Report(
                grant=self._grant,
                action_id=self._action_id,
                attempt_number=self._number,
                sequence_number=self._sequence,
                send_unix_s=self._send_unix_s,
                event=event,
            )
        )
