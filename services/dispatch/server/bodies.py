"""Bodies of upstreams: errors, whole answers, and chunks of a size that may travel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.dispatch.model.outcome import MAX_ERROR_BODY_BYTES, AttemptFault, Broken, Fault
from services.dispatch.policy import headers as header_rules
from services.dispatch.policy.classify import CYBER_CODE
from services.dispatch.policy.mask import shown, without_secret
from services.domain.sse import FrameSplitter
from services.domain.vocab import FailureClass
from services.domain.wire.model import ClientError, ErrorKind, UpstreamError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from services.dispatch.model.plan import HeaderPairs
    from services.dispatch.server.watch import WatchedReader
    from services.domain.wire.codec import Codec

MAX_DRAIN_BYTES = 1024 * 1024
"""Bytes of an error body read and dropped beyond those kept, so that the connection lives on."""
MAX_WHOLE_BODY_BYTES = 64 * 1024 * 1024
MAX_CHUNK_BYTES = 64 * 1024
REDIRECTED = Fault(FailureClass.TRANSPORT, message="the upstream redirects; not followed")
UNREADABLE = Fault(FailureClass.BAD_RESPONSE, message="the upstream's answer is unreadable")


async def read_error(reader: WatchedReader) -> tuple[bytes, bool]:
    """Return the first 64 KiB of an error body, and whether it goes on.

    A body that breaks off changes nothing: the status tells enough.
    """
    kept, size = bytearray(), 0
    try:
        while (data := await reader.read()) is not None:
            kept += data[: MAX_ERROR_BODY_BYTES - len(kept)]
            size += len(data)
            if size > MAX_ERROR_BODY_BYTES + MAX_DRAIN_BYTES:
                break
    except AttemptFault:
        pass
    return bytes(kept), size > len(kept)


async def read_whole(reader: WatchedReader) -> bytes:
    """Return a whole body.

    Raises:
        AttemptFault: it is empty, larger than 64 MiB, or broke off.
    """
    pieces: list[bytes] = []
    await gather(reader.read, pieces)
    body = b"".join(pieces)
    if not body:
        raise AttemptFault(unfinished(is_started=False))
    return body


async def gather(read: Callable[[], Awaitable[bytes | None]], pieces: list[bytes]) -> None:
    """Add to ``pieces`` what ``read`` gives up to its end.

    Raises:
        AttemptFault: it is larger than 64 MiB, or broke off.
    """
    size = 0
    while (data := await read()) is not None:
        pieces.append(data)
        size += len(data)
        if size > MAX_WHOLE_BODY_BYTES:
            raise AttemptFault(Fault(FailureClass.BAD_RESPONSE, message="the body is too large"))


def error_event(pieces: Sequence[bytes]) -> bytes:
    """Return the body that the error event of a stream stands for: the data of its last one."""
    splitter = FrameSplitter()
    frames = [*splitter.feed(b"".join(pieces)), *splitter.finish()]
    return next((frame.data for frame in reversed(frames) if b'"error"' in frame.data), b"")


def refusal_of(codec: Codec, error: UpstreamError) -> tuple[UpstreamError, bytes]:
    """Return a cyber refusal that came inside a 200 as the 400 that it stands for, with its body.

    The body is in the upstream's dialect, so that it is rendered like one that came as such.
    """
    told = ClientError(
        kind=ErrorKind.INVALID_REQUEST,
        message=error.message or "the provider refused this request for reasons of cyber security",
        code=CYBER_CODE,
        vendor_type="invalid_request_error",
    )
    refusal = UpstreamError(400, "invalid_request_error", CYBER_CODE, told.message)
    return refusal, codec.encode_error(told)


@dataclass(frozen=True, slots=True)
class Told:
    """What an upstream said with a refusal; ``key`` is the secret that it was asked with."""

    headers: HeaderPairs
    body: bytes = field(repr=False)
    key: bytes = field(repr=False)
    is_cut: bool = False


def fault_of(
    failure_class: FailureClass, error: UpstreamError, told: Told, now_unix_s: float
) -> Fault:
    """Return a refusal as it may be shown: without the secret, should the upstream echo it."""
    return Fault(
        failure_class,
        http_status=error.http_status,
        body=without_secret(told.body, told.key)[:MAX_ERROR_BODY_BYTES],
        is_body_truncated=told.is_cut,
        headers=told.headers,
        retry_after_s=header_rules.retry_after_s(told.headers, now_unix_s),
        vendor_type=error.vendor_type[:128],
        message=shown(error.message, told.key),
    )


def check_type(headers: HeaderPairs, *, is_stream: bool) -> None:
    """Refuse a body where a stream was asked for, and the other way round.

    A type that is neither is taken for what was asked for.

    Raises:
        AttemptFault: BAD_RESPONSE.
    """
    kind = header_rules.value_of(headers, "content-type").partition(";")[0].strip().lower()
    if kind == ("application/json" if is_stream else "text/event-stream"):
        fault = Fault(FailureClass.BAD_RESPONSE, message=f"the upstream answered with {kind}")
        raise AttemptFault(fault)


def broken_by(fault: Fault | None) -> tuple[FailureClass, Broken]:
    """Return what broke an answer after its start; None: it just ended too early."""
    fault = fault or unfinished(is_started=True)
    status = 504 if fault.failure_class is FailureClass.STALL else 502
    return fault.failure_class, Broken(status, fault.vendor_type, fault.message, False)


def unfinished(*, is_started: bool) -> Fault:
    """Return the fault of an answer that ended too early: empty, or without its end."""
    if is_started:
        return Fault(
            FailureClass.STREAM_INCOMPLETE, message="the upstream's answer broke off before its end"
        )
    return Fault(FailureClass.STREAM_EMPTY, message="the upstream's answer was empty")


def cut(data: bytes) -> tuple[bytes, ...]:
    """Return ``data`` in pieces of at most 64 KiB."""
    if len(data) <= MAX_CHUNK_BYTES:
        return (data,) if data else ()
    return tuple(data[at : at + MAX_CHUNK_BYTES] for at in range(0, len(data), MAX_CHUNK_BYTES))
