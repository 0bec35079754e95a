from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.catalog import ModelFacts
from services.domain.wire import anthropic
from services.domain.wire.labels import FAILED_RESULT_LABEL, UNANSWERED_CALL_TEXT
from services.domain.wire.model import Text, ToolResult, UnbuildableError
from services.domain.wire.openai_chat import CODEC
from services.domain.wire.openai_chat.schema import chat_schema
from tests.unit.domain.wire.openai_chat_cases import target

if TYPE_CHECKING:
    from services.domain.wire.model import EncodedRequest, Target

HI = {"role": "user", "content": "hi"}
PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
PDF = {
    "type": "document",
    "title": "t.pdf",
    "source": {"type": "base64", "media_type": "application/pdf", "data": "BBBB"},
}
REASONING = ModelFacts(reasoning="optional", reasoning_levels=("minimal", "low", "medium", "high"))


def use(call_id: str, **arguments: object) -> dict[str, object]:
    return {"type": "tool_use", "id": call_id, "name": "f", "input": arguments}


def result(call_id: str, content: object = "r", **members: object) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **members}


def said(*blocks: object) -> dict[str, object]:
    return {"role": "assistant", "content": list(blocks)}


def asked(*blocks: object) -> dict[str, object]:
    return {"role": "user", "content": list(blocks)}


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words}


def encode(*messages: object, to: Target | None = None, **members: object) -> EncodedRequest:
    """Return a Messages request encoded for a chat target."""
    body = {"model": "m", "max_tokens": 100, "messages": list(messages) or [HI], **members}
    request = anthropic.CODEC.decode_request(json.dumps(body).encode())
    return CODEC.encode_request(request, to or target())


def sent(*messages: object, to: Target | None = None, **members: object) -> dict[str, object]:
    body: dict[str, object] = json.loads(encode(*messages, to=to, **members).body)
    return body


def messages_of(*messages: object, **members: object) -> object:
    return json.loads(encode(*messages, to=None, **members).body)["messages"]


def chat_call(call_id: str, arguments: str = "{}") -> dict[str, object]:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": arguments}}


def tool(call_id: str, content: str = "r") -> dict[str, object]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


@pytest.mark.spec("XLT-45", "XLT-46")
def test_leading_system_blocks_are_one_message_without_the_billing_line() -> None:
    system = [text("x-anthropic-billing-header: v=1;"), text("a"), text(" "), text("b")]
    joined = {"role": "system", "content": "a\nb"}
    assert messages_of(system=system) == [joined, HI]
    parts = {"role": "system", "content": [text("a"), text("b")]}
    assert sent(system=system, to=target(is_vendor=True))["messages"] == [parts, HI]


@pytest.mark.spec("XLT-45")
@pytest.mark.parametrize("content", ["later", [text("later")]])
def test_a_system_message_among_turns_keeps_its_place(content: object) -> None:
    later = {"role": "system", "content": content}
    assert messages_of(HI, later, HI) == [HI, {"role": "system", "content": "later"}, HI]
    between = messages_of(HI, said(use("a")), later, asked(result("a")))
    assert between == [
        HI,
        {"role": "assistant", "content": None, "tool_calls": [chat_call("a")]},
        tool("a"),
        {"role": "system", "content": "later"},
    ]


@pytest.mark.spec("XLT-73", "XLT-74", "XLT-75")
def test_results_follow_their_calls_in_the_order_of_the_calls() -> None:
    turns = messages_of(
        HI,
        said(text("go"), use("a", x=1), use("b")),
        asked(text("and now stop"), result("b", "rb"), result("a", "ra")),
    )
    assert turns == [
        HI,
        {
            "role": "assistant",
            "content": "go",
            "tool_calls": [chat_call("a", '{"x": 1}'), chat_call("b")],
        },
        tool("a", "ra"),
        tool("b", "rb"),
        {"role": "user", "content": "and now stop"},
    ]


@pytest.mark.spec("XLT-73", "XLT-74")
def test_a_delayed_result_moves_up_and_text_between_joins_the_calls() -> None:
    turns = messages_of(HI, said(use("a")), said(text("checking")), HI, asked(result("a")))
    assert turns == [
        HI,
        {"role": "assistant", "content": "checking", "tool_calls": [chat_call("a")]},
        tool("a"),
        HI,
    ]


