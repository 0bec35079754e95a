from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.features import features_of
from services.domain.wire.model import ToolResult, ToolUse
from services.handover.model import Rewritten
from services.handover.policy.history import History, read
from services.handover.policy.rewrite import (
    MARKER,
    OPENING,
    RESULT_BYTES,
    has_prompt,
    prompt_before,
    rewrite,
)
from tests.unit.handover.conversations import (
    ANTHROPIC,
    CHAT,
    LONG,
    Json,
    assistant,
    body,
    histories,
    messages_of,
    tool_loop,
    user,
)

BOTH = pytest.mark.parametrize("family", [ANTHROPIC, CHAT])


def rewritten(family: WireFamily, messages: list[Json], summary: str = "S") -> Rewritten:
    history = read(family, body(messages))
    return rewrite(history, history.last_run(), summary)


def spoken(messages: list[Json]) -> list[Json]:
    return [m for m in messages if m["role"] not in ("system", "developer")]


def instructions(messages: list[Json]) -> list[object]:
    """Return the texts of all instructions in order, however they are grouped."""
    texts: list[object] = []
    for message in messages:
        if message["role"] in ("system", "developer"):
            content = message["content"]
            rows = content if isinstance(content, list) else [{"text": content}]
            texts += [row["text"] for row in rows]
    return texts


@pytest.mark.spec("HND-25", "HND-20", "HND-22")
@given(histories(), st.text(min_size=1, max_size=40).filter(str.strip))
def test_a_rewritten_history_is_one_that_strict_upstreams_take(
    made: tuple[WireFamily, list[Json]], summary: str
) -> None:
    family, messages = made
    original = body(messages)
    history = read(family, original)
    answer = rewrite(history, history.last_run(), summary)
    after = messages_of(answer.body)
    roles = [m["role"] for m in spoken(after)]
    assert roles == ["user", "assistant", "user"]
    assert spoken(after)[0] == user(OPENING)
    assert spoken(after)[1] == assistant(f"{MARKER}\n{summary.strip()}")
    assert instructions(after) == instructions(messages)
    request = codec_for(family).decode_request(answer.body)
    blocks = [block for turn in request.turns for block in turn.blocks]
    assert not [block for block in blocks if isinstance(block, ToolUse | ToolResult)]
    assert 0 < answer.removed_messages <= history.last_run()


@given(histories())
def test_everything_outside_the_replaced_span_keeps_its_bytes(
    made: tuple[WireFamily, list[Json]],
) -> None:
    family, messages = made
    original = body(messages)
    answer = rewritten(family, messages).body
    before, after = original.split(b'"messages" : [ ')
    assert answer.startswith(before + b'"messages" : [ ')
    last = messages[-1]
    if last["role"] == "system" and family is ANTHROPIC:
        assert answer.endswith(after[after.rindex(b' , {"role" : "system"') :])
    assert answer.endswith(b' ], "zz":1.50 }')


@BOTH
def test_a_last_user_message_keeps_its_bytes(family: WireFamily) -> None:
    part = {"type": "text", "text": "Now the tests\u2028", "cache_control": {"type": "ephemeral"}}
    last = user([part])
    answer = rewritten(family, [user(LONG), assistant("Noted."), last])
    assert json.dumps(last, separators=(", ", " : ")).encode() in answer.body
    assert answer.removed_messages == 2


@BOTH
@pytest.mark.spec("HND-21", "HND-22", "HND-26")
def test_the_newest_tool_output_becomes_text_beside_the_newest_prompt(family: WireFamily) -> None:
    answer = rewritten(family, tool_loop(family))
    last = messages_of(answer.body)[-1]
    text = json.dumps(last["content"])
    assert last["role"] == "user"
    assert text.index("List the files") < text.index("two files")
    assert "Bash" in text
    assert "ls" in text
    assert "not a message from the user" in text
    assert LONG[:40] not in text
    assert answer.removed_messages == 3


def test_a_failed_tool_is_told_apart() -> None:
    answer = rewritten(ANTHROPIC, tool_loop(ANTHROPIC, "no such file", is_error=True))
    assert "which failed" in json.dumps(messages_of(answer.body)[-1])


@BOTH
@pytest.mark.spec("HND-21")
@settings(max_examples=20)
@given(st.text(min_size=RESULT_BYTES // 4, max_size=RESULT_BYTES // 4).map(lambda t: t * 9))
def test_a_tool_output_as_text_has_at_most_8_kib(family: WireFamily, output: str) -> None:
    answer = rewritten(family, tool_loop(family, output))
    content = messages_of(answer.body)[-1]["content"]
    if isinstance(content, str):
        texts = [content.removeprefix("List the files\n\n")]
    else:
        assert isinstance(content, list)
        texts = [part["text"] for part in content[1:]]
    assert all(len(text.encode("utf-8", "surrogatepass")) <= RESULT_BYTES for text in texts)
    assert "bytes left out" in texts[0]


def test_pictures_in_the_newest_tool_output_stay_pictures() -> None:
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "QQ"},
    }
    messages = tool_loop(ANTHROPIC)
    result: Json = {"type": "tool_result", "tool_use_id": "t1", "content": [picture]}
    messages[-1] = user([result, {"type": "text", "text": "look"}])
    last = messages_of(rewritten(ANTHROPIC, messages).body)[-1]["content"]
    assert isinstance(last, list)
    assert last[2:] == [picture, {"type": "text", "text": "look"}]


