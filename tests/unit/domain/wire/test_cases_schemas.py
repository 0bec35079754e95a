"""Small tool schemas on which gateways were seen to fail."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping

import pytest

from services.domain.vocab import WireFamily
from tests.unit.domain.wire.flows import A, G, Json, O, R, at, sent

STRICT: Json = {"type": "object", "additionalProperties": False}


def schema_sent(
    client: WireFamily, schema: Json, upstream: WireFamily, **extra: object
) -> dict[str, object]:
    """Return the declaration that an upstream gets for a tool of this schema."""
    ask = {"role": "user", "content": "go"}
    if client is A:
        tools: list[Json] = [{"name": "f", "input_schema": schema, **extra}]
        body = {"max_tokens": 9, "messages": [ask], "tools": tools}
    else:
        function = {"name": "f", "parameters": schema, **extra}
        body = {"messages": [ask], "tools": [{"type": "function", "function": function}]}
    tool = at(sent(client, body, upstream), "tools", 0)
    if upstream is G:
        tool = at(tool, "functionDeclarations", 0)
    elif upstream is O:
        tool = at(tool, "function")
    assert isinstance(tool, dict)
    return tool


def keys_of(value: object) -> set[str]:
    """Return every key at every depth."""
    if isinstance(value, Mapping):
        return set(value) | {key for inner in value.values() for key in keys_of(inner)}
    if isinstance(value, list):
        return {key for inner in value for key in keys_of(inner)}
    return set()


@pytest.mark.spec("XLT-153")
@pytest.mark.parametrize("client", [A, O])
def test_a_schema_may_say_which_draft_it_is_of(client: WireFamily) -> None:
    """B-062."""
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "x",
        "type": "object",
        "properties": {"a": {"type": "string", "$schema": "x"}},
    }
    told = schema_sent(client, schema, G)
    assert at(told, "parameters", "properties", "a", "type") == "string"
    assert not keys_of(told) & {"$schema", "$id"}


@pytest.mark.spec("XLT-149", "XLT-153")
def test_a_keyword_is_removed_at_every_depth_and_a_property_of_its_name_is_not() -> None:
    """B-064."""
    named = {"type": "object", "propertyNames": {"pattern": "^a"}}
    schema = {
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": named},
            "properties": {**named, "properties": {"properties": {"type": "string"}}},
            "propertyNames": {"type": "string"},
        },
    }
    told = at(schema_sent(A, schema, G), "parameters", "properties")
    assert at(told, "list", "items") == {"type": "object"}
    assert at(told, "properties", "properties", "properties") == {"type": "string"}
    assert at(told, "propertyNames") == {"type": "string"}
    assert json.dumps(told).count("propertyNames") == 1


@pytest.mark.spec("XLT-149")
@pytest.mark.parametrize("upstream", [A, O])
@pytest.mark.parametrize(
    "place",
    [
        lambda inner: {"properties": {"pattern": inner}},
        lambda inner: {"patternProperties": {"^a": inner}},
        lambda inner: {"$defs": {"a": inner}},
        lambda inner: {"items": inner},
        lambda inner: {"items": [True, inner]},
        lambda inner: {"prefixItems": [inner]},
        lambda inner: {"unevaluatedProperties": inner},
        lambda inner: {"then": {"not": inner}},
    ],
)
def test_a_pattern_is_removed_wherever_a_schema_stands(
    place: Callable[[Json], Json], upstream: WireFamily
) -> None:
    inner = {"type": "string", "pattern": "^x", "maxLength": 2}
    member = "input_schema" if upstream is A else "parameters"
    schema = {"type": "object", "properties": {"here": place(inner)}}
    told = at(schema_sent(O if upstream is A else A, schema, upstream), member)
    bare = {"type": "string", "maxLength": 2}
    if upstream is O:
        bare["description"] = f"[pattern {hashlib.sha256(b'^x').hexdigest()[:8]}]"
    assert at(told, "properties", "here") == place(bare)


@pytest.mark.spec("XLT-154")
@pytest.mark.parametrize("client", [A, O])
def test_a_list_of_types_with_null_is_one_type_that_may_be_null(client: WireFamily) -> None:
    """B-065."""
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"]},
            "b": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        },
    }
    told = at(schema_sent(client, schema, G), "parameters", "properties")
    assert at(told, "a") == {"type": "string", "nullable": True}
    assert at(told, "b") == {"type": "array", "items": {"type": "string"}}


@pytest.mark.spec("XLT-153")
def test_strictness_is_not_told_to_those_who_do_not_know_it() -> None:
    """B-067."""
    told = schema_sent(O, {"type": "object", "properties": {}}, G, strict=True)
    assert told["name"] == "f"
    assert "strict" not in keys_of(told)


@pytest.mark.spec("XLT-152")
@pytest.mark.parametrize(
    "schema",
    [
        {
            **STRICT,
            "properties": {
                "items": {**STRICT, "properties": {"a": {}, "b": {}}, "required": ["a"]},
            },
            "required": ["items"],
        },
        {**STRICT, "properties": {"a": {"type": "string"}}, "required": []},
        {**STRICT, "$schema": "x", "properties": {}, "required": []},
        {**STRICT, "properties": {"a": {"ref": "Thing"}}, "required": ["a"]},
        {**STRICT, "properties": {"value": {"description": "Any."}}, "required": ["value"]},
        {
            **STRICT,
            "properties": {
                "a": {"type": "object", "properties": {"value": {"description": "Any."}}},
            },
            "required": ["a"],
        },
    ],
    ids=["one_not_required", "none_required", "meta", "ref", "typeless", "nested_typeless"],
)
def test_a_schema_without_the_strict_form_is_not_called_strict(schema: Json) -> None:
    """B-068, B-070: an upstream that is told so refuses the request."""
    told = schema_sent(O, schema, R, strict=True)
    assert told["strict"] is False
    assert at(told, "parameters", "properties") == schema["properties"]


@pytest.mark.spec("XLT-152")
def test_a_schema_in_the_strict_form_is_called_strict_where_its_client_asked() -> None:
    """B-068."""
    schema = {**STRICT, "properties": {"a": {"type": "string"}}, "required": ["a"]}
    assert schema_sent(O, schema, R, strict=True)["strict"] is True
    assert schema_sent(O, schema, R)["strict"] is False


@pytest.mark.spec("XLT-101")
@pytest.mark.parametrize("upstream", [A, O, R], ids=lambda family: family.value)
@pytest.mark.parametrize("key", ["responseJsonSchema", "responseSchema"])
def test_the_schema_of_an_answer_has_types_that_other_vendors_know(
    upstream: WireFamily, key: str
) -> None:
    """Gemini CLI asks its classifier so; names of members that look like types stay."""
    schema = {
        "type": "OBJECT",
        "properties": {"type": {"type": "STRING"}, "n": {"type": "ARRAY", "items": {"type": "X"}}},
        "required": ["type"],
    }
    body = {
        "contents": [{"role": "user", "parts": [{"text": "go"}]}],
        "generationConfig": {"responseMimeType": "application/json", key: schema},
    }
    told = json.dumps(sent(G, body, upstream))
    assert '"type": {"type": "string"}' in told
    assert '{"type": "array", "items": {"type": "X"}}' in told
    assert "OBJECT" not in told
