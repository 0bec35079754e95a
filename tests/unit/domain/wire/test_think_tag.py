"""Reasoning under a leading tag of the visible text."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.wire.assemble import Assembler
from services.domain.wire.model import (
    Response,
    Stop,
    StopReason,
    Text,
    Thinking,
    ToolUse,
    Usage,
)
from services.domain.wire.openai_chat import CODEC
from services.domain.wire.think_tag import TagSplitter, ThinkTagDecoder, split_response
from tests.unit.domain.wire.openai_chat_cases import DONE, call, frame


def split(*pieces: str) -> tuple[str, str]:
    """Return reasoning and visible text of a text that came in ``pieces``."""
    tags = TagSplitter()
    found = [piece for words in pieces for piece in tags.feed(words)] + tags.finish()
    thought = "".join(words for kind, words in found if kind == "thinking")
    return thought, "".join(words for kind, words in found if kind == "text")


@pytest.mark.spec("XLT-112")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("<think>a b</think>said", ("a b", "said")),
        (" \n<think>a</think>\n\nsaid", ("a", "said")),
        ("said <think>a</think>", ("", "said <think>a</think>")),
        ("<think>never closed", ("never closed", "")),
        ("<think></think>said", ("", "said")),
        ("<think>a</think>b<think>c</think>", ("a", "b<think>c</think>")),
        ("<thin", ("", "<thin")),
        ("<think>a</thi", ("a</thi", "")),
        ("<b>said", ("", "<b>said")),
        ("", ("", "")),
    ],
)
def test_only_a_leading_tag_is_reasoning(words: str, expected: tuple[str, str]) -> None:
    assert split(words) == expected
    assert split(*words) == expected


@given(st.text(alphabet="<think>/ a\n", max_size=60), st.lists(st.integers(0, 60), max_size=8))
@pytest.mark.spec("XLT-112")
def test_cuts_are_invisible_and_nothing_but_tags_is_lost(words: str, cuts: list[int]) -> None:
    at = sorted({0, len(words), *(cut for cut in cuts if cut < len(words))})
    pieces = [words[a:b] for a, b in itertools.pairwise(at)]
    thought, said = split(words)
    assert split(*pieces) == (thought, said)
    if "<think>" not in words:
        assert (thought, said) == ("", words)
    tags = TagSplitter()
    for piece in words:
        tags.feed(piece)
        held = tags.finish()
        assert sum(len(kept.strip()) for _, kept in held) < len("</think>")
        tags = TagSplitter()


@pytest.mark.spec("XLT-112")
def test_a_stream_and_a_whole_answer_are_split_alike() -> None:
    frames = [frame({"role": "assistant", "content": ""})]
    frames += [frame({"content": piece}) for piece in ("<th", "ink>why", "</think>", "so")]
    frames += [call(0, "c1", name="f", arguments="{}"), frame({}, "tool_calls"), DONE]
    decoder, assembler = ThinkTagDecoder(CODEC.stream_decoder()), Assembler()
    for data in frames:
        assembler.feed(decoder.feed(data))
    assembler.feed(decoder.finish())
    streamed = assembler.response
    assert streamed is not None
    assert streamed.blocks == (Thinking("why"), Text("so"), ToolUse("c1", "f", b"{}"))
    whole = Response(
        "r",
        "m",
        (Text("<think>why</think>so"), ToolUse("c1", "f", b"{}")),
        Stop(StopReason.TOOL_USE),
        Usage(),
    )
    assert split_response(whole).blocks == streamed.blocks


@pytest.mark.spec("XLT-112")
def test_an_answer_without_a_tag_is_left_as_it_is() -> None:
    plain = Response("r", "m", (Text("a <think>"),), Stop(StopReason.END_TURN), None)
    assert split_response(plain) is plain
    only_call = Response("r", "m", (ToolUse("c", "f", b"{}"),), Stop(StopReason.TOOL_USE), None)
    assert split_response(only_call) is only_call
    decoder = ThinkTagDecoder(CODEC.stream_decoder())
    stream = frame({"content": "<p"}) + frame({"content": "lain"}) + frame({}, "stop") + DONE
    assembler = Assembler()
    assembler.feed([*decoder.feed(stream), *decoder.finish()])
    assert assembler.response is not None
    assert assembler.response.blocks == (Text("<plain"),)


@pytest.mark.spec("XLT-112")
def test_an_unclosed_tag_ends_as_reasoning_before_the_end() -> None:
    decoder, assembler = ThinkTagDecoder(CODEC.stream_decoder()), Assembler()
    stream = frame({"content": "<think>a</th"}) + frame({}, "length") + DONE
    assembler.feed([*decoder.feed(stream), *decoder.finish()])
    assert assembler.response is not None
    assert assembler.response.blocks == (Thinking("a</th"),)
