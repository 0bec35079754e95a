from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given

from services.domain.vocab import WireFamily
from services.handover.model import BindingRef, StoredSummary
from services.handover.policy import reuse
from services.handover.policy.history import History, read
from services.handover.policy.rewrite import rewrite
from tests.unit.handover.conversations import (
    ANTHROPIC,
    Json,
    assistant,
    body,
    histories,
    messages_of,
    tool_loop,
    user,
)

NOW = 1_750_000_000.0


def kept(history: History) -> StoredSummary:
    return reuse.to_keep(history, history.last_run(), "S", BindingRef("m", "p"), NOW)


@pytest.mark.spec("HND-29")
@given(histories())
def test_a_summary_stands_for_every_longer_conversation_of_the_session(
    made: tuple[WireFamily, list[Json]],
) -> None:
    family, messages = made
    history = read(family, body(messages))
    stored = kept(history)
    assert reuse.stands_for(stored, history, NOW)
    longer = read(family, body([*messages, assistant("answer"), user("more")]))
    assert reuse.stands_for(stored, longer, NOW)
    first = rewrite(history, stored.message_count, stored.text)
    second = rewrite(longer, stored.message_count, stored.text)
    instructions = ("system", "developer")
    opening = [m for m in messages_of(first.body) if m["role"] not in instructions]
    later = [m for m in messages_of(second.body) if m["role"] not in instructions]
    assert later == [*opening, assistant("answer"), user("more")]


@pytest.mark.spec("HND-29")
@pytest.mark.parametrize(
    "change",
    [
        lambda stored: replace(stored, text=" "),
        lambda stored: replace(stored, prefix_digest=b"\0" * 32),
        lambda stored: replace(stored, message_count=stored.message_count - 1),
        lambda stored: replace(stored, message_count=0),
        lambda stored: replace(stored, message_count=-1),
        lambda stored: replace(stored, message_count=99),
        lambda stored: replace(stored, instruction_version="other"),
        lambda stored: replace(stored, expire_unix_s=NOW),
    ],
)
def test_a_summary_that_no_longer_fits_is_not_reused(
    change: Callable[[StoredSummary], StoredSummary],
) -> None:
    history = read(ANTHROPIC, body(tool_loop(ANTHROPIC)))
    stored = kept(history)
    assert reuse.stands_for(stored, history, NOW)
    assert not reuse.stands_for(change(stored), history, NOW)


def test_a_changed_beginning_is_not_what_the_summary_stands_for() -> None:
    messages = tool_loop(ANTHROPIC)
    stored = kept(read(ANTHROPIC, body(messages)))
    edited = [user("other"), *messages[1:]]
    assert not reuse.stands_for(stored, read(ANTHROPIC, body(edited)), NOW)
    continued = read(ANTHROPIC, body([*messages, assistant("to be continued")]))
    assert not reuse.stands_for(stored, continued, NOW)


def test_a_summary_never_ends_inside_what_the_client_said_at_once() -> None:
    history = read(ANTHROPIC, body([user("a"), assistant("b"), user("c"), user("d")]))
    inside = reuse.to_keep(history, 3, "S", BindingRef("m", "p"), NOW)
    assert not reuse.stands_for(inside, history, NOW)
