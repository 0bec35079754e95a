from __future__ import annotations

from itertools import pairwise

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.answering.aliasing import AliasFilter, unaliased
from gateway.answering.writers import PassThrough
from gateway.model import StreamFailure
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.openai_chat.usage_filter import UsageFrameFilter

CHAT = codec_for(WireFamily.OPENAI_CHAT)
STREAM = (
    b'data: {"id":"1","model":"alias","choices":[{"index":0,'
    b'"delta":{"content":"\\"model\\":\\"alias\\""}}]}\n\n'
    b'data: {"id":"1","model" : "alias","choices":[{"index":0,"delta":{},'
    b'"finish_reason":"stop"}]}\n\n'
    b'data: {"id":"1","model":"alias","choices":[],'
    b'"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\n'
    b"data: [DONE]\n\n"
)


def _pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


@given(st.lists(st.integers(0, 10_000), max_size=8))
def test_a_pass_through_keeps_its_bytes_whatever_the_cuts(cuts: list[int]) -> None:
    writer = PassThrough(CHAT)
    out = b"".join(writer.feed(piece) for piece in _pieces(STREAM, cuts)) + writer.finish()
    assert out == STREAM
    assert writer.usage is not None
    assert writer.usage.fresh_input == 1


@given(st.lists(st.integers(0, 10_000), max_size=8))
def test_filters_change_their_frames_alone_whatever_the_cuts(cuts: list[int]) -> None:
    writer = PassThrough(CHAT, [UsageFrameFilter(), AliasFilter("alias", "model-1")])
    out = b"".join(writer.feed(piece) for piece in _pieces(STREAM, cuts)) + writer.finish()
    frames = STREAM.split(b"\n\n")
    kept = b"\n\n".join([frames[0], frames[1], frames[3], b""])
    expected = kept.replace(b'"model":"alias"', b'"model":"model-1"')
    expected = expected.replace(b'"model" : "alias"', b'"model" : "model-1"')
    assert out == expected
    assert out.count(b'\\"model\\":\\"alias\\"') == 1


def test_an_error_after_half_a_frame_stands_in_a_frame_of_its_own() -> None:
    writer = PassThrough(CHAT)
    sent = writer.feed(STREAM[:20])
    out = sent + writer.fail(StreamFailure(502), "req")
    assert out.startswith(STREAM[:20] + b"\n\ndata: {")
    assert out.endswith(b"\n\n")


def test_nothing_follows_a_terminal() -> None:
    writer = PassThrough(CHAT)
    writer.feed(STREAM)
    assert writer.fail(StreamFailure(502), "req") == b""


def test_an_alias_is_replaced_where_gemini_names_it() -> None:
    body = b'{"modelVersion" : "alias","model":"alias","text":"\\"modelVersion\\":\\"alias\\""}'
    expected = b'{"modelVersion" : "m","model":"m","text":"\\"modelVersion\\":\\"alias\\""}'
    assert unaliased(body, "alias", "m") == expected


@pytest.mark.spec("XLT-138", "XLT-141")
def test_the_failure_of_a_numbered_stream_goes_on_with_its_numbers() -> None:
    writer = PassThrough(codec_for(WireFamily.OPENAI_RESPONSES))
    created = {"type": "response.created", "sequence_number": 0, "response": {"id": "resp_7"}}
    writer.feed(b"data: " + orjson.dumps(created) + b"\n\n")
    last = orjson.loads(writer.fail(StreamFailure(502), "act_1").partition(b"data: ")[2])
    assert (last["type"], last["sequence_number"]) == ("response.failed", 1)
    assert last["response"]["id"] == "resp_7"


def test_other_model_names_stay() -> None:
    body = b'{"model":"other","a":{"model":1}}'
    assert unaliased(body, "alias", "m") == body
