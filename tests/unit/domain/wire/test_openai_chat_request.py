from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.vocab import WireFamily
from services.domain.wire.model import (
    Limits,
    Media,
    Opaque,
    Reasoning,
    Refusal,
    Request,
    Role,
    SystemBlock,
    Text,
    Thinking,
    ToolChoice,
    ToolResult,
    ToolUse,
    Turn,
    WireError,
)
from services.domain.wire.openai_chat import CODEC
from tests.unit.domain.wire.openai_chat_cases import target

CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1.0}'}}

PDF_URL = "data:application/pdf;base64,BB"


def decode(messages: object = None, **members: object) -> Request:
    default = [{"role": "user", "content": "hi"}]
    body = {"model": "m", "messages": default if messages is None else messages, **members}
    return CODEC.decode_request(json.dumps(body).encode())


@pytest.mark.spec("XLT-44", "XLT-47")
def test_messages_become_system_blocks_and_turns() -> None:
    request = decode(
        [
            {"role": "developer", "content": "start with X"},
            {"role": "system", "content": ""},
            {"role": "user", "content": "hi", "name": "ann"},
            {"role": "assistant", "reasoning_content": "hm", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "a", "content": "done"},
            {"role": "system", "content": [{"type": "text", "text": "later"}]},
            {"role": "assistant", "content": "ok", "refusal": "no"},
        ]
    )
    assert request.family is WireFamily.OPENAI_CHAT
    assert request.system == (
        SystemBlock("start with X", "developer", 0, origin_index=0),
        SystemBlock("later", "system", 3, origin_index=5, raw=b'{"type": "text", "text": "later"}'),
    )
    assert request.turns == (
        Turn(Role.USER, (Text("hi"),), 2, (("name", b'"ann"'),)),
        Turn(
            Role.ASSISTANT,
            (Thinking("hm"), ToolUse("a", "f", b'{"x": 1.0}', raw=json.dumps(CALL).encode())),
            3,
        ),
        Turn(Role.USER, (ToolResult("a", (Text("done"),)),), 4),
        Turn(Role.ASSISTANT, (Text("ok"), Refusal("no")), 6),
    )


@pytest.mark.spec("XLT-47")
def test_the_legacy_call_and_its_result_are_paired() -> None:
    request = decode(
        [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "function_call": {"name": "f", "arguments": ""}},
            {"role": "function", "name": "f", "content": "r"},
        ]
    )
    (call,) = request.turns[1].blocks
    (result,) = request.turns[2].blocks
    assert isinstance(call, ToolUse)
    assert isinstance(result, ToolResult)
    assert call.arguments == b"{}"
    assert call.call_id == result.call_id


@pytest.mark.spec("XLT-79")
def test_a_nameless_call_goes_with_its_result() -> None:
    request = decode(
        [
            {"role": "assistant", "content": "x", "tool_calls": [{"id": "a", "function": {}}]},
            {"role": "tool", "tool_call_id": "a", "content": "r"},
        ]
    )
    assert [turn.blocks for turn in request.turns] == [(Text("x"),)]


def test_every_kind_of_part_decodes() -> None:
    parts = [
        {"type": "text", "text": "look", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,BB"},
        },
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "input_audio", "input_audio": {"data": "CC", "format": "mp3"}},
        {"type": "novelty", "x": 12345678901234567890},
    ]
    (turn,) = decode([{"role": "user", "content": parts}]).turns
    text, inline, remote, pdf, stored, audio, novelty = turn.blocks
    assert isinstance(text, Text)
    assert text.cache is not None
    assert text.cache.ttl == "1h"
    assert isinstance(inline, Media)
    assert (inline.media_type, inline.data, inline.detail) == ("image/png", "AAAA", "low")
    assert isinstance(remote, Media)
    assert remote.url == "https://example.com/a.png"
    assert isinstance(pdf, Media)
    assert (pdf.kind, pdf.media_type, pdf.data) == ("document", "application/pdf", "BB")
    assert pdf.filename == "a.pdf"
    assert isinstance(stored, Media)
    assert stored.file_id == "file-1"
    assert isinstance(audio, Media)
    assert (audio.kind, audio.media_type) == ("audio", "audio/mpeg")
    assert isinstance(novelty, Opaque)
    assert novelty.raw == b'{"type": "novelty", "x": 12345678901234567890}'