@pytest.mark.spec("XLT-76", "XLT-77")
def test_orphans_become_text_and_unanswered_calls_an_error_result() -> None:
    encoded = encode(asked(result("ghost")), said(use("a")), HI)
    turns = json.loads(encoded.body)["messages"]
    assert turns[0]["role"] == "user"
    assert [part["text"] for part in turns[0]["content"]][1:] == ["r"]
    assert turns[2] == tool("a", f"{FAILED_RESULT_LABEL}\n{UNANSWERED_CALL_TEXT}")
    codes = {transform.code for transform in encoded.transforms}
    assert codes == {"orphan_result", "unanswered_call"}


@pytest.mark.spec("XLT-76")
def test_a_second_result_of_one_call_becomes_text() -> None:
    turns = messages_of(HI, said(use("a")), asked(result("a", "one"), result("a", "two")))
    assert isinstance(turns, list)
    assert turns[2] == tool("a", "one")
    assert [part["text"] for part in turns[3]["content"]][1:] == ["two"]


@pytest.mark.spec("XLT-70")
@pytest.mark.parametrize("content", [[], "", [{"type": "tool_reference", "tool_name": "Read"}]])
def test_a_result_without_text_is_still_one_result(content: object) -> None:
    turns = messages_of(HI, said(use("a")), asked(result("a", content)))
    assert isinstance(turns, list)
    assert [message["role"] for message in turns] == ["user", "assistant", "tool"]
    assert isinstance(turns[2]["content"], str)


@pytest.mark.spec("XLT-71")
def test_a_failed_result_says_so_and_comes_back_as_failed() -> None:
    encoded = encode(HI, said(use("a")), asked(result("a", "denied", is_error=True)))
    (_, _, message) = json.loads(encoded.body)["messages"]
    assert message == tool("a", f"{FAILED_RESULT_LABEL}\ndenied")
    (back,) = CODEC.decode_request(encoded.body).turns[2].blocks
    assert isinstance(back, ToolResult)
    assert back.is_error
    assert back.blocks == (Text("denied"),)


@pytest.mark.spec("XLT-69")
def test_media_of_results_travel_in_one_user_message_behind_them() -> None:
    turns = messages_of(
        HI,
        said(use("a"), use("b")),
        asked(result("a", [text("shot"), PNG]), result("b", [PDF]), text("see")),
    )
    assert isinstance(turns, list)
    assert turns[2:4] == [tool("a", "shot"), tool("b", "")]
    assert [part["type"] for part in turns[4]["content"]] == ["text", "image_url", "text", "file"]
    assert turns[4]["content"][1]["image_url"]["url"] == "data:image/png;base64,AAAA"
    assert turns[5] == {"role": "user", "content": "see"}


@pytest.mark.spec("XLT-53", "XLT-54", "XLT-56", "XLT-57")
def test_media_of_the_user_are_kept() -> None:
    remote = {"type": "image", "source": {"type": "url", "url": "https://example.com/a"}}
    words = {
        "type": "document",
        "title": "T",
        "source": {"type": "text", "media_type": "text/plain", "data": "body"},
    }
    (message,) = json.loads(encode(asked(text("look"), PNG, remote, PDF, words)).body)["messages"]
    assert message["content"] == [
        text("look"),
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a"}},
        {
            "type": "file",
            "file": {"filename": "t.pdf", "file_data": "data:application/pdf;base64,BBBB"},
        },
        text("T\nbody"),
    ]


@pytest.mark.spec("XLT-58", "XLT-59")
@pytest.mark.parametrize(
    "source",
    [{"type": "url", "url": "https://example.com/a.pdf"}, {"type": "file", "file_id": "file_1"}],
)
def test_what_cannot_be_sent_is_an_error_and_never_dropped(source: object) -> None:
    with pytest.raises(UnbuildableError):
        encode(asked({"type": "document", "source": source}))


@pytest.mark.spec("XLT-52")
def test_blank_texts_are_left_out() -> None:
    assert messages_of(asked(text(""), text("hi"))) == [HI]
    turns = messages_of(HI, said(text(" "), use("a")), asked(result("a")))
    assert isinstance(turns, list)
    assert turns[1]["content"] is None
    assert messages_of(asked(text(" ")), said(text("x")), HI) == [
        {"role": "assistant", "content": "x"},
        HI,
    ]


@pytest.mark.spec("XLT-51", "XLT-64")
def test_assistant_texts_are_joined_and_thinking_is_dropped() -> None:
    thinking = {"type": "thinking", "thinking": "t", "signature": "s"}
    encoded = encode(HI, said(thinking, text("a"), text("b")), HI)
    assert json.loads(encoded.body)["messages"][1] == {"role": "assistant", "content": "a\nb"}
    assert [transform.code for transform in encoded.transforms] == ["thinking"]
    assert b"signature" not in encoded.body


