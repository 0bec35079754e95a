from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.wire.checking import (
    MAX_ARGUMENT_BYTES,
    MAX_SCHEMA_BYTES,
    ArgumentChecker,
    ArgumentIssue,
)
from services.domain.wire.model import Tool
from services.domain.wire.patterns import MAX_CHARACTERS, is_match

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "name": {"type": "string"},
        "flag": {"type": "boolean"},
        "list": {"type": "array", "items": {"type": "string"}},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "inner": {
            "type": "object",
            "properties": {"n": {"type": "integer"}},
            "additionalProperties": False,
        },
    },
    "required": ["count"],
    "additionalProperties": False,
}


def checker(schema: object, name: str = "f") -> ArgumentChecker:
    return ArgumentChecker([Tool("function", name, schema=json.dumps(schema).encode())])


@pytest.mark.spec("XLT-159")
@pytest.mark.parametrize(
    ("arguments", "mended"),
    [
        ('{"count":"12"}', '{"count":12}'),
        ('{"count":1,"ratio":"-3.50e2"}', '{"count":1,"ratio":-3.50e2}'),
        ('{"count":1,"flag":"true"}', '{"count":1,"flag":true}'),
        (
            '{"count":1,"name":12345678901234567890.10}',
            '{"count":1,"name":"12345678901234567890.10"}',
        ),
        ('{"count":1,"name":false}', '{"count":1,"name":"false"}'),
        ('{"count":1,"list":"a"}', '{"count":1,"list":["a"]}'),
        ('{"count":1,"list":7}', '{"count":1,"list":["7"]}'),
        ('{"count":1,"maybe":"5"}', '{"count":1,"maybe":5}'),
        ('{"count":1, "extra":{"a":1}}', '{"count":1}'),
        ('{"count":1,"inner":{"n":"2","z":[]}}', '{"count":1,"inner":{"n":2}}'),
    ],
)
def test_faults_are_mended_where_nothing_is_lost(arguments: str, mended: str) -> None:
    checked = checker(SCHEMA).check("f", arguments.encode())
    assert checked.arguments.decode() == mended
    assert checked.issues == (ArgumentIssue.MENDED,)


@pytest.mark.spec("XLT-159")
@pytest.mark.parametrize(
    "arguments",
    [
        '{"count":"twelve"}',
        '{"count":"1.5"}',
        '{"count":" 1"}',
        '{"count":1,"list":"[\\"a\\"]"}',
        '{"count":1.5,"extra":1}',
        '{"name":"no count"}',
        '{"count":{"deep":1}}',
    ],
)
def test_what_cannot_be_mended_goes_on_as_the_model_wrote_it(arguments: str) -> None:
    checked = checker(SCHEMA).check("f", arguments.encode())
    assert checked.arguments.decode() == arguments
    assert checked.issues == (ArgumentIssue.INVALID,)


@pytest.mark.spec("XLT-158")
def test_optional_members_that_say_nothing_are_left_out() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": {}},
        "required": ["a"],
    }
    told = b'{"a":"", "b": null, "c":"","other":null}'
    assert checker(schema).check("f", told).arguments == b'{"a":"", "other":null}'
    inner = {"type": "object", "properties": {"o": {"type": "object"}}}
    assert checker(inner).check("f", b'{"o":{"x":null}}').arguments == b'{"o":{"x":null}}'


@pytest.mark.spec("XLT-158", "XLT-159")
def test_the_normalised_arguments_go_on_where_they_stay_invalid() -> None:
    checked = checker(SCHEMA).check("f", b'{"count":"x","name":null}')
    assert checked.arguments == b'{"count":"x"}'


@pytest.mark.spec("XLT-157")
@pytest.mark.parametrize(
    ("arguments", "read", "issue"),
    [
        (b'{"count":1,', b'{"count":1}', ArgumentIssue.MENDED_JSON),
        (b"not json", b"{}", ArgumentIssue.INVALID_JSON),
    ],
)
def test_unreadable_arguments_are_counted(
    arguments: bytes, read: bytes, issue: ArgumentIssue
) -> None:
    checked = checker({"type": "object"}).check("f", arguments)
    assert checked.arguments == read
    assert checked.issues == (issue,)


