from __future__ import annotations

import orjson
import pytest

from services.domain.vocab import WireFamily
from services.handover.policy.answer import SUMMARY_BYTES, summary_of
from tests.unit.domain.wire.openai_responses_cases import CREATED, event, said, terminal
from tests.unit.handover.conversations import ANTHROPIC, CHAT


def messages_answer(*blocks: dict[str, object], stop: str = "end_turn") -> bytes:
    return orjson.dumps(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": list(blocks),
            "stop_reason": stop,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )


@pytest.mark.spec("HND-15")
def test_a_summary_is_all_text_blocks_joined_by_newlines() -> None:
    thought: dict[str, object] = {"type": "thinking", "thinking": "t", "signature": "s"}
    answer = messages_answer(
        {"type": "text", "text": " one"}, thought, {"type": "text", "text": "two\n"}
    )
    assert summary_of(ANTHROPIC, answer) == "one\ntwo"


@pytest.mark.spec("HND-15", "XLT-127")
def test_a_summary_may_come_as_a_stream() -> None:
    words = event("output_text.delta", output_index=0, item_id="msg_1", delta="one")
    answer = CREATED + words + terminal(said("assistant", "one"))
    assert summary_of(WireFamily.OPENAI_RESPONSES, answer, is_stream=True) == "one"
    assert summary_of(WireFamily.OPENAI_RESPONSES, CREATED + words, is_stream=True) is None


@pytest.mark.spec("HND-15")
def test_what_is_no_summary_is_told_from_an_empty_one() -> None:
    assert summary_of(ANTHROPIC, messages_answer()) == ""
    assert summary_of(ANTHROPIC, messages_answer({"type": "text", "text": " \n"})) == ""
    refusal = messages_answer({"type": "text", "text": "I cannot"}, stop="refusal")
    assert summary_of(ANTHROPIC, refusal) is None
    assert summary_of(ANTHROPIC, b"<html>") is None
    assert summary_of(WireFamily.GEMINI, b"{}") is None
    assert summary_of(None, b"{}") is None


@pytest.mark.spec("HND-15")
def test_words_that_lead_up_to_a_call_are_no_summary() -> None:
    call: dict[str, object] = {"type": "tool_use", "id": "c", "name": "Bash", "input": {}}
    answer = messages_answer({"type": "text", "text": "I look first."}, call, stop="tool_use")
    assert summary_of(ANTHROPIC, answer) is None


@pytest.mark.spec("HND-15")
@pytest.mark.parametrize(("said", "left"), [("<think>hm</think>\nS", "S"), ("<think>hm", "")])
def test_reasoning_in_a_leading_tag_is_no_part_of_a_summary(said: str, left: str) -> None:
    assert summary_of(ANTHROPIC, messages_answer({"type": "text", "text": said})) == left


@pytest.mark.spec("HND-15")
def test_of_a_summary_that_does_not_end_the_middle_is_left_out() -> None:
    said = summary_of(ANTHROPIC, messages_answer({"type": "text", "text": f"A{'é' * 99_999}Z"}))
    assert said is not None
    assert len(said.encode()) <= SUMMARY_BYTES
    assert (said[0], said[-1]) == ("A", "Z")


def test_half_a_pair_in_a_summary_is_replaced_as_no_message_can_hold_it() -> None:
    answer = messages_answer({"type": "text", "text": "a HALF b"}).replace(b"HALF", rb"\ud83d")
    assert summary_of(ANTHROPIC, answer) == "a \ufffd b"


def test_an_answer_in_the_chat_dialect_is_read_as_well() -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "S"}, "finish_reason": "stop"}
    answer = {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]}
    assert summary_of(CHAT, orjson.dumps(answer)) == "S"
