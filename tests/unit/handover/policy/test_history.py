from __future__ import annotations

import pytest
from hypothesis import given

from services.domain.vocab import WireFamily
from services.domain.wire.model import WireError
from services.handover.policy.history import read
from tests.unit.handover.conversations import (
    ANTHROPIC,
    CHAT,
    Json,
    assistant,
    body,
    histories,
    user,
)


@given(histories())
def test_the_last_run_is_all_that_the_client_said_last(
    made: tuple[WireFamily, list[Json]],
) -> None:
    history = read(made[0], body(made[1]))
    start = history.last_run()
    assert all(message.is_asking for message in history.spoken[start:])
    assert not history.spoken[start - 1].is_asking
    assert history.run_end(start) == len(history.spoken)
    assert len(history.turns(0, start)) == start


def test_a_last_assistant_leaves_no_run() -> None:
    history = read(ANTHROPIC, body([user("a"), assistant("b")]))
    assert history.last_run() == 2


@pytest.mark.spec("HND-29")
def test_a_digest_ignores_breakpoints_and_instructions_and_nothing_else() -> None:
    marked = user([{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}])
    note: Json = {"role": "system", "content": "today"}
    plain = read(ANTHROPIC, body([user("a"), assistant("b"), user("c")]))
    moved = read(ANTHROPIC, body([note, marked, assistant("b"), user("d")], system="x"))
    other = read(ANTHROPIC, body([user("A"), assistant("b"), user("c")]))
    assert plain.digest(2) == moved.digest(2)
    assert plain.digest(3) != moved.digest(3)
    assert plain.digest(2) != other.digest(2)
    assert plain.digest(1) != plain.digest(2)


def test_a_tools_arguments_may_hold_any_key_and_count() -> None:
    def called(value: str) -> bytes:
        call = {"type": "tool_use", "id": "t", "name": "n", "input": {"cache_control": value}}
        return body([user("a"), assistant([call]), user("b")])

    assert read(ANTHROPIC, called("x")).digest(2) != read(ANTHROPIC, called("y")).digest(2)


@pytest.mark.parametrize(
    "bad",
    [
        b"{}",
        b"[]",
        b'{"messages":{}}',
        b'{"messages":[1]}',
        b'{"messages":[{"role":"robot"}]}',
        b'{"messages":[],"messages":[]}',
    ],
)
def test_what_is_no_conversation_is_told(bad: bytes) -> None:
    with pytest.raises(WireError):
        read(CHAT, bad)


@pytest.mark.parametrize("role", ["tool", "function", "model"])
def test_a_role_of_another_dialect_is_told(role: str) -> None:
    history = read(ANTHROPIC, body([{"role": role, "content": "a"}, user("b")]))
    with pytest.raises(WireError, match=r"messages\[0\]\.role"):
        history.turns(0, 2)


@pytest.mark.parametrize(
    ("family", "name"),
    [
        (ANTHROPIC, "messages"),
        (CHAT, "messages"),
        (WireFamily.GEMINI, "contents"),
        (WireFamily.OPENAI_RESPONSES, "input"),
    ],
)
def test_a_body_without_a_list_of_messages_is_told(family: WireFamily, name: str) -> None:
    with pytest.raises(WireError, match=name):
        read(family, b'{"model": "m"}')
