"""From dispatch's parts to the client's bytes: the answer half of one action.

Nothing is written before the first output, so that a failure keeps its HTTP status; after it, a
failure is the dialect's error frame, at most one and never after a clean end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.answering.acknowledging import refuse
from gateway.answering.aliasing import unaliased
from gateway.answering.headers import (
    JSON_TYPE,
    REASONS,
    answer_headers,
    base_headers,
    cost_headers,
    relayed,
    retry_after,
)
from gateway.answering.translating import decoded, learn, translated
from gateway.answering.writers import client_error_of, writer_for
from gateway.errors import error_of, failure_of, is_kept
from gateway.ids import new_id
from gateway.issuing import answer_id_of
from gateway.model import AttemptFailed, AttemptStarted, Failed, Head, RescueCause, Tail
from services.domain.errors import Reason, RouterError
from services.domain.vocab import FailureClass, WireFamily
from services.domain.wire.assemble import events_of
from services.domain.wire.codecs import codec_for
from services.domain.wire.gemini import is_reasoning_wanted
from services.domain.wire.model import RenderContext, WireError
from services.domain.wire.think_tag import split_response

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.answering.writers import Writer
    from gateway.course import Course
    from gateway.issuing import Issuance
    from gateway.ledger.metered import Metered
    from gateway.model import Action, StreamFailure
    from gateway.ports import Reply
    from gateway.thread import Thread
    from services.domain.wire.model import ClientError
    from services.runtime.clock import Clock


class Relay:
    """Relays one answer; belongs to one action."""

    def __init__(
        self,
        action: Action,
        decision: str,
        answer: Metered,
        reply: Reply,
        course: Course,
        clock: Clock,
        thread: Thread,
        *,
        tagged_models: frozenset[str],
        issuance: Issuance | None,
    ) -> None:
        self.answer = answer
        self._action = action
        self._decision = decision
        self._reply = reply
        self._course = course
        self._clock = clock
        self._thread = thread
        self._tagged_models = tagged_models
        self._issuance = issuance

    async def run(self) -> None:
        """Relay the answer to its end; what is left of the walk is cancelled when that fails.

        Raises:
            RouterError: a service of ours failed before anything was sent.
            ClientGoneError: the client does not read.
        """
        try:
            first = await self._first()
            if isinstance(first, Failed):
                await self._report(first)
            elif first.is_stream and self._action.request.is_stream:
                await self._stream(first)
            else:
                await self._whole(first)
        finally:
            if not self._course.is_over:
                self.answer.cancel()

    async def _first(self) -> Head | Failed:
        """Return how the walk turned out, past the attempts that went before."""
        missed: list[AttemptFailed] = []
        while (part := await self.answer.read()) is not None:
            match part:
                case AttemptStarted():
                    self._course.attempt_began(part)
                case AttemptFailed():
                    self._course.attempt_missed(part)
                    missed.append(part)
                case Head():
                    self._course.head = part
                    self._thread.affected(row.if_rescued for row in missed)
                    return part
                case Failed():
                    self._thread.affected(row.if_unserved for row in missed)
                    if part.failure is FailureClass.CYBER_REFUSAL:
                        self._thread.refused(None)
                    return part
                case _:
                    break
        raise _broke_off()

    async def _stream(self, head: Head) -> None:
        action, reply, course = self._action, self._reply, self._course
        upstream, client = codec_for(head.wire_family), codec_for(action.surface)
        writer = writer_for(head, upstream, client, self._context(head))
        self.answer.account.tap = writer
        reply.keep_alive(writer.keepalive)
        try:
            tail = await self._copy(head, writer)
        except RouterError as error:
            if not reply.has_begun:
                raise
            course.failed(error.reason.value)
            failure: StreamFailure | ClientError | None = error_of(error, action.id)
        else:
            course.saw(tail, writer.usage, writer.stop)
            failure = tail.failure
            self._told(head, tail)
        if failure is None:
            rest = writer.finish()
            learn(writer.translation, self._thread)
            if tail.usage is not None and not writer.is_failed:
                self._thread.served(head, tail.usage, tail.stop_reason)
            await self._send(head, rest)
            course.saw(tail, writer.usage, writer.stop)
            course.ended("broken" if writer.is_failed else "served")
        else:
            course.ended("broken")
            if not reply.has_begun:
                await refuse(action, reply, client_error_of(failure, action.id))
                return
            await self._send(head, writer.fail(failure, action.id))
        await reply.end()

    async def _copy(self, head: Head, writer: Writer) -> Tail:
        """Write the chunks as they come and return the tail."""
        try:
            while (part := await self.answer.read()) is not None:
                if isinstance(part, bytes):
                    data = writer.feed(part)
                    if writer.has_ended:
                        self._note(head, writer)
                    await self._send(head, data)
                elif isinstance(part, Tail):
                    return part
        finally:
            self._course.saw(None, writer.usage, writer.stop)
        raise _broke_off()

    def _told(self, head: Head, tail: Tail) -> None:
        """Remember what the end of an answer says of the model, before the client sees it."""
        self._thread.affected((tail.effect,))
        if tail.refusal_seen or self._course.rescue == RescueCause.CYBER_REFUSAL:
            self._thread.refused(head)

    def _note(self, head: Head, writer: Writer) -> None:
        """Tell of an answer that is complete before the client can see that it is."""
        learn(writer.translation, self._thread)
        if not writer.is_failed:
            self._thread.served(head, writer.usage, writer.stop.reason if writer.stop else None)
            if self._issuance is not None:
                self._issuance.issued(head, writer.answer_id)

    async def _send(self, head: Head, data: bytes) -> None:
        if not data:
            return
        if not self._reply.has_begun:
            await self._reply.begin(head.http_status, self._headers(head))
            self._course.first_byte()
        await self._reply.write(data)

    async def _whole(self, head: Head) -> None:
        pieces: list[bytes] = []
        tail: Tail | None = None
        while (part := await self.answer.read()) is not None:
            if isinstance(part, bytes):
                pieces.append(part)
            elif isinstance(part, Tail):
                tail = part
                break
        if tail is None:
            raise _broke_off()
        self._course.saw(tail, None, None)
        self._told(head, tail)
        if tail.failure is not None:
            self._course.ended("broken")
            error = client_error_of(tail.failure, self._action.id)
            await refuse(self._action, self._reply, error)
            return
        body = await self._rendered(head, pieces)
        self._thread.served(head, tail.usage, tail.stop_reason)
        if self._issuance is not None and head.wire_family is self._action.surface:
            self._issuance.issued(head, answer_id_of(body))
        self._course.first_byte()
        headers = [*self._headers(head), *cost_headers(self.answer.account.bill)]
        await self._reply.whole(head.http_status, headers, body)
        self._course.ended("served")

    async def _rendered(self, head: Head, pieces: Sequence[bytes]) -> bytes:
        """Return a whole body in the client's dialect."""
        surface, is_stream_wanted = self._action.surface, self._action.request.is_stream
        if head.wire_family is surface and head.is_stream == is_stream_wanted:
            body = b"".join(pieces)
            if not head.is_model_aliased:
                return body
            return unaliased(body, head.binding.upstream_id, head.binding.model_id)
        client, context = codec_for(surface), self._context(head)
        try:
            response = await decoded(head, pieces)
            if context.has_think_tag:
                response = split_response(response)
            response = translated(response, surface, context, self._thread)
            if is_stream_wanted:
                return client.stream_encoder(context).feed(events_of(response))
            return client.encode_response(response, context)
        except WireError as error:
            message = f"the provider's answer cannot be read: {error}"
            raise RouterError(Reason.UPSTREAM_UNAVAILABLE, message) from error

    async def _report(self, failed: Failed) -> None:
        """Tell the client that no attempt served."""
        action, course = self._action, self._course
        course.attempts = max(course.attempts, failed.attempt_count)
        course.failed(failed.failure.value)
        course.is_over = True
        if not is_kept(failed, action.surface):
            family = failed.wire_family
            codec = codec_for(family) if family is not None else None
            error = failure_of(failed, action.surface, codec, action.id)
            await refuse(action, self._reply, error)
            return
        headers = base_headers(action.surface, action.id)
        headers.update(relayed(failed.headers))
        headers["content-type"] = JSON_TYPE
        if failed.retry_after_s is not None:
            headers["retry-after"] = retry_after(failed.retry_after_s)
        status = failed.upstream_status or 502
        await self._reply.whole(status, list(headers.items()), failed.body)

    def _headers(self, head: Head) -> list[tuple[str, str]]:
        return answer_headers(
            head,
            self._action.surface,
            self._action.id,
            REASONS.get(self._course.rescue) or self._decision,
            is_stream=self._action.request.is_stream,
        )

    def _context(self, head: Head) -> RenderContext:
        request, surface = self._action.request, self._action.surface
        return RenderContext(
            model_id=head.binding.model_id,
            created_unix_s=int(self._clock.now_unix_s()),
            new_id=new_id,
            estimated_input_tokens=self._action.input_tokens,
            is_usage_wanted=request.is_stream_usage_wanted or surface is not WireFamily.OPENAI_CHAT,
            is_reasoning_wanted=surface is not WireFamily.GEMINI or is_reasoning_wanted(request),
            tools=request.tools,
            has_think_tag=head.binding.model_id in self._tagged_models,
            upstream_family=head.wire_family if head.wire_family is not surface else None,
        )


def _broke_off() -> RouterError:
    return RouterError(
        Reason.ROUTING_UNAVAILABLE, "the answer broke off: try again", retry_after_s=1.0
    )
