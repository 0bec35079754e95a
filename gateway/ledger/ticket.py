"""The account of one action's attempts: notes what is learned of them, and settles once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.ledger.settlement import unknown_attempt
from gateway.model import AttemptFailed, AttemptStarted, Failed, Head, Tail
from gateway.model.attempt import BindingRef
from gateway.model.record import AttemptOutcome, AttemptRecord, UsageSource
from services.domain.copying import replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gateway.ledger.book import Sink
    from gateway.ledger.ports import UsageTap
    from gateway.model import Part
    from gateway.model.record import Bill, Opening
    from services.runtime.clock import Clock

NOTE_INTERVAL_S = 5.0
"""Shortest time between two notes of a stream's progress: what a killed process may not know of.

A stream of a chunk a second would else be written down with every chunk."""


class Ticket:
    """Belongs to one (action, kind); mutable, owned by the action's loop."""

    def __init__(self, opening: Opening, sink: Sink, clock: Clock) -> None:
        self._opening = opening
        self._planned = unknown_attempt(opening)
        self._sink = sink
        self._clock = clock
        self._records: dict[int, AttemptRecord] = {}
        self._current = 0
        self._chunks = 0
        self._next_note_s = 0.0
        self._is_broken = False
        self._is_settled = False
        self.tap: UsageTap | None = None
        """What watches the stream that is being relayed."""
        self.bill: Bill | None = None
        """What the serving attempt cost, once it is settled and its price is known."""

    def saw(self, part: Part) -> None:
        """Take note of one part of dispatch's answer; the last one settles."""
        if isinstance(part, bytes):
            self._progress()
            return
        match part:
            case AttemptStarted():
                self._started(part)
            case AttemptFailed():
                self._note(part.attempt or self._failed(part.failure.value))
            case Head():
                self._note(self._committed(part))
            case Tail():
                self.settle([part.attempt or self._ended(part)])
            case Failed():
                ended = [self._failed(part.failure.value)] if self._current else []
                self.settle(part.attempts or ended)

    def broke(self) -> None:
        """Take note that the answer ended without its end."""
        self._is_broken = True

    def settle(self, records: Iterable[AttemptRecord]) -> None:
        """Settle with what dispatch recorded; happens once."""
        if self._is_settled:
            return
        self._is_settled = True
        for record in records:
            self._records[record.number] = self._with_output(record)
        self.bill = self._sink.settle(self._opening, tuple(self._records.values()))

    def close(self) -> None:
        """Settle an action whose end nobody told: from our own tap, else by estimate."""
        if not self._is_settled:
            self.settle([self._lost()])

    def _started(self, part: AttemptStarted) -> None:
        self._current = part.number
        planned = self._opening.binding
        binding = (
            planned
            if (part.model_id, part.provider) == (planned.model_id, planned.provider)
            else BindingRef(part.model_id, part.provider, "", part.binding_index)
        )
        attribution = part.attribution or self._opening.attribution
        record = AttemptRecord(
            part.number, binding, AttemptOutcome.ABORTED, attribution, cause=part.cause
        )
        if record == self._planned:  # the opening tells it anyway: it need not be written
            self._records[record.number] = record
        else:
            self._note(record)

    def _progress(self) -> None:
        """Note what our tap saw, now and then; the first chunk has not passed it yet."""
        self._chunks += 1
        if self.tap is None or self._chunks == 1:
            return
        now_s = self._clock.monotonic_s()
        if now_s >= self._next_note_s:
            self._next_note_s = now_s + NOTE_INTERVAL_S
            self._note(self._with_tap(self._open_record))

    def _note(self, record: AttemptRecord) -> None:
        self._records[record.number] = record
        self._sink.note(self._opening, record)

    @property
    def _open_record(self) -> AttemptRecord:
        return self._records.get(self._current) or self._planned

    def _committed(self, head: Head) -> AttemptRecord:
        self._current = head.number or self._current or 1
        return replace(
            self._open_record,
            number=self._current,
            binding=head.binding,
            attribution=head.attribution or self._open_record.attribution,
            has_output=True,
            is_fast_tier=head.is_fast_tier,
            http_status=head.http_status,
        )

    def _ended(self, tail: Tail) -> AttemptRecord:
        is_whole = tail.failure is None
        return replace(
            self._open_record,
            outcome=AttemptOutcome.SERVED if is_whole else AttemptOutcome.BROKEN,
            usage=tail.usage,
            source=UsageSource.REPORTED if is_whole else UsageSource.PARTIAL,
        )

    def _failed(self, failure: str) -> AttemptRecord:
        return replace(self._open_record, outcome=AttemptOutcome.FAILED, failure=failure)

    def _lost(self) -> AttemptRecord:
        """Return the record of the attempt that ran when the answer was lost."""
        if self._is_broken and not self._current:
            return replace(self._open_record, outcome=AttemptOutcome.FAILED)
        record = self._with_tap(self._open_record)
        if self._is_broken and record.has_output:
            return replace(record, outcome=AttemptOutcome.BROKEN)
        return record

    def _with_tap(self, record: AttemptRecord) -> AttemptRecord:
        if self.tap is None or record.outcome is not AttemptOutcome.ABORTED:
            return record
        return replace(
            record,
            usage=self.tap.usage,
            source=UsageSource.PARTIAL,
            output_chars=self.tap.output_chars,
        )

    def _with_output(self, record: AttemptRecord) -> AttemptRecord:
        """Return a record of dispatch's with what only we know: how much passed of it."""
        if self.tap is None or record.number != self._current:
            return record
        return replace(record, output_chars=self.tap.output_chars)
