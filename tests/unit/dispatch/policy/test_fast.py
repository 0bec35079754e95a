"""Which tier served, as vendors tell it in their answers."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.dispatch.policy.fast import ServedTier
from services.domain.vocab import WireFamily

CHAT, RESPONSES = WireFamily.OPENAI_CHAT, WireFamily.OPENAI_RESPONSES
ANTHROPIC = WireFamily.ANTHROPIC
PLAIN = b'data: {"service_tier":"default","choices":[]}\n\n'
FAST = b'data: {"service_tier" : "priority","choices":[]}\n\n'


def told(family: WireFamily, *pieces: bytes, is_stream: bool = True) -> bool:
    tier = ServedTier(family, is_stream=is_stream)
    for piece in pieces:
        tier.saw(piece)
    return tier.is_fast


@pytest.mark.spec("DSP-232")
@pytest.mark.parametrize(
    ("family", "answer", "is_fast"),
    [
        (CHAT, b"", True),
        (CHAT, b'{"choices":[]}', True),
        (CHAT, b'{"service_tier":"default"}', False),
        (CHAT, b'{"service_tier":"fast"}', True),
        (CHAT, b'{"service_tier":"priority"}', True),
        (CHAT, b'{"service_tier":null}', True),
        (RESPONSES, b'{"service_tier":"default"}', False),
        (ANTHROPIC, b'{"usage":{"speed":"standard"}}', False),
        (ANTHROPIC, b'{"usage":{"speed":"fast"}}', True),
    ],
)
def test_a_whole_answer_tells_it(family: WireFamily, answer: bytes, is_fast: bool) -> None:
    assert told(family, answer, is_stream=False) is is_fast


@pytest.mark.spec("DSP-232")
@pytest.mark.parametrize(
    ("family", "answer"),
    [
        (CHAT, b'{"choices":[{"delta":{"content":"\\"service_tier\\":\\"default\\""}}]}'),
        (CHAT, b'{"speed":"standard","usage":{"service_tier":"default"}}'),
        (RESPONSES, b'{"service_tier":"priority","metadata":{"service_tier":"default"}}'),
        (RESPONSES, b'{"metadata":{"service_tier":"default","speed":"slow"}}'),
        (ANTHROPIC, b'{"content":[{"type":"tool_use","input":{"speed":"slow"}}],"usage":{}}'),
        (ANTHROPIC, b'{"usage":{"service_tier":"standard"}}'),
    ],
)
@pytest.mark.parametrize("is_stream", [True, False])
def test_what_client_and_model_say_tells_nothing(
    family: WireFamily, answer: bytes, is_stream: bool
) -> None:
    sent = b"data: " + answer + b"\n\n" if is_stream else answer
    assert told(family, sent, is_stream=is_stream)


@pytest.mark.spec("DSP-232")
@pytest.mark.parametrize(
    ("family", "frame"),
    [
        (CHAT, b'{"service_tier":"default","choices":[]}'),
        (RESPONSES, b'{"type":"response.created","response":{"service_tier":"default"}}'),
        (ANTHROPIC, b'{"type":"message_start","message":{"usage":{"speed":"standard"}}}'),
        (ANTHROPIC, b'{"type":"message_delta","delta":{},"usage":{"speed":"standard"}}'),
    ],
)
def test_a_stream_tells_it_in_its_events(family: WireFamily, frame: bytes) -> None:
    plain = b"data: " + frame + b"\n\n"
    assert not told(family, plain)
    fast = frame.replace(b"default", b"priority").replace(b"standard", b"fast")
    assert told(family, plain, b"data: " + fast + b"\n\n")


@given(st.lists(st.sampled_from([PLAIN, FAST, b": ping\n\n"])), st.sets(st.integers(0, 400)))
def test_it_is_told_however_a_stream_is_cut(frames: list[bytes], cuts: set[int]) -> None:
    whole = b"".join(frames)
    places = sorted({0, *(cut for cut in cuts if cut < len(whole)), len(whole)})
    pieces = [whole[a:b] for a, b in itertools.pairwise(places)]
    assert told(CHAT, *pieces) is told(CHAT, whole)
