from __future__ import annotations

import pytest

from services.handover.policy.history import read
from services.handover.policy.window import cut, starts_of
from tests.unit.handover.talks import (
    ANTHROPIC,
    CHAT,
    Json,
    agent_talk,
    assistant,
    body,
    messages_of,
    plain_talk,
    user,
)


def _system(words: str) -> Json:
    return {"role": "system", "content": words}


def _tool(call_id: str) -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": "done"}


@pytest.mark.spec("HND-82")
def test_words_between_a_call_and_its_answer_are_no_place_to_cut() -> None:
    calls = [
        {"id": i, "type": "function", "function": {"name": "Run", "arguments": "{}"}}
        for i in ("a", "b")
    ]
    messages: list[Json] = [
        user(CHAT, "first"),
        {"role": "assistant", "content": None, "tool_calls": calls},
        _tool("a"),
        user(CHAT, "a word between"),
        _tool("b"),
        assistant(CHAT, "done"),
        user(CHAT, "last"),
    ]
    starts = starts_of(read(CHAT, body(CHAT, messages)))
    assert starts.prompts == (0, 6)
    assert starts.runs == (1, 5)


def test_the_newest_messages_begin_with_a_persons_words_where_some_follow() -> None:
    talk = [*agent_talk(CHAT, 3, "out"), assistant(CHAT, "so"), user(CHAT, "go on")]
    starts = starts_of(read(CHAT, body(CHAT, talk)))
    assert starts.nearest(len(talk) - 4) == len(talk) - 1
    loop = agent_talk(CHAT, 3, "out")
    starts = starts_of(read(CHAT, body(CHAT, loop)))
    assert starts.nearest(len(loop) - 3) == len(loop) - 2
    assert starts.nearest(len(loop) - 1) == len(loop) - 2, "what belongs together stays together"


def test_without_a_persons_words_there_is_no_place() -> None:
    assert starts_of(read(CHAT, body(CHAT, [assistant(CHAT, "hello")]))).nearest(0) is None


@pytest.mark.spec("HND-86")
def test_instructions_stay_where_their_dialect_takes_them() -> None:
    chat = [_system("one"), *plain_talk(CHAT, 2, "x"), _system("two"), user(CHAT, "end")]
    history = read(CHAT, body(CHAT, chat))
    after = messages_of(CHAT, cut(history, 4, "S"))
    assert [m["role"] for m in after] == ["system", "user", "assistant", "user", "system", "user"]
    assert after[0] == _system("one")
    own = plain_talk(ANTHROPIC, 2, "x")
    messages = [own[0], _system("one"), *own[1:4], own[4], _system("two")]
    history = read(ANTHROPIC, body(ANTHROPIC, messages))
    short = messages_of(ANTHROPIC, cut(history, 4, None))
    assert [m["role"] for m in short] == ["user", "system"], "neighbours become one"
    assert "one" in str(short[1])
    assert "two" in str(short[1])
    with_summary = messages_of(ANTHROPIC, cut(history, 4, "S"))
    roles = ["user", "system", "assistant", "user", "system"]
    assert [m["role"] for m in with_summary] == roles
