"""Which tier served, as vendors tell it in their answers."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.dispatch.policy.fast import ServedTier

PLAIN = b'data: {"usage":{"input_tokens":1,"speed":"standard"}}\n\n'
FAST = b'data: {"service_tier" : "priority","choices":[]}\n\n'


def told(*pieces: bytes) -> bool:
    tier = ServedTier()
    for piece in pieces:
        tier.saw(piece)
    return tier.is_fast


@pytest.mark.spec("DSP-232")
@pytest.mark.parametrize(
    ("answer", "is_fast"),
    [
        (b"", True),
        (b'{"choices":[]}', True),
        (FAST, True),
        (b'{"service_tier":"default"}', False),
        (b'{"service_tier":"fast"}', True),
        (b'{"service_tier":null}', True),
        (PLAIN, False),
        (PLAIN + FAST, True),
        (rb'{"text":"\"speed\":\"standard\""}', True),
    ],
)
def test_what_is_told_last_counts_and_texts_tell_nothing(answer: bytes, is_fast: bool) -> None:
    assert told(answer) is is_fast


@given(st.lists(st.sampled_from([PLAIN, FAST, b": ping\n\n"])), st.sets(st.integers(0, 400)))
def test_it_is_told_however_an_answer_is_cut(frames: list[bytes], cuts: set[int]) -> None:
    whole = b"".join(frames)
    places = sorted({0, *(cut for cut in cuts if cut < len(whole)), len(whole)})
    pieces = [whole[a:b] for a, b in itertools.pairwise(places)]
    assert told(*pieces) is told(whole)