@pytest.mark.spec("XLT-49")
def test_a_prefill_is_followed_by_a_short_user_text() -> None:
    turns = messages_of(HI, said(text("The answer is ")))
    assert turns == [
        HI,
        {"role": "assistant", "content": "The answer is"},
        {"role": "user", "content": "Continue."},
    ]


@pytest.mark.spec("XLT-180")
def test_long_ids_are_cut_alike_on_both_sides() -> None:
    turns = messages_of(HI, said(use("x" * 900)), asked(result("x" * 900)))
    assert isinstance(turns, list)
    call_id = turns[1]["tool_calls"][0]["id"]
    assert len(call_id) <= 64
    assert turns[2]["tool_call_id"] == call_id


TOOLS = [{"name": "f", "description": "d", "input_schema": {"type": "object", "properties": {}}}]


@pytest.mark.spec("XLT-80", "XLT-86", "XLT-89")
@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "auto"}, "auto"),
        ({"type": "any"}, "required"),
        ({"type": "none"}, "none"),
        ({"type": "tool", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
    ],
)
def test_tools_and_choice(choice: dict[str, object], expected: object) -> None:
    body = sent(HI, tools=TOOLS, tool_choice=choice)
    assert body["tool_choice"] == expected
    assert body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "f",
                "description": "d",
                "parameters": {"type": "object", "properties": {}},
            },
        }
    ]
    assert "parallel_tool_calls" not in body
    single = {**choice, "disable_parallel_tool_use": True}
    if choice["type"] != "none":
        assert sent(HI, tools=TOOLS, tool_choice=single)["parallel_tool_calls"] is False


def test_without_tools_there_is_no_choice() -> None:
    body = sent(HI, tools=[], tool_choice={"type": "auto"})
    assert "tools" not in body
    assert "tool_choice" not in body


@pytest.mark.spec("XLT-91", "XLT-92")
def test_the_output_limit_is_named_and_capped_for_the_target() -> None:
    assert sent(HI)["max_tokens"] == 100
    capped = encode(HI, to=target(max_output_tokens=10))
    assert json.loads(capped.body)["max_tokens"] == 10
    assert [transform.code for transform in capped.transforms] == ["max_tokens"]
    body = sent(HI, to=target(REASONING, is_vendor=True))
    assert body["max_completion_tokens"] == 100
    assert "max_tokens" not in body


@pytest.mark.spec("XLT-93", "TRN-31")
def test_hidden_reasoning_gets_room() -> None:
    always = ModelFacts(reasoning="always")
    assert sent(HI, to=target(always))["max_tokens"] == 16_384
    assert sent(HI, to=target(always, max_output_tokens=8_000))["max_tokens"] == 8_000


@pytest.mark.spec("XLT-94", "XLT-95", "XLT-97")
def test_sampling_is_sent_where_it_is_taken() -> None:
    knobs: dict[str, object] = {
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 5,
        "stop_sequences": list("abcde"),
    }
    body = sent(HI, to=None, **knobs)
    assert (body["temperature"], body["top_p"], body["top_k"]) == (0.5, 0.9, 5)
    assert body["stop"] == list("abcd")
    strict = sent(HI, to=target(REASONING, is_vendor=True), **knobs)
    assert not {"temperature", "top_p", "top_k", "stop"} & strict.keys()
    kept = sent(HI, to=target(REASONING, is_vendor=True), temperature=1)
    assert kept["temperature"] == 1
    flagged = target(ModelFacts(refused_parameters=frozenset(["temperature", "max_tokens"])))
    body = sent(HI, to=flagged, **knobs)
    assert "temperature" not in body
    assert body["max_completion_tokens"] == 100


@pytest.mark.spec("XLT-165", "XLT-166", "XLT-169")
@pytest.mark.parametrize(
    ("members", "facts", "effort"),
    [
        ({"thinking": {"type": "enabled", "budget_tokens": 4000}}, REASONING, "low"),
        ({"thinking": {"type": "enabled", "budget_tokens": 16_384}}, REASONING, "medium"),
        ({"thinking": {"type": "enabled", "budget_tokens": 16_385}}, REASONING, "high"),
        ({"thinking": {"type": "disabled"}}, REASONING, "minimal"),
        ({"thinking": {"type": "disabled"}}, ModelFacts(reasoning="always"), None),
        ({"thinking": {"type": "adaptive"}}, REASONING, None),
        (
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}},
            REASONING,
            "high",
        ),
        ({"thinking": {"type": "enabled", "budget_tokens": 4000}}, ModelFacts(), None),
        ({}, REASONING, None),
    ],
)
def test_reasoning_becomes_an_effort(
    members: dict[str, object], facts: ModelFacts, effort: str | None
) -> None:
    assert sent(HI, to=target(facts), **members).get("reasoning_effort") == effort


