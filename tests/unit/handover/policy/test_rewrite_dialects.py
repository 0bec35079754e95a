"""Summaries in histories of the dialects whose messages are contents or items."""

from __future__ import annotations

import json

import pytest

from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import Role, ToolResult, ToolUse
from services.handover.model import BindingRef
from services.handover.policy.history import read
from services.handover.policy.reuse import stands_for, to_keep
from services.handover.policy.rewrite import MARKER, OPENING, RESULT_BYTES, rewrite
from tests.unit.handover.talks import (
    GEMINI,
    RESPONSES,
    Json,
    agent_talk,
    body,
    messages_of,
    plain_talk,
    user,
)

BOTH = pytest.mark.parametrize("family", [GEMINI, RESPONSES])


def rewritten(family: WireFamily, messages: list[Json]) -> bytes:
    history = read(family, body(family, messages))
    return rewrite(history, history.last_run(), "It went well.").body


def words(message: Json) -> str:
    return json.dumps(message)


@pytest.mark.spec("HND-23", "HND-25")
@BOTH
def test_the_summary_and_the_newest_message_are_left(family: WireFamily) -> None:
    messages = plain_talk(family, 3, "word")
    after = messages_of(family, rewritten(family, messages))
    assert len(after) == 3
    assert OPENING in words(after[0])
    assert MARKER in words(after[1])
    assert "It went well." in words(after[1])
    assert after[2] == messages[-1]
    request = codec_for(family).decode_request(rewritten(family, messages))
    assert [turn.role for turn in request.turns] == [Role.USER, Role.ASSISTANT, Role.USER]


@pytest.mark.spec("HND-23", "HND-21")
@BOTH
def test_outputs_whose_calls_are_gone_become_text_beside_the_newest_wish(
    family: WireFamily,
) -> None:
    messages = [*plain_talk(family, 2, "word"), *agent_talk(family, 2, "x" * 20_000, batch=2)]
    raw = rewritten(family, messages)
    after = messages_of(family, raw)
    assert len(after) == 3
    last = words(after[-1])
    assert "Mend the parser" in last
    assert last.count("Output of Read") == 2
    assert len(last) < 2 * RESULT_BYTES + 2_000
    blocks = [b for turn in codec_for(family).decode_request(raw).turns for b in turn.blocks]
    assert not any(isinstance(block, ToolUse | ToolResult) for block in blocks)


@BOTH
def test_instructions_and_all_other_members_keep_their_bytes(family: WireFamily) -> None:
    raw = rewritten(family, plain_talk(family, 3, "word"))
    assert raw.startswith(b'{ "model": "m-large", "zz": 1.50, "tools": [], ')


def test_instructions_among_items_stay_in_front() -> None:
    told: Json = {"type": "message", "role": "developer", "content": "Be brief."}
    talk = plain_talk(RESPONSES, 2, "word")
    after = messages_of(RESPONSES, rewritten(RESPONSES, [talk[0], told, *talk[1:]]))
    assert after[0] == told
    assert after[-1] == user(RESPONSES, "go on")


@pytest.mark.spec("HND-29")
@BOTH
def test_a_kept_summary_stands_for_the_longer_conversation(family: WireFamily) -> None:
    messages = plain_talk(family, 3, "word")
    history = read(family, body(family, messages))
    stored = to_keep(history, history.last_run(), "S", BindingRef("m", "p"), 1000.0)
    longer = read(family, body(family, [*messages, *plain_talk(family, 1, "more")[1:]]))
    assert stands_for(stored, longer, 1000.0)
    other = [user(family, "another beginning"), *messages[1:]]
    assert not stands_for(stored, read(family, body(family, other)), 1000.0)
