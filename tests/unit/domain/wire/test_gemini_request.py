"""Reading requests of the Gemini dialect, and sending them on in it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.gemini import CODEC, addressed, is_reasoning_wanted
from services.domain.wire.model import (
    Media,
    Opaque,
    ProviderState,
    Reasoning,
    Request,
    Role,
    Target,
    Text,
    Thinking,
    ToolChoice,
    ToolResult,
    ToolUse,
    Turn,
    WireError,
)
from tests.unit.domain.wire.gemini_cases import Json, target

PICTURE: Json = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
HELLO: Json = {"contents": [{"parts": [{"text": "hi"}]}]}


def read(body: Json) -> Request:
    return CODEC.decode_request(json.dumps(body).encode())


def config(**members: object) -> Request:
    return read({**HELLO, "generationConfig": members})


@pytest.mark.spec("XLT-26")
def test_the_address_names_the_model_and_the_stream() -> None:
    request = read(HELLO)
    assert (request.family, request.model, request.is_stream) == (WireFamily.GEMINI, "", False)
    told = addressed(request, "models/gemini-x", is_stream=True)
    assert (told.model, told.is_stream) == ("gemini-x", True)
    assert read({**HELLO, "model": "models/m"}).model == "m"


@pytest.mark.spec("XLT-47")
def test_roles() -> None:
    roles = ["user", "model", "function", None]
    contents = [{"role": role, "parts": [{"text": "x"}]} for role in roles]
    request = read({"contents": [*contents, {"parts": [{"text": "x"}]}]})
    expected = [Role.USER, Role.ASSISTANT, Role.USER, Role.USER, Role.USER]
    assert [turn.role for turn in request.turns] == expected
    with pytest.raises(WireError, match=r"contents\[0\]\.role"):
        read({"contents": [{"role": "system", "parts": []}]})


@pytest.mark.spec("XLT-44")
@pytest.mark.parametrize(
    "value",
    ["Be kind.", {"parts": [{"text": "Be kind."}, {"text": ""}], "role": "user"}],
)
@pytest.mark.parametrize("key", ["systemInstruction", "system_instruction"])
def test_instructions_in_every_form(key: str, value: object) -> None:
    assert [block.text for block in read({**HELLO, key: value}).system] == ["Be kind."]


@pytest.mark.spec("XLT-32", "XLT-72")
def test_parts_become_blocks() -> None:
    request = read(
        {
            "contents": [
                {
                    "role": "user",
                    "parts": [
                        {"text": "look"},
                        PICTURE,
                        {"inline_data": {"mime_type": "application/pdf", "data": "aGk="}},
                        {"fileData": {"mimeType": "video/mp4", "fileUri": "files/1"}},
                        {"novelty": 1},
                    ],
                },
                {
                    "role": "model",
                    "parts": [
                        {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
                        {"functionCall": {"name": "f", "args": {"n": 1}}, "thoughtSignature": "t"},
                        {"functionCall": {"id": "x", "name": "g"}},
                        {"functionCall": {"args": {}}},
                        {"executableCode": {"code": "print(1)", "language": "PYTHON"}},
                    ],
                },
                {
                    "role": "user",
                    "parts": [
                        {"functionResponse": {"name": "f", "response": {"result": "one"}}},
                        {
                            "functionResponse": {
                                "id": "x",
                                "name": "g",
                                "response": {"error": "no"},
                                "parts": [
                                    {"inlineData": {"mimeType": "image/png", "data": "eA=="}}
                                ],
                            }
                        },
                        {"functionResponse": {"response": {}}},
                    ],
                },
            ]
        }
    )
    words, image, pdf, file, other = request.turns[0].blocks
    assert isinstance(words, Text)
    assert isinstance(image, Media)
    assert (image.kind, image.data) == ("image", "aGk=")
    assert isinstance(pdf, Media)
    assert pdf.kind == "document"
    assert isinstance(file, Media)
    assert (file.kind, file.file_id, file.data) == ("video", "files/1", "")
    assert isinstance(other, Opaque)
    assert other.kind == "novelty"
    thought, call, second, code = request.turns[1].blocks
    assert isinstance(thought, Thinking)
    assert thought.state == (ProviderState(WireFamily.GEMINI, "signature", "c2ln"),)
    assert isinstance(call, ToolUse)
    assert (call.call_id, call.state[0].payload) == ("call_1_1", "t")
    assert isinstance(second, ToolUse)
    assert second.arguments == b"{}"
    assert isinstance(code, Opaque)
    assert code.rendering == "print(1)"
    one, no = request.turns[2].blocks
    assert isinstance(one, ToolResult)
    assert (one.call_id, one.blocks) == ("call_1_1", (Text("one"),))
    assert isinstance(no, ToolResult)
    assert (no.call_id, no.is_error, len(no.blocks)) == ("x", True, 2)


@pytest.mark.spec("XLT-72")
def test_results_without_ids_answer_calls_of_their_name_in_order() -> None:
    calls: list[Json] = [{"functionCall": {"name": name, "args": {}}} for name in ("f", "g", "f")]
    results = [
        {"functionResponse": {"name": name, "response": {"result": str(at)}}}
        for at, name in enumerate(("f", "f", "g"))
    ]
    request = read(
        {"contents": [{"role": "model", "parts": calls}, {"role": "user", "parts": results}]}
    )
    ids = [block.call_id for block in request.turns[1].blocks if isinstance(block, ToolResult)]
    assert ids == ["call_0_0", "call_0_2", "call_0_1"]


@pytest.mark.spec("XLT-163")
@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, Reasoning()),
        ({"includeThoughts": True}, Reasoning("auto")),
        ({"thinkingLevel": "HIGH", "thinkingBudget": 1}, Reasoning("level", level="high")),
        ({"thinkingBudget": 0}, Reasoning("off")),
        ({"thinkingBudget": -1}, Reasoning("auto")),
        ({"thinking_budget": 77}, Reasoning("budget", budget_tokens=77)),
    ],
)
def test_the_wish_for_reasoning(told: Json, expected: Reasoning) -> None:
    assert config(thinkingConfig=told).reasoning == expected
    assert is_reasoning_wanted(config(thinkingConfig=told)) is (told.get("includeThoughts") is True)


def test_parameters() -> None:
    request = config(
        maxOutputTokens=9,
        stopSequences=["a"],
        temperature=1,
        top_p=0.5,
        topK=4,
        seed=5,
        candidateCount=2,
        responseMimeType="application/json",
        responseJsonSchema={"type": "OBJECT"},
    )
    limits, sampling = request.limits, request.sampling
    assert (limits.max_output_tokens, limits.stop, limits.n) == (9, ("a",), 2)
    assert (sampling.temperature, sampling.top_p, sampling.top_k, sampling.seed) == (1, 0.5, 4, 5)
    assert (request.output.kind, request.output.schema) == ("json_schema", b'{"type":"object"}')


@pytest.mark.spec("XLT-86")
@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"mode": "AUTO"}, ToolChoice("auto")),
        ({"mode": "ANY"}, ToolChoice("required")),
        ({"mode": "none"}, ToolChoice("none")),
        ({"mode": "ANY", "allowedFunctionNames": ["f"]}, ToolChoice("named", name="f")),
        (
            {"mode": "ANY", "allowedFunctionNames": ["f", "g"]},
            ToolChoice("allowed", names=("f", "g"), is_call_required=True),
        ),
        ({"mode": "NEW"}, ToolChoice("unrecognised")),
        ({}, ToolChoice()),
    ],
)
def test_the_choice_of_tools(told: Json, expected: ToolChoice) -> None:
    request = read({**HELLO, "toolConfig": {"functionCallingConfig": told}})
    assert request.tool_choice == expected


@pytest.mark.spec("XLT-80", "XLT-85")
def test_tools() -> None:
    schema = {"type": "OBJECT", "properties": {"type": {"type": "STRING"}}}
    request = read(
        {
            **HELLO,
            "tools": [
                {
                    "functionDeclarations": [
                        {"name": "f", "description": "F.", "parameters": schema},
                        {"name": "g", "parametersJsonSchema": {"type": "object"}},
                        {"name": "h"},
                    ]
                },
                {"googleSearch": {}},
            ],
        }
    )
    assert [(tool.kind, tool.name) for tool in request.tools] == [
        ("function", "f"),
        ("function", "g"),
        ("function", "h"),
        ("server", "googleSearch"),
    ]
    assert json.loads(request.tools[0].schema) == {
        "type": "object",
        "properties": {"type": {"type": "string"}},
    }
    assert request.tools[3].raw == b'{"googleSearch":{}}'


@pytest.mark.spec("XLT-25", "XLT-32")
@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "contents"),
        ({"contents": []}, "contents"),
        ({"contents": ["x"]}, r"contents\[0\]"),
        ({"contents": [{"parts": "x"}]}, r"contents\[0\]\.parts"),
        ({"contents": [{"parts": ["x"]}]}, r"contents\[0\]\.parts\[0\]"),
        ({**HELLO, "tools": {}}, "tools"),
        ({**HELLO, "tools": [{"functionDeclarations": [{}]}]}, "name"),
        ({**HELLO, "generationConfig": []}, "generationConfig"),
        ({**HELLO, "generationConfig": {"topK": 1.5}}, "topK"),
        ({**HELLO, "systemInstruction": 1}, "systemInstruction"),
    ],
)
def test_what_cannot_be_read_names_its_path(body: Json, path: str) -> None:
    with pytest.raises(WireError, match=path):
        read(body)


FULL: Json = {
    "contents": [
        {"role": "user", "parts": [{"text": "a"}, {"text": "b"}], "note": 1},
        {
            "role": "model",
            "parts": [
                {
                    "functionCall": {"name": "f", "args": {"n": 2**70, "x": 1.0}},
                    "thoughtSignature": "t",
                }
            ],
        },
        {"role": "function", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
        {"parts": [{"novelty": [None, 1.0]}, {"text": ""}]},
    ],
    "systemInstruction": {"role": "user", "parts": [{"text": "Be kind."}]},
    "tools": [{"functionDeclarations": [{"name": "f"}]}, {"googleSearch": {}}],
    "tool_config": {"functionCallingConfig": {"mode": "AUTO"}},
    "generationConfig": {"maxOutputTokens": 5, "novelty": {}},
    "safetySettings": [{"category": "X"}],
    "cachedContent": "c/1",
}


@pytest.mark.spec("XLT-30", "XLT-225")
def test_a_request_encoded_back_to_its_own_dialect_says_the_same() -> None:
    encoded = CODEC.encode_request(read(FULL), target())
    assert json.loads(encoded.body) == FULL
    assert b'"x": 1.0' in encoded.body
    assert encoded.transforms == ()


def test_a_rewritten_history_is_sent_with_all_else_as_it_was() -> None:
    request = read(FULL)
    turns = (Turn(Role.USER, (Text("short"),)), *request.turns[3:])
    system = (replace(request.system[0], text="New.", raw=b""),)
    limits = replace(request.limits, max_output_tokens=7)
    changed = replace(request, turns=turns, system=system, tools=(), limits=limits)
    body = json.loads(CODEC.encode_request(changed, target()).body)
    assert body["contents"][0] == {"role": "user", "parts": [{"text": "short"}]}
    assert body["contents"][1] == {"parts": [{"novelty": [None, 1.0]}, {"text": ""}]}
    assert body["systemInstruction"] == {"parts": [{"text": "New."}]}
    assert body["generationConfig"] == {"maxOutputTokens": 7, "novelty": {}}
    assert "tools" not in body
    assert "tool_config" not in body


def test_parts_that_the_product_wrote_are_parts_of_the_dialect() -> None:
    request = read(FULL)
    result = request.turns[2].blocks[0]
    assert isinstance(result, ToolResult)
    short = replace(result, blocks=(Text("short"),), raw=b"")
    blocks = (Text("x"), short, Media("image", "image/png", "aGk="), ToolUse("c", "f", b"{}"))
    changed = replace(request, turns=(Turn(Role.USER, blocks),))
    body = json.loads(CODEC.encode_request(changed, target()).body)
    answer = {"id": "call_1_0", "name": "f", "response": {"result": "short"}}
    assert body["contents"][0]["parts"] == [
        {"text": "x"},
        {"functionResponse": answer},
        PICTURE,
        {"functionCall": {"id": "c", "name": "f", "args": {}}},
    ]


def spliced(body: str, to: Target) -> tuple[str, list[str]]:
    raw = body.encode()
    encoded = CODEC.splice_request(raw, CODEC.decode_request(raw), to)
    return encoded.body.decode(), [transform.path for transform in encoded.transforms]


@pytest.mark.spec("XLT-37", "XLT-41")
def test_a_body_that_needs_nothing_keeps_every_byte() -> None:
    body = (
        '{ "contents" : [ {"parts":[{"text":"\\u00fc\\/ \\ud83d"}, {"novelty":1.0E5}]} ],\n'
        '"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT"}}]}],'
        '"generationConfig":{"temperature":1e0},"big":123456789012345678901234567890}\r\n'
    )
    assert spliced(body, target()) == (body, [])


@pytest.mark.spec("XLT-41", "XLT-92")
def test_edits() -> None:
    head = '{"contents":[{"parts":[]}],'
    facts = ModelFacts(refused_parameters=frozenset(["top_k"]))
    body = head + '"generationConfig":{"topK":4, "maxOutputTokens":99,"topP":1}}'
    assert spliced(body, target(facts, max_output_tokens=50)) == (
        head + '"generationConfig":{"maxOutputTokens":50,"topP":1}}',
        ["topK", "generationConfig.maxOutputTokens"],
    )
    body = head + '"model":"models/alias"}'
    assert spliced(body, target())[0] == head + '"model":"models/upstream-model"}'
    tool = '"tools":[{"functionDeclarations":[{"name":"f","parameters":%s}]}]}'
    body = head + tool % '{"type":"OBJECT","$schema":"x"}'
    assert spliced(body, target()) == (
        head + tool % '{"type":"OBJECT"}',
        ["tools[0].functionDeclarations[0].parameters"],
    )


@pytest.mark.spec("XLT-41", "XLT-170")
@pytest.mark.parametrize(
    ("facts", "told", "expected"),
    [
        (ModelFacts(), '{"thinkingLevel":"HIGH"}', None),
        (
            ModelFacts(reasoning="optional", reasoning_budget=True),
            '{"thinkingLevel":"LOW","includeThoughts":true}',
            '{"thinkingBudget":1024,"includeThoughts":true}',
        ),
        (
            ModelFacts(reasoning="always", reasoning_levels=("low", "high")),
            '{"thinkingBudget":20000}',
            '{"thinkingLevel":"high"}',
        ),
        (
            ModelFacts(reasoning="always", reasoning_levels=("low", "high")),
            '{"thinkingLevel":"HIGH"}',
            '{"thinkingLevel":"HIGH"}',
        ),
        (
            ModelFacts(reasoning="optional", reasoning_budget=True),
            '{"thinkingBudget":0}',
            '{"thinkingBudget":0}',
        ),
    ],
)
def test_the_wish_for_reasoning_is_put_as_the_target_takes_it(
    facts: ModelFacts, told: str, expected: str | None
) -> None:
    body = '{"contents":[{"parts":[]}],"generationConfig":{"thinkingConfig":%s}}'
    sent = spliced(body % told, target(facts))[0]
    wanted = body.replace('"thinkingConfig":%s', "") if expected is None else body % expected
    assert sent == wanted


KEYS = ["contents", "parts", "text", "role", "functionCall", "functionResponse", "name", "args"]
KEYS += ["response", "tools", "type", "id", "functionDeclarations", "parameters"]
KEYS += ["generationConfig", "thinkingConfig", "inlineData"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=15,
)


@pytest.mark.spec("XLT-225")
@given(JSON, JSON, JSON)
def test_any_object_is_a_request_or_an_error_that_says_why(a: object, b: object, c: object) -> None:
    body = json.dumps(
        {"contents": [{"parts": [a]}, b], "tools": [c], "systemInstruction": a}
    ).encode()
    try:
        request = CODEC.decode_request(body)
    except WireError:
        return
    CODEC.splice_request(body, request, target())
    CODEC.encode_request(request, target())
