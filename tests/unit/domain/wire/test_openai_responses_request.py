"""A client's Responses request becomes the canonical one, or a refusal that names the place."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.vocab import WireFamily
from services.domain.wire.features import Requirement, features_of
from services.domain.wire.model import (
    Media,
    Opaque,
    ProviderState,
    Refusal,
    Role,
    Text,
    Thinking,
    ToolChoice,
    ToolResult,
    ToolUse,
    WireError,
)
from services.domain.wire.openai_responses import CODEC, stored_field
from services.domain.wire.requirements import untranslatable
from tests.unit.domain.wire.openai_responses_cases import (
    CUSTOM,
    NAMESPACE,
    call,
    request,
    result,
    said,
    thought,
)

R = WireFamily.OPENAI_RESPONSES


@pytest.mark.spec("XLT-32", "XLT-44")
def test_instructions_lead_and_developer_items_keep_their_place() -> None:
    found = request(
        instructions="Be kind.",
        input=[said("developer", "a", "b"), said("user", "hi"), said("system", "c")],
    )
    told = [(block.text, block.origin, block.after_turn) for block in found.system]
    assert told == [
        ("Be kind.", "instructions", 0),
        ("a", "developer", 0),
        ("b", "developer", 0),
        ("c", "system", 1),
    ]
    assert [block.text for block in found.turns[0].blocks if isinstance(block, Text)] == ["hi"]


@pytest.mark.spec("XLT-47")
def test_an_item_with_a_role_and_no_type_is_a_message() -> None:
    (turn,) = request(input=[{"role": "user", "content": "hello"}]).turns
    assert (turn.role, turn.blocks) == (Role.USER, (Text("hello"),))


@pytest.mark.spec("XLT-31", "XLT-75")
def test_neighbouring_items_of_the_assistant_are_one_turn_in_order() -> None:
    found = request(
        input=[
            said("user", "go"),
            thought("enc", "plan", "more"),
            said("assistant", "I look."),
            call("c1"),
            call("c2", "g", ""),
            result("c1"),
            result("c2", ""),
        ]
    )
    assert [turn.role for turn in found.turns] == [
        Role.USER,
        Role.ASSISTANT,
        Role.USER,
        Role.USER,
    ]
    thinking, text, first, second = found.turns[1].blocks
    assert isinstance(thinking, Thinking)
    assert thinking.text == "plan\n\nmore"
    assert thinking.state == (ProviderState(R, "encrypted", "enc", item_id="rs_1"),)
    assert isinstance(text, Text)
    assert isinstance(first, ToolUse)
    assert isinstance(second, ToolUse)
    assert (second.name, second.arguments) == ("g", b"{}")
    (output,) = found.turns[3].blocks
    assert isinstance(output, ToolResult)
    assert (output.call_id, output.blocks) == ("c2", (Text(""),))


@pytest.mark.spec("XLT-53", "XLT-56", "XLT-58", "XLT-59")
def test_media_parts_are_read_in_all_their_forms() -> None:
    parts = [
        {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "low"},
        {"type": "input_image", "image_url": "https://example.test/a.png"},
        {
            "type": "input_file",
            "filename": "a.pdf",
            "file_data": "data:application/pdf;base64,aGk=",
        },
        {"type": "input_file", "file_url": "https://example.test/a.pdf"},
        {"type": "input_file", "file_id": "file-1"},
        {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
    ]
    (turn,) = request(input=[{"role": "user", "content": parts}]).turns
    media = [block for block in turn.blocks if isinstance(block, Media)]
    assert [m.kind for m in media] == ["image", "image", *["document"] * 3, "audio"]
    assert (media[0].media_type, media[0].data, media[0].detail) == ("image/png", "aGk=", "low")
    assert media[1].url == "https://example.test/a.png"
    assert (media[2].data, media[2].filename) == ("aGk=", "a.pdf")
    assert media[3].url == "https://example.test/a.pdf"
    assert media[4].file_id == "file-1"
    assert media[5].media_type == "audio/mpeg"


@pytest.mark.spec("XLT-32", "XLT-67")
def test_items_that_are_not_known_are_kept_whole() -> None:
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    (turn,) = request(input=[item]).turns
    (block,) = turn.blocks
    assert isinstance(block, Opaque)
    assert (turn.role, block.kind) == (Role.ASSISTANT, "web_search_call")
    assert json.loads(block.raw) == item


@pytest.mark.spec("XLT-84")
def test_custom_and_namespaced_tools_become_flat_functions() -> None:
    found = request(
        tools=[CUSTOM, NAMESPACE, {"type": "web_search"}],
        input=[
            {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": 'say "x"'},
            call("c2", "find", "{}", namespace="crm"),
        ],
    )
    assert [(tool.kind, tool.name) for tool in found.tools] == [
        ("function", "patch"),
        ("function", "crm__find"),
        ("server", "web_search"),
    ]
    assert "start: WORD" in found.tools[0].description
    assert json.loads(found.tools[0].schema)["required"] == ["input"]
    calls = [block for block in found.turns[0].blocks if isinstance(block, ToolUse)]
    assert [each.name for each in calls] == ["patch", "crm__find"]
    assert json.loads(calls[0].arguments) == {"input": 'say "x"'}


@pytest.mark.spec("XLT-79")
def test_a_call_without_a_name_goes_with_its_result() -> None:
    found = request(input=[said("user", "hi"), call("c1", ""), result("c1")])
    assert len(found.turns) == 1


@pytest.mark.spec("XLT-71")
def test_our_own_failure_label_is_read_back() -> None:
    (turn,) = request(input=[result("c1", "[tool call failed]\nno")]).turns
    (block,) = turn.blocks
    assert isinstance(block, ToolResult)
    assert (block.is_error, block.blocks) == (True, (Text("no"),))


@pytest.mark.spec("XLT-65")
def test_a_refusal_of_the_assistant_is_told_apart_from_text() -> None:
    item = {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}
    assert request(input=[item]).turns[0].blocks == (Refusal("no"),)


@pytest.mark.parametrize(
    ("members", "choice"),
    [
        ({}, ToolChoice()),
        ({"tool_choice": "auto"}, ToolChoice("auto")),
        ({"tool_choice": "required"}, ToolChoice("required")),
        ({"tool_choice": "none", "parallel_tool_calls": False}, ToolChoice("none", parallel=False)),
        ({"tool_choice": {"type": "function", "name": "f"}}, ToolChoice("named", name="f")),
        ({"tool_choice": {"type": "custom", "name": "p"}}, ToolChoice("named", name="p")),
        (
            {
                "tool_choice": {
                    "type": "allowed_tools",
                    "mode": "required",
                    "tools": [{"type": "function", "name": "f"}],
                }
            },
            ToolChoice("allowed", names=("f",), is_call_required=True),
        ),
        ({"tool_choice": {"type": "file_search"}}, ToolChoice("named", name="file_search")),
        ({"tool_choice": {"name": "f"}}, ToolChoice("unrecognised")),
    ],
)
@pytest.mark.spec("XLT-86")
def test_tool_choices_are_read(members: dict[str, object], choice: ToolChoice) -> None:
    assert request(**members).tool_choice == choice


@pytest.mark.spec("XLT-163", "XLT-101", "XLT-91")
def test_parameters_are_read() -> None:
    form = {"type": "json_schema", "name": "n", "strict": True, "schema": {"type": "object"}}
    found = request(
        reasoning={"effort": "high", "summary": "auto"},
        text={"format": form, "verbosity": "low"},
        max_output_tokens=7,
        temperature=0.5,
        include=["message.output_text.logprobs"],
        store=False,
    )
    assert (found.reasoning.mode, found.reasoning.level) == ("level", "high")
    assert (found.output.kind, found.output.name, found.output.strict) == ("json_schema", "n", True)
    assert (json.loads(found.output.schema), found.output.verbosity) == ({"type": "object"}, "low")
    assert (found.limits.max_output_tokens, found.sampling.temperature) == (7, 0.5)
    assert found.sampling.logprobs is True
    assert dict(found.extras)["store"] == b"false"
    assert request(reasoning={"effort": "none"}).reasoning.mode == "off"


@pytest.mark.spec("XLT-78")
def test_state_that_is_stored_elsewhere_may_stand_for_the_input() -> None:
    found = request(input=[], previous_response_id="resp_1")
    assert found.turns == ()
    assert dict(found.extras)["previous_response_id"] == b'"resp_1"'


@pytest.mark.spec("XLT-78")
@pytest.mark.parametrize(
    "members",
    [
        {"previous_response_id": "resp_1"},
        {"conversation": {"id": "conv_1"}},
        {"input": [said("user", "hi"), {"type": "item_reference", "id": "msg_1"}]},
        {"background": True},
    ],
)
def test_stored_state_keeps_a_request_in_its_dialect(members: dict[str, object]) -> None:
    asked = request(**members)
    needs = features_of(asked, 100).requirements
    assert stored_field(asked) in (next(iter(members)), "input[0]", "input[1]")
    assert {Requirement.VENDOR_FILE, Requirement.NATIVE_ONLY} <= set(needs)
    for family in WireFamily:
        assert bool(untranslatable(needs, R, family)) is (family is not R)
    unsaid = request(previous_response_id=None, background=False)
    assert stored_field(unsaid) == ""
    plain = features_of(unsaid, 100).requirements
    assert not untranslatable(plain, R, WireFamily.ANTHROPIC)


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"input": []}, "input"),
        ({"input": 5}, "input"),
        ({"input": [5]}, "input[0]"),
        ({"input": [{"role": "robot", "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": "user", "content": 5}]}, "input[0].content"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_text"}]}]},
            "input[0].content[0].text",
        ),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
            "input[0].content[0]",
        ),
        ({"model": ""}, "model"),
        ({"instructions": 5}, "instructions"),
        ({"tools": {}}, "tools"),
        ({"tools": [{"name": "f"}]}, "tools[0].type"),
        ({"tools": [{"type": "function"}]}, "tools[0].name"),
        ({"max_output_tokens": "x"}, "max_output_tokens"),
        ({"temperature": 1e400}, "temperature"),
        ({"reasoning": "high"}, "reasoning"),
        ({"reasoning": {"effort": 5}}, "reasoning.effort"),
    ],
)
@pytest.mark.spec("XLT-32")
def test_what_cannot_be_read_is_named(members: dict[str, object], path: str) -> None:
    with pytest.raises(WireError) as caught:
        request(**members)
    if "1e400" not in str(members):
        assert caught.value.path in (path, "")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "role", "content", "name", "output", "summary", "text", "tools"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
TYPES = st.sampled_from(
    ["message", "function_call", "function_call_output", "reasoning", "custom_tool_call", "x"]
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"type": TYPES | JSON},
            optional={
                "content": JSON,
                "role": JSON,
                "output": JSON,
                "summary": JSON,
                "name": JSON,
                "call_id": JSON,
                "arguments": JSON,
            },
        ),
        max_size=3,
    )
    | JSON,
    JSON,
    JSON,
)
@pytest.mark.spec("XLT-225", "XLT-32")
def test_any_json_decodes_or_is_refused(items: object, tools: object, rest: object) -> None:
    told = {
        "model": "m",
        "input": items,
        "tools": tools,
        "reasoning": rest,
        "text": rest,
        "tool_choice": rest,
    }
    with contextlib.suppress(WireError):
        CODEC.decode_request(json.dumps(told).encode())