def test_chat_parts_that_are_more_than_text_stay_parts() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ"}}
    messages = tool_loop(CHAT)
    messages[3] = user([{"type": "text", "text": "See"}, picture])
    last = messages_of(rewritten(CHAT, messages).body)[-1]["content"]
    assert isinstance(last, list)
    assert last[:2] == [{"type": "text", "text": "See"}, picture]


def test_neighbouring_user_messages_become_one_with_their_words() -> None:
    messages: list[Json] = [
        user(LONG),
        assistant("Noted."),
        user("one \u2028"),
        user([]),
        user("two"),
    ]
    assert messages_of(rewritten(CHAT, messages).body)[-1] == user("one \u2028\n\ntwo")
    parts = [{"type": "text", "text": "one \u2028"}, {"type": "text", "text": "two"}]
    assert messages_of(rewritten(ANTHROPIC, messages).body)[-1] == user(parts)


@pytest.mark.spec("HND-20")
def test_in_array_instructions_follow_a_user_turn_one_at_a_time() -> None:
    note: Json = {"role": "system", "content": "first note"}
    other: Json = {"role": "system", "content": [{"type": "text", "text": "second note"}]}
    end: Json = {"role": "system", "content": "last note"}
    messages: list[Json] = [
        user(LONG),
        note,
        assistant("Noted."),
        user("on"),
        other,
        assistant("x"),
        user("go"),
        end,
    ]
    after = messages_of(rewritten(ANTHROPIC, messages).body)
    assert [m["role"] for m in after] == ["user", "system", "assistant", "user", "system"]
    assert instructions(after) == ["first note", "second note", "last note"]
    assert after[-1] == end


@pytest.mark.spec("HND-22")
def test_chat_instructions_come_first_and_keep_order_and_bytes() -> None:
    messages: list[Json] = [
        {"role": "developer", "content": "a"},
        user(LONG),
        assistant("Noted."),
        {"role": "system", "name": "x", "content": "b"},
        user("go"),
    ]
    answer = rewritten(CHAT, messages)
    assert [m["role"] for m in messages_of(answer.body)] == [
        "developer",
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert b'{"role" : "system", "name" : "x", "content" : "b"}' in answer.body


def test_what_came_after_the_summary_keeps_its_bytes() -> None:
    for family in (ANTHROPIC, CHAT):
        messages = tool_loop(family)
        later = [assistant("Two files."), user("And now?")]
        history = read(family, body([*messages, *later]))
        count = len(spoken(messages)) - 1
        answer = rewrite(history, count, "S")
        assert messages_of(answer.body)[-2:] == later
        same = rewrite(read(family, body(messages)), count, "S")
        assert messages_of(answer.body)[:-2] == messages_of(same.body)


def test_notes_beside_a_tool_output_are_no_prompt() -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
    messages = [user("real"), assistant("a"), user([result, {"type": "text", "text": "note"}])]
    history: History = read(ANTHROPIC, body([*messages, assistant("b"), user([result])]))
    found = prompt_before(history, 4)
    assert found is not None
    assert found.place == 0
    assert has_prompt(history)
    assert not has_prompt(read(ANTHROPIC, body([user([result])])))


@given(histories())
def test_the_size_of_the_new_history_is_estimated_as_everywhere(
    made: tuple[WireFamily, list[Json]],
) -> None:
    family, messages = made
    answer = rewritten(family, messages)
    request = codec_for(family).decode_request(answer.body)
    expected = features_of(request, len(answer.body)).overflow_tokens
    assert answer.overflow_tokens == expected


def test_a_picture_counts_as_one_and_not_by_its_bytes() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "A" * 40_000}
    last = user([{"type": "image", "source": source}, {"type": "text", "text": "see"}])
    answer = rewritten(ANTHROPIC, [user(LONG), assistant("Noted."), last])
    assert answer.overflow_tokens == (len(answer.body) - 40_000) // 4 + 1600


def test_blank_texts_are_left_out_of_a_joined_message() -> None:
    messages = [user(LONG), assistant("Noted."), user("one"), user(" \n"), user("two")]
    last = messages_of(rewritten(ANTHROPIC, messages).body)[-1]["content"]
    assert last == [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