@pytest.mark.spec("XLT-32")
@pytest.mark.parametrize(
    ("content", "blocks"),
    [(None, ()), ([], ()), ("", (Text(""),)), ([{"type": "text", "text": ""}], None)],
)
def test_null_empty_list_and_empty_text_differ(content: object, blocks: object) -> None:
    (turn,) = decode([{"role": "user", "content": content}]).turns
    if blocks is None:
        assert turn.blocks == (Text("", raw=b'{"type": "text", "text": ""}'),)
    else:
        assert turn.blocks == blocks
    (bare,) = decode([{"role": "user"}]).turns
    assert bare.blocks == ()


@pytest.mark.spec("XLT-32")
@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "model"),
        ({"model": ""}, "model"),
        ({"model": "m"}, "messages"),
        ({"model": "m", "messages": []}, "messages"),
        ({"model": "m", "messages": [1]}, "messages[0]"),
        ({"model": "m", "messages": [{"role": "robot"}]}, "messages[0].role"),
        ({"model": "m", "messages": [{"content": "x"}]}, "messages[0].role"),
        ({"model": "m", "messages": [{"role": "user", "content": 1}]}, "messages[0].content"),
        (
            {"model": "m", "messages": [{"role": "user", "content": [{"type": "text"}]}]},
            "messages[0].content[0].text",
        ),
    ],
)
def test_an_unreadable_request_names_the_place(body: object, path: str) -> None:
    with pytest.raises(WireError) as caught:
        CODEC.decode_request(json.dumps(body).encode())
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("key", "value"),
    [("max_tokens", "many"), ("temperature", "hot"), ("stop", 1), ("tools", {}), ("tools", [1])],
)
def test_a_parameter_of_the_wrong_type_is_named(key: str, value: object) -> None:
    with pytest.raises(WireError) as caught:
        decode(**{key: value})
    assert caught.value.path.startswith(key)


@pytest.mark.spec("XLT-25")
def test_a_second_messages_member_is_refused() -> None:
    body = b'{"model":"m","messages":[{"role":"user"}],"messages":[{"role":"user"}]}'
    with pytest.raises(WireError):
        CODEC.decode_request(body)


@pytest.mark.spec("XLT-86")
@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, ToolChoice()),
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("required")),
        ({"type": "function", "function": {"name": "f"}}, ToolChoice("named", "f")),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": "f"}}],
                },
            },
            ToolChoice("allowed", names=("f",), is_call_required=True),
        ),
        ("sometimes", ToolChoice("unrecognised")),
        ({"type": "novelty"}, ToolChoice("unrecognised")),
        (7, ToolChoice("unrecognised")),
    ],
)
def test_tool_choices_decode(choice: object, expected: ToolChoice) -> None:
    assert decode(tool_choice=choice).tool_choice == expected


def test_parameters_decode() -> None:
    request = decode(
        stream=True,
        stream_options={"include_usage": True},
        max_tokens=5,
        max_completion_tokens=7,
        stop="x",
        n=2,
        seed=12345678901234567890,
        temperature=1,
        reasoning_effort="minimal",
        user="u",
        parallel_tool_calls=False,
        metadata={"k": 1.0},
    )
    assert request.is_stream
    assert request.is_stream_usage_wanted
    assert request.limits == Limits(7, ("x",), 2)
    assert request.sampling.seed == 12345678901234567890
    assert request.reasoning == Reasoning("level", "minimal")
    assert request.tool_choice.parallel is False
    assert request.user == "u"
    assert request.extras == (("metadata", b'{"k": 1.0}'),)
    assert decode(reasoning_effort="none").reasoning == Reasoning("off")


@pytest.mark.spec("XLT-26")
@pytest.mark.parametrize("value", [1, "true", None, False, []])
def test_only_true_is_a_stream(value: object) -> None:
    assert not decode(stream=value).is_stream


