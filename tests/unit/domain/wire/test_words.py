"""Counting words without parsing them teaches what parsing them would."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.domain.wire.anthropic.observe import MessagesStreamObserver
from services.domain.wire.observer import StreamObserver
from services.domain.wire.openai_chat.observe import ChatStreamObserver
from services.domain.wire.words import WORDS, characters_of
from tests.unit.domain.wire.anthropic_cases import RICH_STREAM
from tests.unit.domain.wire.openai_chat_cases import DONE, call, frame

NEVER = re.compile(b"(?!)")


class SlowMessages(MessagesStreamObserver):
    """Parses every frame."""

    _plain = NEVER


class SlowChat(ChatStreamObserver):
    """Parses every frame."""

    _plain_head = NEVER


def message_delta(words: bytes, blank: bytes, kind: bytes, member: bytes, last: bytes) -> bytes:
    return (
        b'event: content_block_delta\ndata: {"type":%b"content_block_delta",%b"index":%b0,%b'
        b'"delta":%b{"type":%b"%b",%b"%b":%b"%b"}%b}%b'
        % (*[blank] * 5, blank, kind, blank, member, blank, words, blank, last)
    )


def chat_delta(words: bytes, blank: bytes, head: bytes, foot: bytes, last: bytes) -> bytes:
    return (
        b'data: {"id":%b"c-1",%b"created":%b1,%b%b"choices":%b[{"index":%b0,%b"delta":%b{"content":'
        b'%b"%b"},"finish_reason":%bnull}]%b}%b'
        % (*[blank] * 3, blank, head, *[blank] * 5, words, blank, foot, last)
    )


WORD = st.one_of(
    st.text(max_size=8).map(lambda text: json.dumps(text)[1:-1].encode()),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(
        lambda text: json.dumps(text, ensure_ascii=False)[1:-1].encode()
    ),
    st.binary(max_size=4),
    st.sampled_from(
        [b"", b'\\"', b"\\\\", b"\\n", b"\\u0041", b"\\x", b"\x7f", b"\xff", b'"', b"\\"]
    ),
)
BLANK = st.sampled_from([b"", b"", b" ", b"  "])
END = st.sampled_from([b"\n\n", b"\n\n", b"\n\n", b"\r\n\r\n", b"\n", b"x\n\n", b"\n\n\n"])
MESSAGE_KINDS = st.sampled_from(
    [
        (b"text_delta", b"text"),
        (b"thinking_delta", b"thinking"),
        (b"input_json_delta", b"partial_json"),
        (b"text_delta", b"thinking"),
        (b"signature_delta", b"signature"),
        (b"other", b"text"),
    ]
)
MESSAGE_FRAMES = st.one_of(
    st.builds(
        lambda words, blank, names, last: message_delta(words, blank, names[0], names[1], last),
        WORD,
        BLANK,
        MESSAGE_KINDS,
        END,
    ),
    st.sampled_from(
        [
            *(part + b"\n\n" for part in RICH_STREAM.split(b"\n\n") if part),
            b": ping\n\n",
            b"\xef\xbb\xbf",
            b'event: content_block_delta\ndata: {"type":"error","error":{"type":"x"}}\n\n',
            b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":'
            b'{"type":"text_delta","text":"a"},"type":"message_stop"}\n\n',
            b'event: content_block_delta\ndata: {"type":"content_block_delta","index":00,"delta":'
            b'{"type":"text_delta","text":"a"}}\n\n',
        ]
    ),
)
CHAT_FRAMES = st.one_of(
    st.builds(
        chat_delta,
        WORD,
        BLANK,
        st.sampled_from([b"", b'"usage":null,', b'"usage":{"prompt_tokens":1},', b'"error":"x",']),
        st.sampled_from(
            [b"", b',"usage":null', b',"obfuscation":"ab"', b',"choices":[]', b',"error":{"a":1}']
        ),
        END,
    ),
    st.sampled_from(
        [
            DONE,
            b": ping\n\n",
            b"\xef\xbb\xbf",
            frame({"role": "assistant", "content": ""}),
            frame({"role": "assistant", "content": "abc"}),
            frame({"content": "abc", "refusal": "no"}),
            frame({}, "stop"),
            frame({}, "error"),
            frame({"content": "abc"}, "length"),
            frame({"content": "abc"}, logprobs=None),
            frame(None, choices=[], usage={"prompt_tokens": 2, "completion_tokens": 1}),
            frame({"content": "other"}, choices=[{"index": 1, "delta": {"content": "b"}}]),
            call(0, "a", name="abc", arguments=""),
        ]
    ),
)


def fed(observer: StreamObserver, stream: bytes, cuts: list[int]) -> StreamObserver:
    places = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
    for start, end in itertools.pairwise(places):
        observer.feed(stream[start:end])
    observer.finish()
    return observer


@pytest.mark.parametrize(
    ("fast", "slow", "frames"),
    [
        (MessagesStreamObserver, SlowMessages, MESSAGE_FRAMES),
        (ChatStreamObserver, SlowChat, CHAT_FRAMES),
    ],
)
def test_an_observer_that_counts_words_learns_what_one_that_parses_learns(
    fast: Callable[[], StreamObserver],
    slow: Callable[[], StreamObserver],
    frames: st.SearchStrategy[bytes],
) -> None:
    @settings(max_examples=150, deadline=None)
    @given(st.lists(frames, max_size=10).map(b"".join), st.lists(st.integers(0, 900), max_size=6))
    @example(RICH_STREAM, [7, 200])
    def check(stream: bytes, cuts: list[int]) -> None:
        assert fed(fast(), stream, cuts).seen == fed(slow(), stream, []).seen

    check()


@given(WORD)
def test_words_are_as_long_as_the_string_they_stand_for(words: bytes) -> None:
    try:
        text = json.loads(b'"%b"' % words)
    except ValueError:
        text = None
    if re.fullmatch(WORDS, words):
        assert characters_of(words) == (0 if text is None else len(text))


def test_the_forms_that_vendors_send_are_known() -> None:
    """Else the quick way is never taken, and nobody would notice."""
    for words in (b"Hello", b" w\\u00f6rld", "Grüße".encode(), b'\\"a\\": \\n'):
        is_quick = b"\\u" not in words
        raw = message_delta(words, b"", b"text_delta", b"text", b"\n\n")
        assert bool(MessagesStreamObserver._plain.fullmatch(raw)) is is_quick
        raw = chat_delta(words, b"", b'"model":"m-1.5/x",', b',"usage":null', b"\n\n")
        assert bool(ChatStreamObserver()._plain_characters(raw)) is is_quick
