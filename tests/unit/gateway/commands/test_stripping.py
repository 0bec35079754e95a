from __future__ import annotations

from collections.abc import Callable

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.commands import Command, CommandKind, has_commands, stripped
from gateway.commands.model import MARK
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for, read_request
from services.domain.wire.model import Address

Made = Callable[[str, str], dict[str, object]]


def _messages(role: str, text: str) -> dict[str, object]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def _chat(role: str, text: str) -> dict[str, object]:
    return {"role": role, "content": text}


def _input(role: str, text: str) -> dict[str, object]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _contents(role: str, text: str) -> dict[str, object]:
    return {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}


SHAPES: dict[WireFamily, tuple[str, Made]] = {
    WireFamily.ANTHROPIC: ("messages", _messages),
    WireFamily.OPENAI_CHAT: ("messages", _chat),
    WireFamily.OPENAI_RESPONSES: ("input", _input),
    WireFamily.GEMINI: ("contents", _contents),
}
families = pytest.mark.parametrize("family", list(SHAPES))


def body(family: WireFamily, *said: tuple[str, str]) -> bytes:
    name, make = SHAPES[family]
    listed = [make(role, text) for role, text in said]
    return orjson.dumps({"model": "m", name: listed, "big": 10**18})


@families
@pytest.mark.spec("TRN-69", "TRN-70", "TRN-71")
def test_a_command_before_a_prompt_is_taken_out_of_its_line(family: WireFamily) -> None:
    read = stripped(body(family, ("user", "/fm large\nfix it")), family)
    assert read.command == Command(CommandKind.FORCE, "large", is_alone=False)
    assert read.body == body(family, ("user", "fix it"))


@families
@pytest.mark.parametrize(
    ("text", "is_there"), [("<a>b</a>\n/ufm", True), ("the /ufm command", False)]
)
def test_only_bodies_with_commands_need_be_looked_into(
    family: WireFamily, text: str, *, is_there: bool
) -> None:
    sent = body(family, ("user", "hello"), ("assistant", "/fm x"), ("user", text))
    address = Address("m") if family is WireFamily.GEMINI else None
    assert has_commands(read_request(codec_for(family), sent, address)) is is_there


@families
@pytest.mark.spec("TRN-72")
def test_a_command_and_its_answer_leave_the_history_for_good(family: WireFamily) -> None:
    history = (("user", "hello"), ("assistant", "hi"))
    asked = (("user", "$fm large"), ("assistant", f"{MARK}done"), ("user", "go on"))
    read = stripped(body(family, *history, *asked), family)
    assert read.command is None
    assert read.body == body(family, *history, ("user", "go on"))


@families
@pytest.mark.spec("TRN-70")
def test_a_command_alone_is_found_in_the_last_message_only(family: WireFamily) -> None:
    sent = body(family, ("user", "/ufm"), ("assistant", "an answer of a model"), ("user", "/rf+"))
    read = stripped(sent, family)
    assert read.command == Command(CommandKind.FEEDBACK, "+")
    assert read.body == sent


@pytest.mark.spec("TRN-70")
def test_results_of_tools_command_nothing() -> None:
    said = {"type": "text", "text": "/fm large"}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "/fm large"}
    for content in ([result], [result, said]):
        sent = orjson.dumps({"messages": [{"role": "user", "content": content}]})
        assert stripped(sent, WireFamily.ANTHROPIC).command is None
    tool = {"role": "tool", "tool_call_id": "c", "content": "/fm large"}
    assert stripped(orjson.dumps({"messages": [tool]}), WireFamily.OPENAI_CHAT).command is None
    output = {"type": "function_call_output", "call_id": "c", "output": "/fm large"}
    sent = orjson.dumps({"input": [output]})
    assert stripped(sent, WireFamily.OPENAI_RESPONSES).command is None
    response = {"functionResponse": {"name": "f", "response": {"text": "/fm large"}}}
    sent = orjson.dumps({"contents": [{"role": "user", "parts": [response]}]})
    assert stripped(sent, WireFamily.GEMINI).command is None


@pytest.mark.spec("TRN-70")
def test_any_text_block_of_the_last_message_may_hold_it_and_the_others_stay() -> None:
    blocks = [{"type": "text", "text": "<reminder>r</reminder>"}, {"type": "text", "text": "/ufm"}]
    last = {"role": "system", "content": "s"}
    sent = orjson.dumps({"messages": [{"role": "user", "content": blocks}, last]})
    assert stripped(sent, WireFamily.ANTHROPIC).command == Command(CommandKind.UNFORCE)


def test_a_bare_input_may_be_a_command() -> None:
    read = stripped(orjson.dumps({"input": "/fm x\nfix it"}), WireFamily.OPENAI_RESPONSES)
    assert orjson.loads(read.body) == {"input": "fix it"}


@pytest.mark.parametrize(
    "sent", [b"", b"[]", b'{"messages": "/fm x', b'{"messages": 7, "x":"/fm "}']
)
def test_what_cannot_be_read_passes_as_it_came(sent: bytes) -> None:
    read = stripped(sent, WireFamily.ANTHROPIC)
    assert read.body is sent or read.body == sent
    assert read.command is None


words = st.text(st.characters(codec="utf-8", exclude_characters="/$"), max_size=40)


@given(family=st.sampled_from(list(SHAPES)), texts=st.lists(words, min_size=1, max_size=5))
def test_bodies_without_commands_keep_their_very_bytes(
    family: WireFamily, texts: list[str]
) -> None:
    sent = body(family, *(("assistant" if at % 2 else "user", t) for at, t in enumerate(texts)))
    assert stripped(sent, family).body is sent


@given(family=st.sampled_from(list(SHAPES)), prompt=words.filter(str.strip))
def test_taking_out_twice_takes_out_no_more(family: WireFamily, prompt: str) -> None:
    once = stripped(body(family, ("user", f"/fm x\n{prompt}")), family).body
    assert stripped(once, family).body == once
