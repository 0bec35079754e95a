from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.vocab import WireFamily
from services.domain.wire.anthropic import CODEC
from services.domain.wire.model import (
    CacheMark,
    Limits,
    Media,
    Opaque,
    OutputFormat,
    ProviderState,
    Reasoning,
    Request,
    Role,
    Text,
    Thinking,
    ToolChoice,
    ToolResult,
    ToolUse,
    WireError,
)
from tests.unit.domain.wire.anthropic_cases import Json, target

USER: Json = {"role": "user", "content": "hi"}

RICH: Json = {
    "model": "claude-x",
    "max_tokens": 64000,
    "system": [
        {"type": "text", "text": "Be kind."},
        {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
    ],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "read é", "citations": None}]},
        {"role": "system", "content": "Agents are on offer."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "b3Bh"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"n": 2**70}},
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "is_error": True,
                    "content": [
                        {"type": "text", "text": "no"},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
                        },
                        {"type": "tool_reference", "tool_name": "Read"},
                    ],
                },
                {"type": "document", "source": {"type": "url", "url": "https://x/y.pdf"}},
            ],
        },
        {"role": "system", "content": [{"type": "text", "text": "Last."}]},
    ],
    "tools": [
        {"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
    ],
    "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    "metadata": {"user_id": '{"session_id":"s"}', "other": 1},
    "thinking": {"type": "adaptive", "display": "full"},
    "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": {"a": 1.0}}},
    "context_management": {"edits": []},
    "temperature": 1.0,
    "top_k": 5,
    "stop_sequences": ["END"],
    "stream": True,
    "brand_new": {"deep": [1, {"x": None}]},
}


def decode(**members: object) -> Request:
    body = {"model": "m", "max_tokens": 5, "messages": [USER], **members}
    return CODEC.decode_request(json.dumps(body).encode())


def test_a_rich_request_has_all_its_parts() -> None:
    request = CODEC.decode_request(json.dumps(RICH).encode())
    assert (request.model, request.is_stream) == ("claude-x", True)
    assert request.limits == Limits(64000, ("END",))
    assert [(b.text, b.origin, b.after_turn) for b in request.system] == [
        ("Be kind.", "system", 0),
        ("Be brief.", "system", 0),
        ("Agents are on offer.", "in_array", 1),
        ("Last.", "in_array", 3),
    ]
    assert request.system[1].cache == CacheMark(b'{"type": "ephemeral", "ttl": "1h"}', "1h")
    assert [turn.role for turn in request.turns] == [Role.USER, Role.ASSISTANT, Role.USER]
    assert [turn.origin_index for turn in request.turns] == [0, 2, 3]
    thinking, redacted, text, call, server = request.turns[1].blocks
    assert isinstance(thinking, Thinking)
    assert isinstance(redacted, Thinking)
    assert thinking.state == (ProviderState(WireFamily.ANTHROPIC, "signature", "c2ln"),)
    assert redacted.state == (ProviderState(WireFamily.ANTHROPIC, "redacted", "b3Bh"),)
    assert isinstance(text, Text)
    assert isinstance(call, ToolUse)
    assert call.arguments == b'{"n": 1180591620717411303424}'
    assert isinstance(server, Opaque)
    result, document = request.turns[2].blocks
    assert isinstance(result, ToolResult)
    assert result.is_error
    assert [type(block) for block in result.blocks] == [Text, Media, Opaque]
    assert isinstance(document, Media)
    assert document.url == "https://x/y.pdf"
    assert [tool.kind for tool in request.tools] == ["function", "server"]
    assert request.tool_choice == ToolChoice("auto", parallel=False)
    assert request.user == '{"session_id":"s"}'
    assert request.reasoning == Reasoning("level", level="high")
    assert request.output == OutputFormat("json_schema", schema=b'{"a": 1.0}')
    assert dict(request.extras) == {
        "context_management": b'{"edits": []}',
        "brand_new": b'{"deep": [1, {"x": null}]}',
    }


@pytest.mark.spec("XLT-30")
@pytest.mark.parametrize("indent", [None, 2])
def test_an_unedited_request_comes_back_equal_in_value(indent: int | None) -> None:
    """Only reasoning without a signature and illegal ids would change; here are none."""
    body = json.dumps(RICH, indent=indent).encode()
    request = CODEC.decode_request(body)
    encoded = CODEC.encode_request(request, target(upstream_id="claude-x"))
    assert json.loads(encoded.body) == RICH
    assert encoded.transforms == ()