def test_tools_decode_with_their_schema_as_written() -> None:
    body = (
        b'{"model":"m","messages":[{"role":"user"}],"tools":[{"type":"function","function":'
        b'{"name":"f","parameters":{"maximum" : 1e400}}},'
        b'{"type":"web_search"}],"functions":[{"name":"g","parameters":null}]}'
    )
    function, server, legacy = CODEC.decode_request(body).tools
    assert function.schema == b'{"maximum" : 1e400}'
    assert (server.kind, server.name) == ("server", "web_search")
    assert (legacy.name, legacy.schema) == ("g", b'{"type":"object","properties":{}}')


FULL: dict[str, object] = {
    "model": "upstream-model",
    "messages": [
        {"role": "developer", "content": "one"},
        {"role": "system", "content": [{"type": "text", "text": "two"}]},
        {"role": "user", "content": "hi", "name": "ann"},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "a", "content": "r"},
        {"role": "system", "content": "middle"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "https://example.com/a", "x": 1}},
            ],
        },
        {"role": "assistant", "content": "fine", "reasoning_content": "hm"},
        {"role": "user", "content": ""},
    ],
    "tools": [
        {
            "type": "function",
            "function": {"name": "f", "parameters": {"pattern": "x", "a": 1.0}, "y": 2},
        }
    ],
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "max_tokens": 9,
    "stop": ["a", "b"],
    "n": 1,
    "temperature": 0.5,
    "logit_bias": {"5": -1},
    "response_format": {
        "type": "json_schema",
        "json_schema": {
            "name": "s",
            "description": "d",
            "schema": {"b": 1, "a": 2},
            "strict": True,
        },
    },
    "user": "u",
    "stream": True,
    "stream_options": {"include_usage": True, "include_obfuscation": False},
    "metadata": {"k": "v"},
    "service_tier": "default",
}


@pytest.mark.spec("XLT-30")
def test_a_request_encoded_back_says_the_same() -> None:
    request = CODEC.decode_request(json.dumps(FULL).encode())
    encoded = CODEC.encode_request(request, target(is_vendor=True))
    assert json.loads(encoded.body) == FULL
    assert encoded.transforms == ()
    again = CODEC.decode_request(encoded.body)
    assert again.turns[0] == request.turns[0]
    assert CODEC.encode_request(again, target(is_vendor=True)).body == encoded.body


_leaf = st.none() | st.booleans() | st.integers() | st.text(max_size=4)
_keys = st.sampled_from(
    [
        "role",
        "content",
        "type",
        "text",
        "tool_calls",
        "function",
        "name",
        "id",
        "image_url",
        "url",
        "tool_call_id",
        "file",
        "input_audio",
        "function_call",
        "arguments",
        "custom",
    ]
)
_values = st.recursive(
    _leaf | st.sampled_from(["user", "assistant", "tool", "system", "function", "text"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=4),
    max_leaves=10,
)
_roles = st.sampled_from(["system", "developer", "user", "assistant", "tool", "function"])
_messages = st.builds(
    lambda role, rest: {**rest, "role": role}, _roles, st.dictionaries(_keys, _values)
)


@given(
    st.lists(
        st.builds(
            lambda role, rest: {**rest, "role": role}, _roles, st.dictionaries(_keys, _values)
        ),
        min_size=1,
        max_size=4,
    ),
    st.dictionaries(
        st.sampled_from(
            ["tools", "tool_choice", "stop", "response_format", "functions", "stream_options", "n"]
        ),
        _values,
        max_size=3,
    ),
)
def test_no_request_raises_anything_else(
    messages: list[object], members: dict[str, object]
) -> None:
    body = json.dumps({"model": "m", "stream": True, "messages": messages, **members}).encode()
    try:
        request = CODEC.decode_request(body)
    except WireError:
        return
    once = CODEC.splice_request(body, request, target())
    CODEC.decode_request(once.body)
    if request.turns:
        json.loads(CODEC.encode_request(request, target()).body)
