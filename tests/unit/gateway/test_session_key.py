from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.session_key import (
    SessionKeys,
    affinity_hint,
    derive_key,
    log_label,
    next_role,
    role_of,
    session_keys_of,
)
from gateway.turns import Client, client_of
from services.domain.vocab import ModelTier, WireFamily
from tests.unit.gateway.turns.bodies import (
    BILLING,
    assistant,
    chat_body,
    decoded,
    messages_body,
    tool_round,
    user,
)

SESSION = "11111111-2222-3333-4444-555555555555"
OTHER = "99999999-2222-3333-4444-555555555555"
NAMED = {"x-claude-code-session-id": SESSION}
REMINDER = "<system-reminder>\nToday is {}.\n</system-reminder>\n"


def keys(
    made: tuple[WireFamily, bytes],
    headers: Mapping[str, str] | None = None,
    credential: str = "key_1",
) -> SessionKeys:
    sent = headers or {}
    return session_keys_of(decoded(made), sent, client_of(sent, made[0]), credential)


@pytest.mark.spec("TRN-32")
def test_the_vectors_hold() -> None:
    assert derive_key("key_1", SESSION, "", "fix the parser").hex() == (
        "931aadc26ce80fb9371d148925e4006a"
    )
    assert derive_key("key_1", "", "u-9", "fix the parser").hex() == (
        "0ba17838ca426ce3772a6c45a43adf6e"
    )
    assert keys(messages_body([user("fix the parser")]), NAMED).thread.hex() == (
        "931aadc26ce80fb9371d148925e4006a"
    )


@pytest.mark.spec("TRN-32")
@given(st.lists(st.text(max_size=6), min_size=5, max_size=5), st.integers(0, 3))
def test_no_part_can_imitate_another(parts: list[str], at: int) -> None:
    moved = list(parts)
    moved[at], moved[at + 1] = parts[at] + parts[at + 1][:1], parts[at + 1][1:]
    if moved != parts:
        assert derive_key(*moved) != derive_key(*parts)


@pytest.mark.spec("TRN-33")
def test_headers_are_looked_at_in_order_and_before_the_body() -> None:
    made = messages_body([user("x")], metadata={"user_id": OTHER})
    headers = {
        "x-claude-code-session-id": "a",
        "session-id": "b",
        "thread-id": "c",
        "session_id": "d",
        "x-session-id": "e",
    }
    for name, value in list(headers.items()):
        assert keys(made, headers).conversation == keys(made, {name: value}).conversation
        del headers[name]
    assert keys(made).conversation == keys(made, {"x-session-id": OTHER}).conversation


@pytest.mark.spec("TRN-33")
@pytest.mark.parametrize(
    ("value", "session"),
    [
        (json.dumps({"device_id": "d", "account_uuid": "", "session_id": "s1"}), "s1"),
        (json.dumps({"conversationId": "c", "sessionId": "s2"}), "s2"),
        (json.dumps({"conversation_id": "c1"}), "c1"),
        (f"user_abc_account__session_{SESSION}", SESSION),
        (f"session_{SESSION}_{OTHER}", SESSION),
        (f"someone-{OTHER}", OTHER),
        ("customer-7", "customer-7"),
        ("x" * 100, "x" * 64),
    ],
)
def test_an_id_in_the_body_is_reduced_to_its_session(value: str, session: str) -> None:
    wanted = keys(messages_body([user("x")]), {"session-id": session}).thread
    assert keys(messages_body([user("x")], metadata={"user_id": value})).thread == wanted
    assert keys(chat_body([user("x")], user=value)).thread == wanted
    assert keys(chat_body([user("x")], metadata={"user_id": value})).thread == wanted


@pytest.mark.spec("TRN-33")
def test_the_user_of_a_chat_goes_before_its_metadata() -> None:
    both = chat_body([user("x")], user="a", metadata={"user_id": "b"})
    assert keys(both) == keys(chat_body([user("x")], user="a"))


@pytest.mark.spec("TRN-32")
def test_an_id_that_names_no_session_counts_as_the_user() -> None:
    value = json.dumps({"device": "d"})
    found = keys(messages_body([user("fix")], metadata={"user_id": value}))
    assert found.thread == derive_key("key_1", "", value, "fix")
    assert found.conversation == found.thread
    assert not found.is_session_named


@pytest.mark.spec("TRN-34", "TRN-37")
def test_one_thread_keeps_its_key_while_everything_around_it_changes() -> None:
    first = messages_body(
        [user(REMINDER.format("Monday"), "fix the parser")],
        system=[{"type": "text", "text": BILLING}],
    )
    later = messages_body(
        [user(REMINDER.format("Tuesday") + "fix the parser"), *tool_round(), user("and now?")],
        system=[{"type": "text", "text": "rewritten"}],
    )
    assert keys(first, NAMED) == keys(later, NAMED)


