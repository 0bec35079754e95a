from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tests.bench.canned import CHAT, MESSAGES
from tests.bench.reading import AnswerReader

BODY = MESSAGES.opening + MESSAGES.delta() + MESSAGES.closing
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED = (
    HEAD
    + b"Transfer-Encoding: chunked\r\n\r\n"
    + b"%x\r\n%b\r\n" % (len(MESSAGES.opening), MESSAGES.opening)
    + b"%x;a=b\r\n%b\r\n" % (len(BODY[len(MESSAGES.opening) :]), BODY[len(MESSAGES.opening) :])
    + b"0\r\n\r\n"
)
STATED = HEAD + b"Content-Length: %d\r\n\r\n%b" % (len(BODY), BODY)


def _read(data: bytes, cuts: list[int]) -> tuple[AnswerReader, bytes]:
    reader, body = AnswerReader(), b""
    places = [0, *sorted(cut % len(data) for cut in cuts), len(data)]
    for start, end in itertools.pairwise(places):
        body += reader.feed(data[start:end])
    return reader, body


@given(st.sampled_from((CHUNKED, STATED)), st.lists(st.integers(min_value=0), max_size=20))
def test_however_an_answer_is_cut_its_body_is_the_same(data: bytes, cuts: list[int]) -> None:
    reader, body = _read(data, cuts)
    assert (reader.status, reader.is_complete, body) == (200, True, BODY)


def test_a_body_without_a_length_ends_with_its_connection() -> None:
    reader, body = _read(HEAD + b"Connection: close\r\n\r\n" + BODY, [])
    assert (body, reader.is_complete, reader.is_kept_alive) == (BODY, False, False)
    reader.end()
    assert reader.is_complete


def test_a_chunked_body_that_stops_short_is_not_complete() -> None:
    reader, _ = _read(CHUNKED[:-5], [])
    reader.end()
    assert not reader.is_complete


def test_every_stream_ends_in_its_terminal() -> None:
    for script in (MESSAGES, CHAT):
        assert script.terminal.encode() in script.closing
        assert script.terminal.encode() not in script.opening + script.delta()
