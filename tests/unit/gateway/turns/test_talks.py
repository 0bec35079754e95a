"""What each client's requests are taken for, and which of them are one conversation."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.session_key import SessionKeys, session_keys_of
from gateway.turns import client_of, turn_type_of
from services.domain.wire.codecs import codec_for, read_request
from services.domain.wire.features import features_of
from services.domain.wire.model import Address, Request
from tests.unit.gateway.turns import opencode_talks, talks, unnamed_talks
from tests.unit.gateway.turns.talks import Sent, Talk

FIRST, SECOND = "11111111-2222-3333-4444-555555555555", "99999999-2222-3333-4444-555555555555"
TALKS: dict[str, Callable[..., Talk]] = {
    "Claude Code": talks.claude_code,
    "Codex": talks.codex,
    "opencode on Chat": talks.opencode_chat,
    "opencode on Messages": opencode_talks.opencode_messages,
    "Gemini CLI": unnamed_talks.gemini_cli,
    "aider": unnamed_talks.aider,
    "an SDK": unnamed_talks.sdk_chat,
}
clients = pytest.mark.parametrize("name", TALKS)


def _request(sent: Sent) -> Request:
    codec = codec_for(sent.family)
    return read_request(codec, sent.body, Address("m") if sent.family.value == "gemini" else None)


def _keys(sent: Sent, key_id: str = "key_1") -> SessionKeys:
    client = client_of(sent.headers, sent.family)
    return session_keys_of(_request(sent), sent.headers, client, key_id)


@clients
@pytest.mark.spec("TRN-8", "TRN-12", "TRN-13", "TRN-20", "TRN-22")
def test_every_request_is_taken_for_what_it_is(name: str) -> None:
    talk = TALKS[name](FIRST)
    for number, sent in enumerate(talk.sent):
        request, client = _request(sent), client_of(sent.headers, sent.family)
        found = turn_type_of(request, features_of(request, len(sent.body)), client)
        assert (number, client.app, found) == (number, talk.app, sent.turn_type)


@clients
@pytest.mark.spec("TRN-33", "TRN-34", "TRN-37")
def test_the_main_loop_has_one_key_from_first_to_last(name: str) -> None:
    main = [sent for sent in TALKS[name](FIRST).sent if sent.is_main]
    assert len({_keys(sent).thread for sent in main}) == 1
    assert len(main) >= 3


@clients
@pytest.mark.spec("TRN-32", "TRN-36", "TRN-37")
def test_another_session_opening_or_caller_is_another_thread(name: str) -> None:
    make = TALKS[name]

    def thread(talk: Talk, key_id: str = "key_1") -> bytes:
        return next(_keys(sent, key_id).thread for sent in talk.sent if sent.is_main)

    threads = [
        thread(make(FIRST)),
        thread(make(SECOND)),
        thread(make(FIRST, "write the docs")),
        thread(make(FIRST), "key_2"),
    ]
    assert len(set(threads)) == len(threads)


@clients
@pytest.mark.spec("TRN-38")
def test_side_talk_shares_the_conversation_where_the_session_is_named(name: str) -> None:
    talk = TALKS[name](FIRST)
    keys = [_keys(sent) for sent in talk.sent if "x-parent-session-id" not in sent.headers]
    assert {each.is_session_named for each in keys} == {talk.is_session_named}
    if talk.is_session_named:
        assert len({each.conversation for each in keys}) == 1


@pytest.mark.spec("TRN-34")
@pytest.mark.parametrize(
    "name", ["Claude Code", "Codex", "opencode on Chat", "opencode on Messages"]
)
def test_sub_agents_have_threads_of_their_own(name: str) -> None:
    talk = TALKS[name](FIRST)
    main = {_keys(sent).thread for sent in talk.sent if sent.is_main}
    subs = {_keys(sent).thread for sent in talk.sent if sent.turn_type.value.startswith("sub_")}
    assert subs
    assert main.isdisjoint(subs)


words = st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1, max_size=30)
unnamed = st.sampled_from([unnamed_talks.gemini_cli, unnamed_talks.aider, unnamed_talks.sdk_chat])


@pytest.mark.spec("TRN-34", "TRN-37")
@given(make=unnamed, first=st.tuples(words, words), second=st.tuples(words, words))
def test_strangers_without_a_session_share_a_key_only_where_they_open_alike(
    make: Callable[..., Talk], first: tuple[str, str], second: tuple[str, str]
) -> None:
    def threads(opening: tuple[str, str]) -> set[bytes]:
        return {_keys(sent).thread for sent in make(*opening).sent if sent.is_main}

    assert len(threads(first)) == 1
    assert (threads(first) == threads(second)) == (first == second)
