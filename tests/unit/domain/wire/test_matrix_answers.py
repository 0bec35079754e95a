"""Every recorded answer of every upstream, as every client reads it, streamed and whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from services.domain.vocab import WireFamily
from services.domain.wire.assemble import events_of as told_as_events
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import WireError
from tests.unit.domain.wire.matrix_cases import StreamWay, assembled, events_of, streamed, whole
from tests.unit.domain.wire.recorded import (
    FAMILIES,
    PAIRS,
    STATES,
    answers_of,
    streamed_answer,
    whole_answer,
)
from tests.unit.domain.wire.recorded.answers import CALL_IDS, expected
from tests.unit.domain.wire.recorded.clients import read_stream, read_whole

if TYPE_CHECKING:
    from tests.unit.domain.wire.recorded.answers import Told

CASES = [
    pytest.param(client, upstream, case, id=f"{client.value}-{upstream.value}-{case}")
    for client, upstream in PAIRS
    for case in answers_of(upstream, "json")
]
by_case = pytest.mark.parametrize(("client", "upstream", "case"), CASES)


def whole_way(client: WireFamily, upstream: WireFamily, case: str) -> bytes:
    response = codec_for(upstream).decode_response(whole_answer(upstream, case))
    return whole(client, upstream, response)


def stream_way(client: WireFamily, upstream: WireFamily, case: str) -> bytes:
    return streamed(client, upstream, streamed_answer(upstream, case))


def assert_read(told: Told, client: WireFamily, upstream: WireFamily, case: str) -> None:
    assert replace(told, call_ids=()) == expected(case, client, upstream)
    assert len(set(told.call_ids)) == len(told.calls)
    for call_id, recorded in zip(told.call_ids, CALL_IDS[upstream], strict=False):
        assert call_id.startswith(recorded)


@pytest.mark.spec("XLT-2", "XLT-113", "XLT-187", "XLT-220", "XLT-223")
@by_case
def test_a_whole_answer_says_to_the_client_what_the_upstream_said(
    client: WireFamily, upstream: WireFamily, case: str
) -> None:
    """Text, thoughts, refusals, calls, the word for the stop, and the usage by its own counts."""
    assert_read(read_whole(client, whole_way(client, upstream, case)), client, upstream, case)


@pytest.mark.spec("XLT-2", "XLT-113", "XLT-124", "XLT-187", "XLT-220", "XLT-223")
@by_case
def test_a_stream_says_to_the_client_what_the_upstream_said(
    client: WireFamily, upstream: WireFamily, case: str
) -> None:
    """B-007, B-008, B-010, B-011, B-016, B-017, B-022, B-028, B-029, B-058 and B-094."""
    assert_read(read_stream(client, stream_way(client, upstream, case)), client, upstream, case)


@pytest.mark.spec("XLT-114", "XLT-225")
@by_case
def test_each_may_stream_where_the_other_does_not(
    client: WireFamily, upstream: WireFamily, case: str
) -> None:
    """B-040."""
    response = codec_for(upstream).decode_response(whole_answer(upstream, case))
    told = StreamWay(client, upstream).tell(told_as_events(response))
    gathered = assembled(events_of(upstream, [streamed_answer(upstream, case)]))
    heard = [read_stream(client, told), read_whole(client, whole(client, upstream, gathered))]
    heard.append(read_whole(client, whole_way(client, upstream, case)))
    assert heard[0] == heard[1] == heard[2]


@pytest.mark.spec("XLT-113")
@by_case
def test_no_name_of_the_upstream_is_told(
    client: WireFamily, upstream: WireFamily, case: str
) -> None:
    sent = whole_way(client, upstream, case) + stream_way(client, upstream, case)
    assert b"upstream-model" not in sent


@pytest.mark.spec("XLT-29")
@pytest.mark.parametrize("family", [family for family in FAMILIES if STATES[family]])
@pytest.mark.parametrize("case", ["signed_thinking", "hidden_thinking"])
def test_what_signs_a_thought_is_told_to_clients_of_its_dialect(
    family: WireFamily, case: str
) -> None:
    for sent in (whole_way(family, family, case), stream_way(family, family, case)):
        assert sum(sent.count(state.encode()) for state in STATES[family]) == _places(family, sent)


def _places(family: WireFamily, sent: bytes) -> int:
    """Return how often state stands in an answer: items of one dialect are told three times."""
    is_stream = sent.startswith((b"event:", b"data:"))
    return 2 if family is WireFamily.OPENAI_RESPONSES and is_stream else 1


@pytest.mark.spec("XLT-115")
@pytest.mark.parametrize("upstream", FAMILIES)
@pytest.mark.parametrize("body", [b"", b"[]", b'{"error":{"message":"no"}}', b"<html>"])
def test_what_is_no_answer_is_none_in_any_dialect(upstream: WireFamily, body: bytes) -> None:
    with pytest.raises(WireError):
        codec_for(upstream).decode_response(body)
