"""Judges what a client saw: bytes of one attempt at most, and a legal end in its own dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import orjson

from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import BlockDelta, End, Failure, Text, WireError
from tests.chaos.schedules import Schedule
from tests.chaos.world import Seen
from tests.fakes.upstream import Fault, RecordedRequest

_WORD = re.compile(r"[xyz]\d")
_EXCUSED = (429, 503, 504)
"""Answered while all keys of a model rest, for what other schedules did to them, and where a busy
machine uses up the half second that a provider has for its headers."""
_USAGE = re.compile(rb'data: [^\n]*"choices":\[\][^\n]*\n\n')
"""What the router asks a Chat provider for and keeps, where the client did not ask."""
_KEEPALIVES = (b": keepalive\n\n", b'event: ping\ndata: {"type":"ping"}\n\n')


def faults_of(schedule: Schedule, seen: Seen) -> Iterator[str]:
    """Return everything that is wrong with what a client saw."""
    if seen.status != 200:
        yield from _refused(schedule, seen)
    elif schedule.is_stream:
        yield from _streamed(schedule, seen)
    else:
        yield from _whole(schedule, seen)
    if schedule.is_healthy and seen.status not in (200, *_EXCUSED):
        yield f"status {seen.status} though every provider was well"


def is_served(schedule: Schedule, seen: Seen) -> bool:
    """Return whether the client got a whole answer."""
    if seen.status != 200 or seen.is_left:
        return False
    if not schedule.is_stream:
        return True
    events = _events(schedule.client, seen.raw)
    return any(isinstance(event, End) for event in events)


def _refused(schedule: Schedule, seen: Seen) -> Iterator[str]:
    if not 400 <= seen.status < 600:
        yield f"status {seen.status} is no answer to an API client"
    if _WORD.search(seen.raw.decode(errors="replace")):
        yield "an error body holds words of an answer"
    if not _message_of(seen.raw):
        yield f"the error body has no message: {seen.raw[:200]!r}"


def _message_of(raw: bytes) -> str:
    """Return the message of an error body; all four dialects have it in the same place."""
    try:
        value = orjson.loads(raw)
    except ValueError:
        return ""
    error = value.get("error") if isinstance(value, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return message if isinstance(message, str) else ""


def _whole(schedule: Schedule, seen: Seen) -> Iterator[str]:
    if seen.is_left:
        return
    try:
        answer = codec_for(schedule.client).decode_response(seen.raw)
    except WireError as error:
        yield f"the body is unreadable: {error.message}: {seen.raw[:200]!r}"
        return
    text = "".join(block.text for block in answer.blocks if isinstance(block, Text))
    yield from _of_one_attempt(text, schedule, is_ended=True)


def _streamed(schedule: Schedule, seen: Seen) -> Iterator[str]:
    try:
        events = _events(schedule.client, seen.raw)
    except WireError as error:
        yield f"the stream is unreadable: {error.message}: {seen.raw[-300:]!r}"
        return
    ends = [event for event in events if isinstance(event, End | Failure)]
    if not seen.is_left:
        yield from _unended(schedule.client, seen.raw)
    if not seen.is_left and len(ends) != 1:
        yield f"{len(ends)} ends: {seen.raw[-300:]!r}"
    if ends and not isinstance(events[-1], End | Failure):
        yield f"something follows the end: {seen.raw[-300:]!r}"
    text = "".join(event.text for event in events if isinstance(event, BlockDelta))
    is_ended = any(isinstance(event, End) for event in ends)
    yield from _of_one_attempt(text, schedule, is_ended=is_ended)
    yield from _untouched(schedule, seen)


def _unended(family: WireFamily, raw: bytes) -> Iterator[str]:
    """Return what is missing at the end of a stream that was read to its end."""
    observer = codec_for(family).observer()
    observer.feed(raw)
    if not observer.seen.has_terminal and observer.seen.error is None:
        yield f"no end and no error: {raw[-300:]!r}"
    if not raw.endswith((b"\n\n", b"\r\n\r\n")):
        yield f"the last frame is cut: {raw[-300:]!r}"


def _events(family: WireFamily, raw: bytes) -> Sequence[object]:
    decoder = codec_for(family).stream_decoder()
    return [*decoder.feed(raw), *decoder.finish()]


def _of_one_attempt(text: str, schedule: Schedule, *, is_ended: bool) -> Iterator[str]:
    words = set(_WORD.findall(text))
    if len(words) > 1:
        yield f"words of several attempts: {sorted(words)}"
        return
    fault = _fault_of(schedule, words.pop()) if words else None
    if fault is None:
        return
    whole = _said(fault)
    if not whole.startswith(text):
        yield f"{text[:80]!r} is no beginning of what the attempt said"
    if is_ended and text != whole and not _is_cut_short(fault):
        yield f"ended with {text[:80]!r} instead of {whole[:80]!r}"


def _fault_of(schedule: Schedule, word: str) -> Fault:
    return schedule.faults[word[0]][int(word[1:])]


def _said(fault: Fault) -> str:
    pieces = [f"{fault.word} "] * (fault.chunks or 0)
    if pieces:
        pieces[0] += "x" * fault.oversize
    return "".join(pieces)


def _is_cut_short(fault: Fault) -> bool:
    """Whether a provider may end properly though it did not say all: the frame between was lost."""
    return fault.bad_json


def _untouched(schedule: Schedule, seen: Seen) -> Iterator[str]:
    """Compare the bytes with those of the attempts, where nothing is translated.

    What follows the longest common beginning must be frames of the router's own.
    """
    own = [each for each in seen.requests if _is_of(schedule.client, each) and each.written]
    is_translated = len(own) < len([each for each in seen.requests if each.written])
    if is_translated or not own:
        return
    raw = _plain(seen.raw)
    common = max(_common(raw, _plain(_USAGE.sub(b"", bytes(each.written)))) for each in own)
    rest = raw[common:]
    if rest and b"error" not in rest and b"failed" not in rest:
        yield f"{rest[:200]!r} is of no attempt and no error"


def _plain(stream: bytes) -> bytes:
    """Return a stream without frames that only say that it is alive; both sides write those."""
    for frame in _KEEPALIVES:
        stream = stream.replace(frame, b"")
    return stream


def _common(one: bytes, other: bytes) -> int:
    size = min(len(one), len(other))
    if one[:size] == other[:size]:
        return size
    return next(at for at in range(size) if one[at] != other[at])


def _is_of(family: WireFamily, request: RecordedRequest) -> bool:
    return request.model.startswith(tuple(f"{place}-{family.value}-" for place in "xyz"))
