from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.domain.sse import Frame, FrameSplitter, RawSplitter, is_at_boundary, parse_frame

ENDINGS = st.sampled_from([b"\n", b"\r\n", b"\r"])
LINES = st.sampled_from(
    [
        b"data: one",
        b"data:two",
        b"data:  three",
        b"data",
        b"event: named",
        b"event:other",
        b": comment",
        b"id: 7",
        b"retry: 9",
        "data: grüße \U0001f600".encode(),
        b"",
    ]
)


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    rows = draw(st.lists(st.tuples(LINES, ENDINGS), max_size=12))
    return b"".join(line + ending for line, ending in rows)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    bounds = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(bounds)]


def read(chunks: list[bytes]) -> list[Frame]:
    splitter = FrameSplitter()
    frames = [frame for chunk in chunks for frame in splitter.feed(chunk)]
    return frames + splitter.finish()


@pytest.mark.spec("XLT-116")
@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r", b"\n\r\n", b"\r\n\n", b"\n\r"])
def test_a_frame_ends_at_a_blank_line_in_any_line_ending(end: bytes) -> None:
    stream = b"data: a" + end + b"event: e\ndata: b" + end
    assert read([stream]) == [Frame("", b"a"), Frame("e", b"b")]


@pytest.mark.spec("XLT-116")
def test_data_lines_are_joined_and_comments_skipped() -> None:
    stream = b": hello\n\n: x\ndata:a\ndata: b\nid: 1\n\ndata: last"
    assert read([stream]) == [Frame("", b"a\nb"), Frame("", b"last")]


@pytest.mark.spec("XLT-116")
def test_a_byte_order_mark_at_the_start_is_skipped() -> None:
    assert read([b"\xef\xbb\xbfdata: a\n\n"]) == [Frame("", b"a")]


@pytest.mark.spec("XLT-116")
@given(streams(), st.lists(st.integers(0, 400), max_size=6))
def test_no_cut_between_chunks_is_visible(stream: bytes, places: list[int]) -> None:
    assert read(cut(stream, places)) == read([stream])


@given(streams())
def test_single_bytes_give_the_same_frames(stream: bytes) -> None:
    assert read([bytes([byte]) for byte in stream]) == read([stream])


@given(streams(), st.lists(st.integers(0, 400), max_size=6))
def test_raw_frames_concatenate_to_the_stream(stream: bytes, places: list[int]) -> None:
    splitter = RawSplitter()
    raws = [raw for chunk in cut(stream, places) for raw in splitter.feed(chunk)]
    assert b"".join(raws) + splitter.finish() == stream


@pytest.mark.spec("XLT-118")
@settings(max_examples=30)
@given(st.integers(1, 40))
def test_a_frame_over_the_limit_breaks_the_stream_whatever_the_cuts(size: int) -> None:
    stream = b"data: ok\n\n" + b"data: " + b"x" * 60 + b"\n\ndata: never\n\n"
    splitter = FrameSplitter(limit=50)
    frames = []
    for at in range(0, len(stream), size):
        frames += splitter.feed(stream[at : at + size])
    assert frames == [Frame("", b"ok")]
    assert splitter.is_over_limit
    assert splitter.finish() == []


@pytest.mark.spec("DSP-173")
@pytest.mark.parametrize("tail", [b"", b"x\n\n", b"\r\n\r\n", b"x\n\r\n", b"\r\n\n", b"\r\r\n"])
def test_a_blank_line_is_a_boundary(tail: bytes) -> None:
    assert is_at_boundary(tail)


@pytest.mark.spec("DSP-173")
@pytest.mark.parametrize("tail", [b"x", b"\n", b"x\r\n", b"\n\r", b"\r\r", b"\r\n\r"])
def test_half_a_line_end_is_no_boundary(tail: bytes) -> None:
    assert not is_at_boundary(tail)


def test_a_frame_without_data_is_none() -> None:
    assert parse_frame(b"event: ping\n\n") is None
    assert parse_frame(b"event: e\ndata: x\ndata: y\n\n") == Frame("e", b"x\ny")