@pytest.mark.spec("XLT-160")
@pytest.mark.parametrize(
    ("schema", "issue"),
    [
        ({"type": "strin"}, ArgumentIssue.SCHEMA_UNUSABLE),
        ({"$ref": "https://example.com/schema.json"}, ArgumentIssue.SCHEMA_UNUSABLE),
        ({"$ref": "#/definitions/gone"}, ArgumentIssue.SCHEMA_UNUSABLE),
        ({"$ref": "#"}, ArgumentIssue.SCHEMA_UNUSABLE),
        ([], ArgumentIssue.SCHEMA_UNUSABLE),
        ({"description": "x" * MAX_SCHEMA_BYTES}, ArgumentIssue.SCHEMA_TOO_LARGE),
    ],
)
def test_schemas_that_cannot_be_used_let_everything_through(
    schema: object, issue: ArgumentIssue
) -> None:
    checked = checker(schema).check("f", b'{"a": null}')
    assert checked.arguments == b'{"a": null}'
    assert checked.issues == (issue,)


@pytest.mark.spec("XLT-160")
def test_tools_that_nobody_declared_and_huge_arguments_go_through() -> None:
    checked = checker(SCHEMA).check("g", b'{"a": null}')
    assert (checked.arguments, checked.issues) == (b'{"a": null}', (ArgumentIssue.UNKNOWN_TOOL,))
    huge = b'{"extra":"' + b"x" * MAX_ARGUMENT_BYTES + b'"}'
    checked = checker(SCHEMA).check("f", huge)
    assert checked.arguments is huge
    assert checked.issues == (ArgumentIssue.ARGUMENTS_TOO_LARGE,)


@pytest.mark.spec("XLT-160")
@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "(a?){40}a{40}", ".*.*.*.*=", r"(\w+)\1"]
)
def test_a_pattern_that_could_run_long_refuses_nothing(pattern: str) -> None:
    started = time.perf_counter()
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}
    assert checker(schema).check("f", json.dumps({"a": "a" * 5000 + "!"}).encode()).issues == ()
    assert time.perf_counter() - started < 1.0


@pytest.mark.spec("XLT-159")
def test_plain_patterns_are_matched() -> None:
    assert is_match(r"^[a-z]+-\d{4}$", "abc-2024") is True
    assert is_match(r"^[a-z]+-\d{4}$", "abc-24") is False
    assert is_match(r"^(red|green|blue)$", "mauve") is False
    assert is_match("a" * MAX_CHARACTERS, "x") is False
    assert is_match("a" * (MAX_CHARACTERS + 1), "x") is None
    assert is_match("(", "x") is None
    assert is_match(")", "x") is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*"ab", "count", "name", "list", "inner", "n"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["count", "name", "list", "inner", "maybe", "x"]), VALUES))
@pytest.mark.spec("XLT-159", "XLT-225")
def test_checking_gives_an_object_and_never_changes_it_twice(value: dict[str, object]) -> None:
    subject = checker(SCHEMA)
    once = subject.check("f", json.dumps(value).encode())
    assert isinstance(json.loads(once.arguments), dict)
    twice = subject.check("f", once.arguments)
    assert twice.arguments == once.arguments
    assert ArgumentIssue.MENDED not in twice.issues


@given(st.binary(max_size=60))
@pytest.mark.spec("XLT-160")
def test_no_bytes_are_too_odd(arguments: bytes) -> None:
    assert isinstance(json.loads(checker(SCHEMA).check("f", arguments).arguments), dict)


@pytest.mark.spec("XLT-159")
def test_members_named_by_pattern_are_checked_like_others() -> None:
    schema = {
        "type": "object",
        "patternProperties": {"^n_": {"type": "integer"}},
        "additionalProperties": {"type": "string"},
    }
    checked = checker(schema).check("f", b'{"n_a":"1","other":2}')
    assert checked.arguments == b'{"n_a":1,"other":"2"}'
    unsure = {
        "type": "object",
        "patternProperties": {"(a+)+$": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert checker(unsure).check("f", b'{"aab":"1"}').arguments == b'{"aab":"1"}'


@pytest.mark.spec("XLT-159")
def test_equal_items_are_told_from_alike_ones() -> None:
    schema = {"type": "object", "properties": {"a": {"uniqueItems": True}}}
    assert checker(schema).check("f", b'{"a":[1,true,"1",{"b":1}]}').issues == ()
    assert checker(schema).check("f", b'{"a":[{"b":1},{"b":1}]}').issues == (ArgumentIssue.INVALID,)
