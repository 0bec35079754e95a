"""One attempt: sent, held back until it bears output, then passed on byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.dispatch.model.enums import EndKind
from services.dispatch.model.outcome import AttemptFault, Broken, Fault
from services.dispatch.policy.classify import class_of, is_cyber_refusal
from services.dispatch.policy.mask import maskable, shown, without_secret
from services.dispatch.policy.measure import measured
from services.dispatch.server import bodies, metrics
from services.dispatch.server.holding import Held, held_back
from services.dispatch.server.stopwatch import Stopwatch
from services.dispatch.server.watch import WatchedReader
from services.domain.vocab import FailureClass
from services.domain.wire.model import ToolUse, UpstreamError, WireError

if TYPE_CHECKING:
    from services.dispatch.model.access import Grant
    from services.dispatch.model.outcome import Measured
    from services.dispatch.model.plan import HeaderPairs
    from services.dispatch.ports import UpstreamAnswer
    from services.dispatch.server.draft import Draft
    from services.dispatch.server.reporting import AttemptReporter
    from services.dispatch.server.target import Stage
    from services.domain.vocab import WireFamily
    from services.domain.wire.codec import Codec
    from services.domain.wire.model import Observation, StopReason, Transform, Usage
    from services.domain.wire.observer import StreamObserver


class Attempt:
    """One request and its answer. :meth:`open`, then :meth:`read`, then :meth:`aclose`."""

    def __init__(
        self,
        draft: Draft,
        stage: Stage,
        grant: Grant,
        reporter: AttemptReporter,
        *,
        is_gated: bool = False,
    ) -> None:
        """Take all that it needs. ``is_gated``: a cyber refusal must not be seen by the client."""
        self.draft = draft
        self._stage = stage
        self._grant = grant
        self._reporter = reporter
        self._is_gated = is_gated
        self.watch = Stopwatch(stage.clock)
        self._answer: UpstreamAnswer | None = None
        self._reader: WatchedReader | None = None
        self._observer: StreamObserver | None = None
        self._held = Held()
        self._usage: Usage | None = None
        self._output_chars, self._key = 0, b""
        self.transforms: tuple[Transform, ...] = ()
        self.stop: StopReason | None = None
        self.refusal_seen = False
        self.send_count = self.sent_bytes = self.tool_calls = 0
        self.broken: Broken | None = None
        self.failure_class: FailureClass | None = None
        self.stall_kind = ""
        """The limit that ended a stream after its commit; empty: none did."""

    async def open(self) -> None:
        """Build, send, and return when the answer may be committed: output came, or all of it.

        What the endpoint refuses and the request can do without is given up, and asked without.

        Raises:
            AttemptFault: it failed, and nothing of it may be shown.
            RouterError: the body cannot be built for reasons that are ours or the client's.
        """
        try:
            answer = await self._send()
            while not 200 <= answer.http_status < 300:
                await self._refused(answer)
                await self._let_go()
                answer = await self._send()
            bodies.check_type(answer.headers, is_stream=self.draft.is_stream)
            await self._read_start(answer)
        except AttemptFault as missed:
            self._reporter.failed(missed.fault)
            raise
        self.draft.confirm()

    async def _send(self) -> UpstreamAnswer:
        built = self.draft.build()
        self.transforms, self._key = built.transforms, maskable(built.secret)
        if not self.send_count:
            self._reporter.sent(self.watch.start())
        self.send_count += 1
        self._answer = self._reader = None
        answer = self._answer = await self._stage.upstream.open(built.request)
        self.watch.note_headers()
        if not self._is_perhaps_of_tier:
            self._reporter.headers(answer.http_status, answer.headers)
        return answer

    @property
    def _is_perhaps_of_tier(self) -> bool:
        """Whether a throttle may be about the fast tier alone, and no word on the credential."""
        return self.http_status == 429 and self.draft.is_fast

    async def _read_start(self, answer: UpstreamAnswer) -> None:
        limits, is_stream = self._stage.limits[self.family], self.draft.is_stream
        self._reader = reader = WatchedReader(answer, limits, is_stream=is_stream)
        if not is_stream:
            await self._read_whole(reader)
            return
        observer = self._observer = self._codec.observer()
        if not self.draft.is_stream_wanted:
            await self._read_to_the_end(observer.seen)
            return
        self._held = await held_back(reader, observer, self.watch, limits, is_gated=self._is_gated)
        self.draft.saw(b"".join(self._held.pieces))
        seen = observer.seen
        if seen.error is not None and seen.is_error_first:
            raise AttemptFault(self._fault_of(seen.error, bodies.error_event(self._held.pieces)))
        if seen.has_output:
            self._note_output(seen.output_events)
            if seen.has_terminal:
                reader.note_terminal()

    async def _refused(self, answer: UpstreamAnswer) -> None:
        """Return when a refusal is worth another send.

        Raises:
            AttemptFault: it is not.
        """
        status, limits = answer.http_status, self._stage.limits[self.family]
        self._reader = WatchedReader(answer, limits, is_stream=False)
        body, is_cut = await bodies.read_error(self._reader)
        if status < 400:
            raise AttemptFault(bodies.REDIRECTED)
        error = self._codec.decode_error(status, body)
        is_untold = self._is_perhaps_of_tier
        if not self.draft.gives_up(status, error):
            if is_untold:
                self._reporter.headers(status, answer.headers)
            raise AttemptFault(self._fault_of(error, body, is_cut=is_cut))

    async def _read_whole(self, reader: WatchedReader) -> None:
        body = await bodies.read_whole(reader)
        self._held = Held([body], is_at_end=True)
        self.draft.saw(body)
        try:
            response = self._codec.decode_response(body)
        except WireError:
            if is_cyber_refusal(body):
                raise AttemptFault(self._fault_of(UpstreamError(400), body)) from None
            raise AttemptFault(bodies.UNREADABLE) from None
        self._usage, self.stop = response.usage, response.stop.reason
        self.refusal_seen = response.stop.reason == "refusal"
        self.tool_calls = sum(isinstance(block, ToolUse) for block in response.blocks)
        self._output_chars = len(body)
        self.watch.note_output()

    async def _read_to_the_end(self, seen: Observation) -> None:
        """Read a stream whose client wants a whole answer: nothing of a broken one is shown."""
        pieces: list[bytes] = []
        try:
            await bodies.gather(self._next, pieces)
        except AttemptFault:
            if not seen.has_terminal:
                raise
        if seen.error is not None:
            raise AttemptFault(self._fault_of(seen.error, bodies.error_event(pieces)))
        if not seen.has_terminal:
            raise AttemptFault(bodies.unfinished(is_started=seen.is_started))
        self._held = Held(pieces, is_at_end=True)

    def _fault_of(self, error: UpstreamError, body: bytes, *, is_cut: bool = False) -> Fault:
        kind = self._grant.attribution.kind
        metrics.count_unrecognised(self.family, error)
        failure_class = class_of(error.http_status, error, kind, body)
        if failure_class is FailureClass.CYBER_REFUSAL and self.http_status == 200:
            error, body = bodies.refusal_of(self._codec, error)
        told = bodies.Told(self.headers, body, self._key, is_cut=is_cut)
        return bodies.fault_of(failure_class, error, told, self._stage.clock.now_unix_s())

    async def read(self) -> tuple[bytes, ...]:
        """Return what comes next of the answer, in pieces of 1 to 65536 bytes.

        None of them at its end; then the facts are complete.
        """
        fault = None
        try:
            while (data := await self._next()) is not None:
                pieces = bodies.cut(without_secret(data, self._key))
                if pieces:
                    self.sent_bytes += sum(map(len, pieces))
                    return pieces
        except AttemptFault as missed:
            fault = missed.fault
        if self._observer is None:
            self._reporter.ended(EndKind.SUCCEEDED, self.http_status)
        else:
            self._settle(self._observer.seen, fault)
        return ()

    async def _next(self) -> bytes | None:
        """Return what was held back, then what comes next of a stream; None at the end."""
        if self._held.pieces:
            held, self._held.pieces = self._held.pieces, []
            return b"".join(held)
        reader, observer = self._reader, self._observer
        if reader is None or observer is None or self._held.is_at_end:
            return None
        seen = observer.seen
        events, was_over = seen.output_events, seen.has_terminal
        data = await reader.read()
        if data is None:
            observer.finish()
            return None
        self.draft.saw(data)
        observer.feed(data)
        if seen.output_events != events:
            self._note_output(seen.output_events - events)
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
            self.refusal_seen |= self.failure_class is FailureClass.CYBER_REFUSAL
            message = shown(error.message, self._key)
            self.broken = Broken(status, error.vendor_type[:128], message, True)
        elif not seen.has_terminal:
            self.failure_class, self.broken = bodies.broken_by(fault)
            self.stall_kind = fault.stall_kind if fault else ""
        kind = EndKind.FAILED if self.broken else EndKind.SUCCEEDED
        self._reporter.ended(kind, seen.error.http_status if seen.error else self.http_status)

    @property
    def family(self) -> WireFamily:
        """The dialect spoken."""
        return self.draft.family

    @property
    def _codec(self) -> Codec:
        return self._stage.codec_of(self.draft.family)

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
        return None if self.draft.is_stream else sum(map(len, self._held.pieces))

    @property
    def max_gap_s(self) -> float:
        """Largest silence between two upstream bytes, in seconds."""
        return self._reader.max_gap_s if self._reader else 0.0

    def measured(self, estimated_input_tokens: int | None) -> Measured | None:
        """Return the tokens used; without an estimate of the input only what was said."""
        usage = self._usage or (self._observer.seen.usage if self._observer else None)
        is_whole = self.broken is None
        return measured(usage, estimated_input_tokens, self._output_chars, is_whole=is_whole)

    async def aclose(self) -> None:
        """Let go of timer and connection; an attempt that did not end was left by its caller."""
        kind = EndKind.CALLER_GONE if self.is_sent else EndKind.NOT_SENT
        self._reporter.ended(kind, self.http_status)
        await self._let_go()

    async def _let_go(self) -> None:
        try:
            if self._reader is not None:
                await self._reader.aclose()
        finally:
            if self._answer is not None:
                await self._answer.aclose()

    def _note_output(self, events: int) -> None:
        self.watch.note_output()
        if self._reader is not None:
            self._reader.note_output(events)
