from __future__ import annotations

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.sessions.document import DocumentError, decode, encode
from gateway.sessions.model import (
    Alias,
    BindingUse,
    Choice,
    History,
    Issued,
    MeanRisk,
    Pin,
    Risks,
    Round,
    Session,
    Strike,
    Strikes,
    TokenCounts,
)
from services.domain.vocab import WireFamily
from services.domain.wire.model import ProviderState
from services.domain.wire.state.kept import Kept, Place
from services.domain.wire.state.sealing import KINDS
from tests.unit.gateway.sessions.made import ADDRESS, pinned

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
counts = st.integers(0, 2**40)
moments = st.floats(0, 2**40, allow_nan=False)
choices = st.builds(Choice, **dict.fromkeys(Choice.__dataclass_fields__, words))
tokens = st.builds(TokenCounts, counts, counts, counts, counts)
uses = st.builds(BindingUse, words, words, words, tokens, moments, moments, moments, counts)
strikes = st.builds(Strike, words, words, st.none() | moments)
kept = st.builds(
    Kept,
    st.sampled_from(Place),
    words,
    words,
    st.builds(
        ProviderState, st.sampled_from(WireFamily), st.sampled_from(KINDS), words, words, words
    ),
    words,
)
sessions = st.builds(
    Session,
    address=st.just(ADDRESS),
    version=counts,
    pin=st.none() | st.builds(Pin, choices, moments, moments, counts),
    pin_epoch=counts,
    uses=st.lists(uses, max_size=2).map(tuple),
    has_ever_switched=st.booleans(),
    last_output_limit_unix_s=st.none() | moments,
    strikes=st.builds(
        Strikes,
        counts,
        counts,
        st.lists(words, max_size=2).map(tuple),
        st.lists(strikes, max_size=2).map(tuple),
    ),
    risks=st.builds(
        Risks,
        st.lists(st.builds(MeanRisk, words, st.floats(0, 1)), max_size=2).map(tuple),
        counts,
        st.lists(words, max_size=2).map(tuple),
    ),
    history=st.none() | st.builds(History, counts, counts, moments),
    history_epoch=counts,
    fit_ratio=st.floats(1, 4),
    rounds=st.lists(st.builds(Round, st.binary(max_size=8), words, words, moments), max_size=2).map(
        tuple
    ),
    escalation=words,
    answers=st.lists(st.builds(Issued, words, words, words, words), max_size=2).map(tuple),
    summary=st.binary(max_size=16),
    compaction=st.binary(max_size=16),
    aliases=st.lists(st.builds(Alias, words, st.binary(max_size=16), moments), max_size=2).map(
        tuple
    ),
    states=st.lists(kept, max_size=2).map(tuple),
    last_seen_unix_s=moments,
)


@settings(max_examples=30)
@given(sessions)
def test_a_session_comes_back_as_it_was(session: Session) -> None:
    assert decode(encode(session), session.address, session.version) == session


def test_half_a_pair_in_what_an_upstream_said_stops_no_writer() -> None:
    session = Session(ADDRESS, 0, answers=(Issued("\ud800", "m", "p", "c"),))
    (read,) = decode(encode(session), ADDRESS, 0).answers
    assert read == Issued("\ufffd", "m", "p", "c")


def test_members_of_another_version_do_no_harm() -> None:
    document = orjson.loads(encode(pinned()))
    document["invented"] = {"later": 1}
    del document["risks"]
    assert decode(orjson.dumps(document), ADDRESS, 0) == pinned()
    assert decode(b"{}", ADDRESS, 3) == Session(ADDRESS, 3)


@pytest.mark.parametrize("document", [b"", b"{", b"[]", b'{"summary":"%"}'])
def test_a_damaged_document_is_named(document: bytes) -> None:
    with pytest.raises(DocumentError):
        decode(document, ADDRESS, 1)


ODD = (
    st.none()
    | st.integers(-(2**40), 2**40)
    | st.sampled_from(["x", {"a": 1}])
    | st.lists(st.integers(0, 9), max_size=2)
)


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from([*Session.__dataclass_fields__]), ODD))
def test_odd_members_never_break_the_reading(document: dict[str, object]) -> None:
    try:
        decoded = decode(orjson.dumps(document), ADDRESS, 1)
    except DocumentError:
        return
    assert decoded.address == ADDRESS
