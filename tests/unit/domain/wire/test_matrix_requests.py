"""Every recorded request of every client, as every upstream of another dialect reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from tests.unit.domain.wire.matrix_cases import target
from tests.unit.domain.wire.recorded import FAMILIES, PAIRS, STATES, request_body, requests_of
from tests.unit.domain.wire.recorded.requests import THOUGHT, expected, with_own_words
from tests.unit.domain.wire.recorded.upstreams import read

if TYPE_CHECKING:
    from services.domain.wire.model import EncodedRequest

FOREIGN = [
    pytest.param(client, upstream, case, id=f"{client.value}-{upstream.value}-{case}")
    for client, upstream in PAIRS
    if client is not upstream
    for case in requests_of(client)
]
by_case = pytest.mark.parametrize(("client", "upstream", "case"), FOREIGN)


def encoded(client: WireFamily, upstream: WireFamily, case: str) -> EncodedRequest:
    request = codec_for(client).decode_request(request_body(client, case))
    return codec_for(upstream).encode_request(request, target(upstream))


@pytest.mark.spec("XLT-2", "XLT-220", "XLT-223", "XLT-225")
@by_case
def test_the_upstream_reads_what_the_client_asked(
    client: WireFamily, upstream: WireFamily, case: str
) -> None:
    """Text, instructions, calls next to their results, images, documents, tools and knobs."""
    wanted = expected(case, client, upstream)
    found = read(upstream, encoded(client, upstream, case).body)
    assert with_own_words(found, wanted) == wanted


@pytest.mark.spec("XLT-177", "XLT-225")
@by_case
def test_equal_requests_give_equal_bytes(
    client: WireFamily, upstream: WireFamily, case: str
) -> None:
    assert encoded(client, upstream, case) == encoded(client, upstream, case)


@pytest.mark.spec("XLT-29", "XLT-64", "XLT-182")
@by_case
def test_neither_thoughts_nor_what_signs_them_reach_another_vendor(
    client: WireFamily, upstream: WireFamily, case: str
) -> None:
    body = encoded(client, upstream, case).body
    assert THOUGHT.encode() not in body
    assert not any(state.encode() in body for state in STATES[client])


@pytest.mark.spec("XLT-29")
@pytest.mark.parametrize("family", FAMILIES)
def test_what_signs_a_thought_goes_back_to_its_vendor(family: WireFamily) -> None:
    case = "signed_thinking"
    if family is WireFamily.OPENAI_CHAT:
        assert case not in requests_of(family)
    else:
        assert any(state.encode() in encoded(family, family, case).body for state in STATES[family])


def test_every_dialect_is_asked_everything_that_it_can_say() -> None:
    """A case that is lost from a folder would be missed by nobody else."""
    lacking = {
        WireFamily.ANTHROPIC: set(),
        WireFamily.OPENAI_CHAT: {"signed_thinking", "result_image", "failed_result"},
        WireFamily.OPENAI_RESPONSES: {"failed_result"},
        WireFamily.GEMINI: {"late_system", "result_image"},
    }
    every = set(requests_of(WireFamily.ANTHROPIC))
    assert {family: every - set(requests_of(family)) for family in FAMILIES} == lacking