@pytest.mark.spec("TRN-34", "TRN-37")
def test_another_caller_session_or_opening_is_another_thread() -> None:
    made = messages_body([user("fix the parser")])
    found = {
        keys(made, NAMED).thread,
        keys(made, NAMED, "key_2").thread,
        keys(made, {"session-id": OTHER}).thread,
        keys(messages_body([user("read the docs")]), NAMED).thread,
        keys(made, {**NAMED, "x-claude-code-agent-id": "a1"}).thread,
        keys(made, {**NAMED, "x-claude-code-agent-id": "a2"}).thread,
        keys(made).thread,
    }
    assert len(found) == 7


@pytest.mark.spec("TRN-35")
def test_instructions_stand_in_only_where_nothing_else_is() -> None:
    def asked(system: str, text: str, headers: Mapping[str, str] | None = None) -> bytes:
        made = messages_body([user(text)], system=[{"type": "text", "text": system}])
        return keys(made, headers).thread

    assert asked("a", "") != asked("b", "")
    assert asked("a", "hi") == asked("b", "hi")
    assert asked("a", "", NAMED) == asked("b", "", NAMED)


@pytest.mark.spec("TRN-35")
def test_the_block_that_differs_from_request_to_request_never_counts() -> None:
    def asked(line: str) -> bytes:
        system = [{"type": "text", "text": line}, {"type": "text", "text": "be kind"}]
        return keys(messages_body([user("")], system=system)).thread

    assert asked(BILLING) == asked(BILLING.replace("b58", "78a"))


@pytest.mark.spec("TRN-36", "TRN-37")
def test_a_request_without_a_body_is_keyed_by_its_caller() -> None:
    one = session_keys_of(None, {}, Client(), "key_1")
    assert one == session_keys_of(None, {}, Client(), "key_1")
    assert one != session_keys_of(None, {}, Client(), "key_2")
    assert len(one.thread) == 16


@pytest.mark.spec("TRN-38")
def test_all_threads_of_a_session_share_the_conversation_key() -> None:
    main = keys(messages_body([user("a")]), NAMED)
    agent = keys(messages_body([user("b")]), {**NAMED, "x-claude-code-agent-id": "a1"})
    assert main.conversation == agent.conversation
    assert main.conversation not in (main.thread, agent.thread)
    nameless = keys(messages_body([user("a")]))
    assert nameless.conversation == nameless.thread


def test_a_client_without_a_session_is_known_by_all_it_said_first() -> None:
    context = "<session_context>\nDirectory: {}\n</session_context>"
    first = chat_body([user(context.format("/a"), "hi")])
    second = chat_body([user(context.format("/a"), "hi"), assistant("hello"), user("more")])
    elsewhere = chat_body([user(context.format("/b"), "hi")])
    assert keys(first) == keys(second)
    assert keys(first) != keys(elsewhere)


def test_what_aider_puts_around_the_first_words_does_not_count() -> None:
    def said(text: str) -> dict[str, object]:
        return {"role": "user", "content": text}

    ok = assistant("Ok.")
    examples = [said("Make it casual"), ok, said("I switched to a new code base. Go on."), ok]
    repo = [said("Here are summaries of some files present in my git repository: a"), ok]
    files = [said("I have *added these files to the chat*: a.py"), ok]
    reminder = "\n\nTo suggest changes to a file you MUST say all of it."
    first = chat_body([*examples, *repo, *files, said("fix it" + reminder)])
    grown = [said("Here are summaries of some files present in my git repository: a, b"), ok]
    later = chat_body([*examples, *grown, said("fix it"), ok, *files, said("more" + reminder)])
    other = chat_body([*examples, *repo, *files, said("break it" + reminder)])
    assert keys(first) == keys(later)
    assert keys(first) != keys(other)


def test_an_image_tells_conversations_apart() -> None:
    def shown(data: str) -> SessionKeys:
        source = {"type": "base64", "media_type": "image/png", "data": data}
        parts = [{"type": "image", "source": source}, {"type": "text", "text": "what is it?"}]
        return keys(messages_body([{"role": "user", "content": parts}]))

    assert shown("aaaa") != shown("bbbb")
    assert shown("aaaa") == shown("aaaa")


@pytest.mark.spec("TRN-39")
def test_the_role_follows_the_tier_of_the_requested_model() -> None:
    assert role_of(ModelTier.LOW) == "default_low"
    assert role_of(ModelTier.MID) == "default_mid"
    assert role_of(ModelTier.HIGH) == "default_high"
    assert role_of(ModelTier.UNKNOWN) == "default"
    assert len({role_of(tier) for tier in ModelTier}) == len(ModelTier)
    assert next_role("default") == "default_cmd_next"


@pytest.mark.spec("TRN-40")
def test_logs_see_half_a_key_and_upstreams_no_zero_key() -> None:
    key = bytes(range(16))
    assert log_label(key) == "0001020304050607"
    assert affinity_hint(key) == key.hex()
    assert affinity_hint(bytes(16)) == ""
    assert affinity_hint(b"") == ""
