"""One attempt: sent, held back until it bears output, then passed on byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.dispatch.model.enums import EndKind, UsageSource
from services.dispatch.model.outcome import (
    MAX_ERROR_BODY_BYTES,
    AttemptFault,
    Broken,
    Fault,
    Measured,
)
from services.dispatch.policy import headers as header_rules
from services.dispatch.policy.classify import class_of
from services.dispatch.policy.mask import without_secret
from services.dispatch.server import bodies
from services.dispatch.server.stopwatch import Stopwatch
from services.dispatch.server.watch import WatchedReader
from services.domain.vocab import FailureClass
from services.domain.wire.model import ToolUse, Usage, WireError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from services.dispatch.model.access import Grant
    from services.dispatch.model.limits import WatchLimits
    from services.dispatch.model.plan import HeaderPairs
    from services.dispatch.ports import Upstream, UpstreamAnswer
    from services.dispatch.server.reporting import AttemptReporter
    from services.dispatch.server.target import Built
    from services.domain.wire.contract import Codec, StreamObserver
    from services.domain.wire.model import Observation, StopReason, Transform, UpstreamError
    from services.runtime.clock import Clock

MAX_HELD_BYTES = 64 * 1024

_BROKEN_STATUSES = {FailureClass.STALL: 504}


class Attempt:
    """One request and its answer. :meth:`open`, then :meth:`chunks`, then :meth:`aclose`."""

    def __init__(
        self,
        build: Callable[[], Built],
        *,
        grant: Grant,
        codec: Codec,
        is_stream: bool,
        limits: WatchLimits,
        upstream: Upstream,
        reporter: AttemptReporter,
        clock: Clock,
    ) -> None:
        self._build = build
        self._grant = grant
        self._codec = codec
        self._is_stream = is_stream
        self._limits = limits
        self._upstream = upstream
        self._reporter = reporter
        self._clock = clock
        self.watch = Stopwatch(clock)
        self._answer: UpstreamAnswer | None = None
        self._reader: WatchedReader | None = None
        self._observer = codec.observer() if is_stream else None
        self._held: list[bytes] = []
        self._is_at_end = False
        self._usage: Usage | None = None
        self._output_chars = 0
        self._secret = ""
        self.transforms: tuple[Transform, ...] = ()
        self.stop: StopReason | None = None
        self.tool_calls = 0
        self.refusal_seen = False
        self.sent_bytes = 0
        self.broken: Broken | None = None
        self.failure_class: FailureClass | None = None

    async def open(self) -> None:
        """Build, send, and return when the answer may be committed: output came, or all of it.

        Raises:
            AttemptFault: it failed, and nothing of it may be shown.
            RouterError: the body cannot be built for reasons that are ours or the client's.
        """
        built = self._build()
        self.transforms, self._secret = built.transforms, built.secret
        self._reporter.sent(self.watch.start())
        try:
            answer = await self._upstream.open(built.request)
            self._answer = answer
            self.watch.note_headers()
            self._reporter.headers(answer.http_status, answer.headers)
            if not 200 <= answer.http_status < 300:
                await self._refused(answer)
            bodies.check_type(answer.headers, is_stream=self._is_stream)
            reader = WatchedReader(answer.chunks(), self._limits, is_stream=self._is_stream)
            self._reader = reader
            if self._observer is None:
                await self._read_whole(reader)
            else:
                await self._hold(reader, self._observer)
        except AttemptFault as missed:
            self._report_fault(missed.fault)
            raise

    async def _refused(self, answer: UpstreamAnswer) -> None:
        self._reader = WatchedReader(answer.chunks(), self._limits, is_stream=False)
        body, is_cut = await bodies.read_error(self._reader)
        status = answer.http_status
        if status < 400:
            fault = Fault(FailureClass.TRANSPORT, message="the upstream redirects; not followed")
            raise AttemptFault(fault)
        raise AttemptFault(
            self._fault_of(self._codec.decode_error(status, body), body, is_cut=is_cut)
        )

    async def _hold(self, reader: WatchedReader, observer: StreamObserver) -> None:
        held_bytes, hold_until_s = 0, None
        while True:
            if hold_until_s is None:
                data = await reader.read()
            else:
                data = await reader.read_within(max(0.0, hold_until_s - self.watch.elapsed_s()))
            if data is None:
                self._is_at_end = True
                observer.finish()
            elif data:
                self._held.append(data)
                held_bytes += len(data)
                observer.feed(data)
            seen = observer.seen
            if seen.error is not None and seen.is_error_first:
                raise AttemptFault(self._fault_of(seen.error, bodies.error_event(self._held)))
            if seen.has_output:
                self._note_output()
                if seen.has_terminal:
                    reader.note_terminal()
                return
            if data is None:
                raise AttemptFault(bodies.unfinished(is_started=seen.is_started))
            if not data or held_bytes >= MAX_HELD_BYTES or not self._limits.hold_s:
                return
            if hold_until_s is None and seen.is_started:
                hold_until_s = self.watch.elapsed_s() + self._limits.hold_s

    async def _read_whole(self, reader: WatchedReader) -> None:
        body = await bodies.read_whole(reader)
        self._is_at_end = True
        self._held = [body]
        try:
            response = self._codec.decode_response(body)
        except WireError:
            fault = Fault(FailureClass.BAD_RESPONSE, message="the upstream's answer is unreadable")
            raise AttemptFault(fault) from None
        self._usage, self.stop = response.usage, response.stop.reason
        self.refusal_seen = response.stop.reason == "refusal"
        self.tool_calls = sum(isinstance(block, ToolUse) for block in response.blocks)
        self._output_chars = len(body)
        self.watch.note_output()

    def _fault_of(self, error: UpstreamError, body: bytes, *, is_cut: bool = False) -> Fault:
        headers = self._answer.headers if self._answer else ()
        kind = self._grant.attribution.kind
        return Fault(
            class_of(error.http_status, error, kind),
            http_status=error.http_status,
            body=without_secret(body, self._secret)[:MAX_ERROR_BODY_BYTES],
            is_body_truncated=is_cut,
            headers=headers,
            retry_after_s=header_rules.retry_after_s(headers, self._clock.now_unix_s()),
            vendor_type=error.vendor_type[:128],
            message=self._shown(error.message),
        )

    def _shown(self, message: str) -> str:
        return without_secret(message.encode(), self._secret).decode()

    def _report_fault(self, fault: Fault) -> None:
        is_empty = fault.failure_class is FailureClass.STREAM_EMPTY
        self._reporter.ended(
            EndKind.EMPTY_STREAM if is_empty else EndKind.FAILED,
            fault.http_status,
            fault.body,
            is_model_not_found=fault.failure_class is FailureClass.MODEL_NOT_FOUND,
        )

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Return the bytes of the answer, 1 to 65536 at a time; then the facts are complete."""
        held, self._held = b"".join(self._held), []
        for chunk in bodies.cut(without_secret(held, self._secret)):
            self.sent_bytes += len(chunk)
            yield chunk
        reader, observer = self._reader, self._observer
        if reader is None or observer is None:
            self._reporter.ended(EndKind.SUCCEEDED, self.http_status)
            return
        fault: Fault | None = None
        try:
            while not self._is_at_end:
                data = await self._next(reader, observer)
                if data is None:
                    break
                for chunk in bodies.cut(without_secret(data, self._secret)):
                    self.sent_bytes += len(chunk)
                    yield chunk
        except AttemptFault as missed:
            fault = missed.fault
        self._settle(observer.seen, fault)

    async def _next(self, reader: WatchedReader, observer: StreamObserver) -> bytes | None:
        seen = observer.seen
        events, was_over = seen.output_events, seen.has_terminal
        data = await reader.read()
        if data is None:
            observer.finish()
            self._is_at_end = True
            return None
        observer.feed(data)
        if seen.output_events != events:
            self._note_output()
        if seen.has_terminal and not was_over:
            reader.note_terminal()
        return data

    def _settle(self, seen: Observation, fault: Fault | None) -> None:
        """Take the facts of a stream that ended, and say what broke it, if anything did."""
        self._usage, self._output_chars = seen.usage, seen.output_chars
        self.stop = seen.stop.reason if seen.stop else None
        self.tool_calls, self.refusal_seen = seen.tool_calls, seen.refusal_seen
        if seen.error is not None:
            error, status = seen.error, seen.error.http_status
            self.failure_class = class_of(status, error, self._grant.attribution.kind)
            message = self._shown(error.message)
            self.broken = Broken(status, error.vendor_type[:128], message, True)
        elif not seen.has_terminal:
            fault = fault or bodies.unfinished(is_started=True)
            self.failure_class = fault.failure_class
            status = _BROKEN_STATUSES.get(fault.failure_class, 502)
            self.broken = Broken(status, fault.vendor_type, fault.message, False)
        kind = EndKind.FAILED if self.broken else EndKind.SUCCEEDED
        self._reporter.ended(kind, seen.error.http_status if seen.error else self.http_status)

    @property
    def is_sent(self) -> bool:
        """Whether anything went out."""
        return self.watch.start_unix_s is not None

    @property
    def http_status(self) -> int | None:
        """The upstream's status; None: none came."""
        return self._answer.http_status if self._answer else None

    @property
    def headers(self) -> HeaderPairs:
        """The upstream's headers."""
        return self._answer.headers if self._answer else ()

    @property
    def body_bytes(self) -> int | None:
        """Size of a whole body; None: a stream."""
        return None if self._is_stream else sum(map(len, self._held))

    @property
    def max_gap_s(self) -> float:
        """Largest silence between two upstream bytes, in seconds."""
        return self._reader.max_gap_s if self._reader else 0.0

    def measured(self, estimated_input_tokens: int | None) -> Measured | None:
        """Return the tokens used: reported, the last seen, or ours when nothing was said.

        Without an estimate of the input, None stands for what the upstream did not say.
        """
        usage = self._usage or (self._observer.seen.usage if self._observer else None)
        if usage is None:
            if estimated_input_tokens is None:
                return None
            estimate = Usage(fresh_input=estimated_input_tokens, output=self._output_chars // 4)
            return Measured(estimate, UsageSource.ESTIMATED)
        is_whole = self.broken is None and estimated_input_tokens is not None
        return Measured(usage, UsageSource.REPORTED if is_whole else UsageSource.PARTIAL)

    async def aclose(self) -> None:
        """Let go of timer and connection; an attempt that did not end was left by its caller."""
        kind = EndKind.CALLER_GONE if self.is_sent else EndKind.NOT_SENT
        self._reporter.ended(kind, self.http_status)
        if self._reader is not None:
            await self._reader.aclose()
        if self._answer is not None:
            await self._answer.aclose()

    def _note_output(self) -> None:
        self.watch.note_output()
        if self._reader is not None:
            self._reader.note_output()