@pytest.mark.spec("XLT-32", "XLT-68")
@pytest.mark.parametrize("nothing", [None, ""])
def test_no_arguments_in_the_history_are_the_empty_object(nothing: object) -> None:
    """B-016: a zero-argument call that was replayed as an empty string."""
    block = {"type": "tool_use", "id": "t", "name": "f", "input": nothing}
    request = decode(messages=[{"role": "assistant", "content": [block]}])
    call = request.turns[0].blocks[0]
    assert isinstance(call, ToolUse)
    assert call.arguments == b"{}"


@pytest.mark.spec("XLT-32")
def test_null_empty_and_absent_content_are_told_apart() -> None:
    contents: list[Json] = [{}, {"content": None}, {"content": ""}, {"content": []}]
    request = decode(messages=[{"role": "user", **content} for content in contents])
    assert [turn.blocks for turn in request.turns] == [(), (), (Text("", raw=b'""'),), ()]


@pytest.mark.spec("XLT-163")
@pytest.mark.parametrize(
    ("members", "reasoning"),
    [
        ({}, Reasoning()),
        ({"thinking": None}, Reasoning()),
        ({"thinking": {"type": "disabled"}}, Reasoning("off")),
        ({"thinking": {"type": "adaptive"}}, Reasoning("auto")),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 4000}},
            Reasoning("budget", budget_tokens=4000),
        ),
        (
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
            Reasoning("level", level="low"),
        ),
        ({"output_config": {"effort": "none"}}, Reasoning("off")),
    ],
)
def test_the_wish_for_reasoning_is_read(members: Json, reasoning: Reasoning) -> None:
    assert decode(**members).reasoning == reasoning


@pytest.mark.spec("XLT-86")
@pytest.mark.parametrize(
    ("choice", "mode"),
    [
        (None, "unset"),
        ({"type": "auto"}, "auto"),
        ({"type": "any"}, "required"),
        ({"type": "none"}, "none"),
        ({"type": "tool", "name": "f"}, "named"),
        ({"type": "new"}, "unrecognised"),
        ("auto", "unrecognised"),
    ],
)
def test_the_tool_choice_is_read(choice: object, mode: str) -> None:
    assert decode(tool_choice=choice).tool_choice.mode == mode


@pytest.mark.spec("XLT-26")
@pytest.mark.parametrize("value", [1, "true", None, []])
def test_only_true_streams(value: object) -> None:
    assert not decode(stream=value).is_stream


@pytest.mark.spec("XLT-32", "XLT-206")
@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"model": None}, "model"),
        ({"model": ""}, "model"),
        ({"messages": None}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": [1]}, "messages[0]"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ({"messages": [USER, {"role": "user", "content": 1}]}, "messages[1].content"),
        ({"messages": [{"role": "user", "content": [1]}]}, "messages[0].content[0]"),
        ({"messages": [{"role": "user", "content": [{}]}]}, "messages[0].content[0].type"),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": 1}]}]},
            "messages[0].content[0].text",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image"}]}]},
            "messages[0].content[0].source",
        ),
        ({"system": 1}, "system"),
        ({"system": [1]}, "system[0]"),
        ({"tools": {}}, "tools"),
        ({"tools": [{}]}, "tools[0].name"),
    ],
)
def test_an_unreadable_request_names_the_place(members: Json, path: str) -> None:
    with pytest.raises(WireError) as caught:
        decode(**members)
    assert caught.value.path == path


@pytest.mark.spec("XLT-25")
def test_a_key_given_twice_is_refused() -> None:
    with pytest.raises(WireError, match="twice"):
        CODEC.decode_request(b'{"model":"m","messages":[],"messages":[]}')


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda v: (
        st.lists(v, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "content", "role", "name", "input", "source", "data"]),
            v,
        )
    ),
    max_leaves=8,
)


@pytest.mark.spec("XLT-32", "XLT-225")
@given(st.sampled_from(sorted(RICH)), ODD)
def test_odd_members_decode_or_are_refused(key: str, value: object) -> None:
    try:
        request = CODEC.decode_request(json.dumps({**RICH, key: value}).encode())
    except WireError:
        return
    CODEC.encode_request(request, target())