@pytest.mark.spec("XLT-101")
def test_a_schema_format_is_kept_where_it_is_taken() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    config = {"format": {"type": "json_schema", "schema": schema}}
    assert sent(HI, output_config=config)["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema},
    }
    body = sent(HI, output_config=config, to=target(ModelFacts(structured_output=False)))
    assert "response_format" not in body


@pytest.mark.spec("XLT-104", "XLT-221")
def test_identity_and_unknown_members_stay_with_their_vendor() -> None:
    encoded = encode(HI, metadata={"user_id": "who"}, context_management={"x": 1})
    assert b"who" not in encoded.body
    assert b"context_management" not in encoded.body
    paths = {transform.path for transform in encoded.transforms}
    assert paths == {"user", "context_management"}


@pytest.mark.spec("XLT-176")
def test_only_the_vendor_gets_a_cache_key() -> None:
    vendor = target(is_vendor=True, affinity_key="k")
    assert sent(HI, to=vendor)["prompt_cache_key"] == "k"
    assert "prompt_cache_key" not in sent(HI, to=target(affinity_key="k"))


def test_a_stream_asks_for_usage() -> None:
    body = sent(HI, stream=True)
    assert body["stream"] is True
    assert body["stream_options"] == {"include_usage": True}
    assert "stream" not in sent(HI)


@pytest.mark.spec("XLT-177")
def test_equal_requests_give_equal_bytes() -> None:
    first, second = (encode(HI, said(use("a")), asked(result("a"))) for _ in range(2))
    assert first.body == second.body


@pytest.mark.spec("XLT-149", "XLT-151")
def test_schemas_lose_what_is_refused_and_only_there() -> None:
    properties_before: dict[str, object] = {
        "pattern": {"type": "string", "pattern": "^a+$", "description": "d"},
        "list": {"type": "array"},
        "either": {"anyOf": [{"type": "string"}, {"description": "any"}]},
        "big": {"maximum": 123456789012345678901234567890, "x": 1.0},
    }
    source = {
        "type": "object",
        "properties": properties_before,
        "required": ["pattern"],
        "vendor": {"kept": True},
    }
    cleaned = json.loads(chat_schema(json.dumps(source).encode()))
    properties = cleaned["properties"]
    assert set(properties) == set(properties_before)
    assert "pattern" not in properties["pattern"]
    assert properties["pattern"]["description"].startswith("d [pattern ")
    assert "a+" not in properties["pattern"]["description"]
    assert properties["list"]["items"] == {}
    assert "type" in properties["either"]["anyOf"][1]
    assert properties["big"]["maximum"] == 123456789012345678901234567890
    assert cleaned["vendor"] == {"kept": True}


def test_a_schema_without_need_keeps_its_bytes() -> None:
    source = b'{ "type" : "array", "items": {"type":"string"} , "x":1e2}'
    assert chat_schema(source) == source
    assert chat_schema(b'{"pattern": NaN}') == b'{"pattern": NaN}'


_blocks = st.one_of(
    st.builds(text, st.text(max_size=3)),
    st.builds(use, st.sampled_from("abc")),
    st.builds(result, st.sampled_from("abcd")),
)


@pytest.mark.spec("XLT-225")
@given(
    st.lists(
        st.builds(
            lambda role, blocks: {"role": role, "content": blocks},
            st.sampled_from(["user", "assistant"]),
            st.lists(_blocks, max_size=4),
        ),
        max_size=6,
    )
)
def test_every_call_has_one_result_directly_behind_it(messages: list[dict[str, object]]) -> None:
    turns = messages_of(HI, *messages)
    assert isinstance(turns, list)
    owed: list[str] = []
    for message in turns:
        if message["role"] == "tool":
            assert message["tool_call_id"] == owed.pop(0)
            continue
        assert owed == []
        owed = [call["id"] for call in message.get("tool_calls", [])]
    assert owed == []


def test_a_picture_that_the_model_made_is_left_out_with_a_record() -> None:
    done = encode(HI, said(text("here"), PNG), asked(text("bluer")))
    assert json.loads(done.body)["messages"][1] == {"role": "assistant", "content": "here"}
    assert [(each.code, each.path) for each in done.transforms] == [
        ("assistant_media", "messages[1]")
    ]
