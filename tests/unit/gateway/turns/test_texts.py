from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.turns import texts
from tests.unit.gateway.turns.bodies import (
    BILLING,
    assistant,
    chat_body,
    decoded,
    messages_body,
    tool_round,
    user,
)

REMINDER = "<system-reminder>\ndate\n</system-reminder>"


@pytest.mark.spec("TRN-10")
def test_the_first_text_is_the_users_or_none() -> None:
    assert texts.first_user_text(decoded(messages_body([user("a", "b")]))) == "a\nb"
    assert texts.first_user_text(decoded(messages_body([assistant("a"), user("b")]))) == ""
    system = {"role": "system", "content": "s"}
    assert texts.first_user_text(decoded(chat_body([system, user("b")]))) == "b"
    result = tool_round("and?")[1:]
    assert texts.first_user_text(decoded(messages_body(result))) == "and?"


def test_the_last_texts_are_those_of_the_users_last_message() -> None:
    made = messages_body([user("a"), *tool_round("b", "c")])
    assert texts.last_user_texts(decoded(made)) == ("b", "c")
    assert texts.last_user_texts(decoded(messages_body([user("a"), assistant("b")]))) == ()


def test_context_around_the_first_words_is_left_out() -> None:
    for content in (
        user(REMINDER, "fix it"),
        user(f"{REMINDER}\n{REMINDER}\nfix it"),
        user(f"  {REMINDER}", " fix it "),
    ):
        assert texts.opening_text(decoded(messages_body([content]))) == "fix it"
    separate = messages_body([user("<environment_context>a</environment_context>"), user("fix it")])
    assert texts.opening_text(decoded(separate)) == "fix it"


def test_where_nothing_but_context_is_the_whole_text_counts() -> None:
    assert texts.opening_text(decoded(messages_body([user(REMINDER)]))) == REMINDER
    unclosed = "<system-reminder> never ends"
    assert texts.opening_text(decoded(messages_body([user(unclosed)]))) == unclosed


def test_the_line_that_differs_each_time_is_no_instruction() -> None:
    system = [{"type": "text", "text": BILLING}, {"type": "text", "text": "be kind"}]
    injected = {"role": "system", "content": "later"}
    made = messages_body([user("a"), injected], system=system)
    assert texts.system_text(decoded(made)) == "be kind"


@given(st.lists(st.text(max_size=20), min_size=1, max_size=4), st.text(max_size=20))
def test_what_follows_the_first_words_changes_no_digest(first: list[str], later: str) -> None:
    start = [user(*first)]
    longer = [*start, assistant("ok"), user(later)]
    digest = texts.thread_digest(decoded(messages_body(start)))
    if digest:
        assert texts.thread_digest(decoded(messages_body(longer))) == digest


@given(st.binary(max_size=8), st.binary(max_size=8), st.binary(max_size=8))
def test_lengths_keep_parts_apart(a: bytes, b: bytes, c: bytes) -> None:
    joined = texts.length_prefixed(a) + texts.length_prefixed(b)
    if (a, b) != (b, c):
        assert joined != texts.length_prefixed(b) + texts.length_prefixed(c)
