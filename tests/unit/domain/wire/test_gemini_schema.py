"""Tool schemas reduced to what the Gemini dialect knows."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.wire.gemini.schema import gemini_schema, plain_types


def reduced(schema: object) -> object:
    found = gemini_schema(json.dumps(schema).encode())
    return None if found is None else json.loads(found)


@pytest.mark.spec("XLT-153")
def test_a_known_schema_keeps_its_bytes() -> None:
    source = (
        b'{ "type":"object", "properties":{"n":{"type":"INTEGER","minimum":1.0,'
        b'"maximum":123456789012345678901234567890}},"required":["n"]}'
    )
    assert gemini_schema(source) == source


@pytest.mark.spec("XLT-149", "XLT-153")
@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"$schema": "x", "$id": "y", "type": "object", "strict": True}, {"type": "object"}),
        (
            {
                "type": "array",
                "uniqueItems": True,
                "items": {"type": "object", "propertyNames": {}, "additionalProperties": False},
            },
            {"type": "array", "items": {"type": "object"}},
        ),
        (
            {
                "type": "object",
                "properties": {
                    "properties": {"type": "object", "propertyNames": {}},
                    "pattern": {"type": "string", "pattern": "^a"},
                    "uniqueItems": {"type": "boolean"},
                },
            },
            {
                "type": "object",
                "properties": {
                    "properties": {"type": "object"},
                    "pattern": {"type": "string", "pattern": "^a"},
                    "uniqueItems": {"type": "boolean"},
                },
            },
        ),
    ],
)
def test_unknown_keywords_go_at_every_depth(schema: object, expected: object) -> None:
    """B-062, B-064, B-067: told by their place, so properties keep their names."""
    assert reduced(schema) == expected


@pytest.mark.spec("XLT-154")
@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": ["string", "null"]}, {"nullable": True, "type": "string"}),
        (
            {"type": ["string", "number"]},
            {"anyOf": [{"type": "string"}, {"type": "number"}]},
        ),
        ({"const": "a"}, {"enum": ["a"]}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "integer"}),
        ({"type": "string", "enum": ["a", 1]}, {"type": "string"}),
        (
            {"type": "string", "enum": ["a", None]},
            {"type": "string", "enum": ["a"], "nullable": True},
        ),
        ({"type": "number", "exclusiveMinimum": 1}, {"type": "number", "minimum": 1}),
        (
            {
                "type": "number",
                "exclusiveMinimum": 1,
                "minimum": 5,
                "exclusiveMaximum": 8,
                "maximum": 9,
            },
            {"type": "number", "minimum": 5, "maximum": 8},
        ),
        ({"type": "string", "format": "uri"}, {"type": "string"}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        (
            {"type": "object", "properties": {"a": True}, "required": ["a", "b"]},
            {"type": "object", "properties": {"a": {}}, "required": ["a"]},
        ),
        (
            {"oneOf": [{"type": "string"}, {"type": "null"}, {"type": "number"}]},
            {"nullable": True, "anyOf": [{"type": "string"}, {"type": "number"}]},
        ),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"nullable": True, "type": "string"}),
        (
            {
                "type": "object",
                "allOf": [
                    {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                    {"properties": {"b": {"type": "number"}}, "not": {}},
                ],
            },
            {
                "type": "object",
                "properties": {"b": {"type": "number"}, "a": {"type": "string"}},
                "required": ["a"],
            },
        ),
        ({"type": "array"}, {"type": "array", "items": {}}),
    ],
)
def test_what_can_be_said_otherwise_is(schema: object, expected: object) -> None:
    """B-065."""
    assert reduced(schema) == expected


@pytest.mark.spec("XLT-149")
def test_local_references_are_written_out() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/p", "description": "first"},
            "tree": {"$ref": "#/$defs/tree"},
            "far": {"$ref": "https://example.com/x"},
        },
        "$defs": {
            "p": {"type": "string"},
            "tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}}},
        },
    }
    assert reduced(schema) == {
        "type": "object",
        "properties": {
            "a": {"type": "string", "description": "first"},
            "tree": {"type": "object", "properties": {"next": {}}},
            "far": {},
        },
    }


def test_references_that_multiply_are_bounded() -> None:
    names = [f"d{at}" for at in range(30)]
    definitions: dict[str, object] = {
        name: {"properties": {key: {"$ref": f"#/$defs/{after}"} for key in "ab"}}
        for name, after in itertools.pairwise(names)
    }
    found = gemini_schema(json.dumps({"$ref": "#/$defs/d0", "$defs": definitions}).encode())
    assert found is not None
    assert len(found) < 3_000_000


@pytest.mark.spec("XLT-155")
@pytest.mark.parametrize(
    "source", [b"true", b"[]", b"{nope", b'{"$schema":"x"}', b"{}", b'{"a":NaN}']
)
def test_what_cannot_be_said_is_no_schema(source: bytes) -> None:
    found = gemini_schema(source)
    assert found is None or found == source == b"{}"


def test_type_names_are_put_in_lower_case_where_they_are_types() -> None:
    source = b'{"type":"OBJECT","properties":{"type":{"type":"STRING","enum":["STRING"]}}}'
    assert json.loads(plain_types(source)) == {
        "type": "object",
        "properties": {"type": {"type": "string", "enum": ["STRING"]}},
    }
    assert plain_types(b'{ "type":"object" }') == b'{ "type":"object" }'


@pytest.mark.parametrize(
    ("told", "plain"),
    [
        ({"type": "STRING", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "STRING", "nullable": False}, {"type": "string"}),
        (
            {"type": "STRING", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"anyOf": [{"type": "INTEGER"}], "nullable": True},
            {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        ),
        ({"type": "ARRAY", "items": {"nullable": True}}, {"type": "array", "items": {}}),
        (
            {"type": "OBJECT", "properties": {"nullable": {"type": "STRING", "nullable": True}}},
            {"type": "object", "properties": {"nullable": {"type": ["string", "null"]}}},
        ),
    ],
)
def test_what_may_be_null_is_said_in_the_words_of_other_vendors(
    told: dict[str, object], plain: dict[str, object]
) -> None:
    source = plain_types(json.dumps(told).encode())
    assert json.loads(source) == plain
    assert plain_types(source) == source


KEYS = [
    "type",
    "properties",
    "items",
    "anyOf",
    "oneOf",
    "allOf",
    "enum",
    "const",
    "required",
    "$ref",
    "$defs",
    "format",
    "pattern",
    "minimum",
    "exclusiveMinimum",
    "description",
    "nullable",
    "string",
    "object",
    "#/$defs/type",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(KEYS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=15,
)


@pytest.mark.spec("XLT-155", "XLT-225")
@given(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=5))
def test_any_schema_reduces_and_once_is_enough(schema: object) -> None:
    once = gemini_schema(json.dumps(schema).encode())
    if once is not None and once != b"{}":
        assert gemini_schema(once) == once
