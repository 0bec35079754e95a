"""What fuzzing found, each as the smallest input of its kind."""

from __future__ import annotations

import json
import time

import pytest

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.anthropic.response import CallIds
from services.domain.wire.arguments import as_object
from services.domain.wire.assemble import Assembler, events_of
from services.domain.wire.codecs import codec_for
from services.domain.wire.features import features_of
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    ProviderState,
    Request,
    Response,
    Role,
    Stop,
    StopReason,
    Target,
    Text,
    Thinking,
    ToolUse,
    Turn,
    WireError,
)
from services.domain.wire.reading import MAX_COUNT, MAX_DEPTH, count, dump, load
from services.domain.wire.scanner import scan
from services.domain.wire.state.kept import Kept, Place, call_digest, lost_state
from tests.unit.domain.wire import openai_responses_cases as responses
from tests.unit.domain.wire.contexts import context

A, O = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT  # noqa: E741 - the names of the matrix
R, G = WireFamily.OPENAI_RESPONSES, WireFamily.GEMINI
ASK = {"role": "user", "content": "hi"}


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.spec("XLT-32")
def test_nesting_has_a_limit_that_does_not_hang_on_the_machine() -> None:
    assert load(nested(MAX_DEPTH)) is not None
    assert scan(b'{"a":' + nested(MAX_DEPTH).encode() + b"}", {}).member("a") is not None
    for depth in (MAX_DEPTH + 2, 900, 100_000):
        with pytest.raises(ValueError, match="nested too deeply"):
            load(nested(depth))
        with pytest.raises(WireError, match="body is nested too deeply"):
            scan(b'{"a":' + nested(depth).encode() + b"}", {})
        with pytest.raises(WireError, match="body is nested too deeply"):
            scan(b'{"a":[' + nested(depth).encode() + b"]}", {"a": {}})


@pytest.mark.spec("XLT-32")
def test_many_brackets_are_not_deep() -> None:
    assert load("[" + "[],{}," * 500 + "0]") is not None
    assert load('"' + "[" * 5000 + '"') == "[" * 5000


@pytest.mark.spec("XLT-33")
def test_written_integers_keep_all_their_digits() -> None:
    value = {"a": [2**70, -(2**64), True], "b": "\ud800"}
    written = f'{{"a":[{2**70},{-(2**64)},true],"b":"\ufffd"}}'
    assert dump(value) == written.encode()


@pytest.mark.spec("XLT-33", "XLT-68")
@pytest.mark.parametrize("family", [O, R])
def test_arguments_that_came_as_an_object_keep_their_numbers(family: WireFamily) -> None:
    function = {"name": "f", "arguments": {"n": 2**70}}
    call = {"type": "function_call", "call_id": "c", **function}
    told = {
        O: {"messages": [ASK, {"role": "assistant", "tool_calls": [{"function": function}]}]},
        R: {"input": [ASK, call]},
    }
    body = json.dumps({"model": "m", **told[family]}).encode()
    request = codec_for(family).decode_request(body)
    target = Target(A, "acme", "m", "up", ModelFacts())
    assert str(2**70).encode() in codec_for(A).encode_request(request, target).body


@pytest.mark.spec("XLT-187")
@pytest.mark.parametrize("told", [2**53, 1e300, 10**400, -1, 1.5, True, "7", None])
def test_a_count_that_none_can_mean_says_nothing(told: object) -> None:
    assert count(told) is None
    assert count(MAX_COUNT) == MAX_COUNT


@pytest.mark.spec("XLT-115")
def test_text_in_another_encoding_is_no_json() -> None:
    body = '{"error":"x"}'.encode("utf-16")
    with pytest.raises(ValueError, match=r"decode|JSON|character"):
        load(body)


@pytest.mark.spec("XLT-25")
def test_many_keys_that_come_twice_are_found_at_once() -> None:
    body = "{" + ",".join(f'"k{at % 30_000}":0' for at in range(60_000)) + "}"
    started = time.process_time()
    assert len(scan(body.encode(), {}).duplicates) == 30_000
    assert time.process_time() - started < 5


@pytest.mark.spec("XLT-124")
def test_words_that_come_late_for_a_part_are_a_block_of_their_own() -> None:
    place = {"output_index": 0, "item_id": "msg_1"}
    message = {"type": "message", "id": "msg_1", "role": "assistant"}
    whole = {
        **message,
        "content": [
            {"type": "output_text", "text": "One two"},
            {"type": "refusal", "refusal": "no"},
        ],
    }
    events = responses.decoded(
        responses.CREATED,
        responses.event("output_item.added", output_index=0, item={**message, "content": []}),
        responses.event("output_text.delta", **place, content_index=0, delta="One "),
        responses.event("refusal.delta", **place, content_index=1, delta="no"),
        responses.event("output_item.done", output_index=0, item=whole),
        responses.terminal(whole),
    )
    blocks = [e for e in events if isinstance(e, BlockOpen | BlockDelta | BlockClose)]
    assert blocks == [
        BlockOpen(0, "text"),
        BlockDelta(0, "One "),
        BlockClose(0),
        BlockOpen(1, "refusal"),
        BlockDelta(1, "no"),
        BlockClose(1),
        BlockOpen(2, "text"),
        BlockDelta(2, "two"),
        BlockClose(2),
    ]


def text_request(family: WireFamily, told: str) -> bytes:
    """Return a request whose one user text is the JSON string ``told``."""
    contents = {
        A: f'"max_tokens":9,"messages":[{{"role":"user","content":{told}}}]',
        O: f'"messages":[{{"role":"user","content":{told}}}]',
        R: f'"input":{told}',
        G: f'"contents":[{{"role":"user","parts":[{{"text":{told}}}]}}]',
    }
    return f'{{"model":"m",{contents[family]}}}'.encode()


@pytest.mark.spec("XLT-33")
@pytest.mark.parametrize("target_family", WireFamily)
@pytest.mark.parametrize("family", WireFamily)
def test_half_a_surrogate_pair_is_carried_and_written_as_a_replacement(
    family: WireFamily, target_family: WireFamily
) -> None:
    body = text_request(family, r'"a\ud83d b"')
    request = codec_for(family).decode_request(body)
    assert [b.text for b in request.turns[0].blocks if isinstance(b, Text)] == ["a\ud83d b"]
    target = Target(target_family, "acme", "m", "m", ModelFacts())
    codec = codec_for(target_family)
    if family is target_family:
        assert r"\ud83d" in codec.splice_request(body, request, target).body.decode()
    else:
        assert "a\ufffd b" in codec.encode_request(request, target).body.decode()


@pytest.mark.spec("XLT-25")
@pytest.mark.parametrize(
    ("family", "key"), [(A, "messages"), (O, "messages"), (R, "input"), (G, "contents")]
)
def test_a_conversation_that_comes_twice_is_refused(family: WireFamily, key: str) -> None:
    body = text_request(family, '"x"')[:-1] + f',"{key}":[]}}'.encode()
    with pytest.raises(WireError) as caught:
        codec_for(family).decode_request(body)
    assert caught.value.path == key


def call_request(family: WireFamily, arguments: str) -> bytes:
    """Return a request whose history holds one call with ``arguments``, in JSON."""
    quoted = json.dumps(arguments)
    calls = {
        A: '"max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant",'
        f'"content":[{{"type":"tool_use","id":"c","name":"f","input":{arguments}}}]}}]',
        O: '"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":'
        f'[{{"id":"c","function":{{"name":"f","arguments":{quoted}}}}}]}}]',
        R: '"input":[{"role":"user","content":"x"},{"type":"function_call","call_id":"c",'
        f'"name":"f","arguments":{quoted}}}]',
        G: '"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":'
        f'[{{"functionCall":{{"name":"f","args":{arguments}}}}}]}}]',
    }
    return f'{{"model":"m",{calls[family]}}}'.encode()


@pytest.mark.spec("XLT-33", "XLT-68")
@pytest.mark.parametrize("target_family", WireFamily)
@pytest.mark.parametrize("family", WireFamily)
def test_arguments_cross_every_dialect_with_digits_and_repeated_keys(
    family: WireFamily, target_family: WireFamily
) -> None:
    """A fast reader makes floats of such integers and drops a key that comes twice."""
    arguments = '{"n":1180591620717411303424,"k":1.0,"k":2e400}'
    request = codec_for(family).decode_request(call_request(family, arguments))
    target = Target(target_family, "acme", "m", "m", ModelFacts())
    sent = codec_for(target_family).encode_request(request, target).body.decode()
    assert arguments in sent.replace('\\"', '"')


@pytest.mark.spec("XLT-91", "XLT-92")
@pytest.mark.parametrize("limit", ["1e300", "1" * 400, "-5", '"9"', "1.5", "null"])
def test_an_output_limit_that_none_can_mean_is_none(limit: str) -> None:
    body = f'{{"model":"m","max_tokens":{limit},"messages":[{json.dumps(ASK)}]}}'.encode()
    request = codec_for(A).decode_request(body)
    assert request.limits.max_output_tokens is None
    target = Target(O, "acme", "m", "m", ModelFacts())
    assert b"max_tokens" not in codec_for(O).encode_request(request, target).body


@pytest.mark.spec("XLT-33", "XLT-155")
@pytest.mark.parametrize("target_family", WireFamily)
@pytest.mark.parametrize(
    "member",
    [
        r'"description":"\ud83d","pattern":"a"',
        r'"enum":["\udc00"],"pattern":"a"',
        '"format":[],"type":{}',
        '"default":1180591620717411303424,"pattern":"a"',
        '"maximum":1e400,"exclusiveMinimum":-1e400,"pattern":"a"',
    ],
)
def test_an_odd_schema_is_cleaned_all_the_same(target_family: WireFamily, member: str) -> None:
    schema = f'{{"type":"object","properties":{{"a":{{{member}}}}},"anyOf":[]}}'
    tool = f'{{"name":"f","input_schema":{schema}}}'
    body = text_request(A, '"x"')[:-1] + f',"tools":[{tool}]}}'.encode()
    request = codec_for(A).decode_request(body)
    target = Target(target_family, "acme", "m", "m", ModelFacts())
    sent = codec_for(target_family).encode_request(request, target).body.decode()
    assert '"properties":{"a":' in sent
    for digits in ("1180591620717411303424", "1e400"):
        assert (digits in sent) is (digits in member)


def within(seconds: float, body: bytes, family: WireFamily, target_family: WireFamily) -> None:
    """Read a body and write it for a target, in bounded time."""
    started = time.process_time()
    request = codec_for(family).decode_request(body)
    target = Target(target_family, "acme", "m", "m", ModelFacts())
    codec_for(target_family).encode_request(request, target)
    assert time.process_time() - started < seconds


@pytest.mark.spec("XLT-72", "XLT-225")
def test_many_results_find_their_calls_in_bounded_time() -> None:
    called = [{"functionCall": {"name": f"f{at}", "args": {}}} for at in range(8_000)]
    answers = [
        {"functionResponse": {"name": f"f{at}", "response": {}}} for at in reversed(range(8_000))
    ]
    turns = [
        {"parts": [{"text": "x"}]},
        {"role": "model", "parts": called},
        {"role": "user", "parts": answers},
    ]
    within(3, json.dumps({"contents": turns}).encode(), G, A)


NAMES = [f"n{at}" for at in range(20_000)]


@pytest.mark.spec("XLT-225")
@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"required": NAMES}, {"required": NAMES[::-1]}]},
        {"allOf": [{"enum": NAMES}, {"enum": NAMES[::-1]}]},
        {"anyOf": [{"title": name} for name in NAMES]},
    ],
    ids=["required", "enum", "any_of"],
)
def test_a_wide_schema_is_cleaned_in_bounded_time(schema: dict[str, object]) -> None:
    told = {"type": "object", "properties": {"a": schema}}
    tool = json.dumps({"name": "f", "input_schema": told})
    within(5, text_request(A, '"x"')[:-1] + f',"tools":[{tool}]}}'.encode(), A, G)


@pytest.mark.spec("XLT-157", "XLT-225")
@pytest.mark.parametrize(
    "text",
    [
        "```json\n" + "\n " * 100_000 + "x",
        "```" + "\n" * 200_000,
        '{"a":"' + '\\"' * 100_000,
        '"' * 100_000 + "\\",
        "{" * 200_000,
        '{"a":' * 50_000,
        '{"k":' + "[1," * 60_000,
        '{"a":' + '{"b":1,"c":' * 20_000,
        "{" + " " * 200_000 + "x",
        "{" + ",]" * 100_000,
        "{" + ", " * 100_000 + "}",
    ],
    ids=range(11),
)
def test_arguments_that_cannot_be_read_are_given_up_in_bounded_time(text: str) -> None:
    """One answer must not hold up all others."""
    started = time.process_time()
    as_object(text.encode())
    assert time.process_time() - started < 5


@pytest.mark.spec("XLT-157")
@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"a":1}\n```',
        '```\r\n{"a":1}```',
        '```JSON \n\n {"a":1,}\n\n```',
    ],
)
def test_a_fence_around_arguments_is_taken_away(text: str) -> None:
    assert as_object(text.encode()) == (b'{"a":1}', True)


@pytest.mark.spec("XLT-225")
def test_many_parts_of_one_thought_are_told_in_bounded_time() -> None:
    stream = responses.CREATED + b"".join(
        responses.event("reasoning_summary_text.delta", output_index=0, summary_index=at, delta="x")
        for at in range(8_000)
    )
    started = time.process_time()
    events = responses.decoded(stream, responses.terminal())
    assert sum(isinstance(event, BlockDelta) for event in events) == 8_000
    assert time.process_time() - started < 2


@pytest.mark.spec("XLT-179")
def test_many_calls_of_one_id_are_told_apart_in_bounded_time() -> None:
    ids = CallIds("nonce")
    started = time.process_time()
    assert len({ids.show("call") for _ in range(20_000)}) == 20_000
    assert time.process_time() - started < 2


@pytest.mark.spec("XLT-225")
def test_many_instructions_among_turns_are_written_again_in_bounded_time() -> None:
    messages = [ASK, {"role": "system", "content": "x"}] * 8_000
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": messages}).encode()
    within(4, body, A, A)
    items = json.dumps(
        {"model": "m", "input": [ASK, {"role": "developer", "content": "x"}] * 8_000}
    )
    within(4, items.encode(), R, R)


@pytest.mark.spec("XLT-33")
@pytest.mark.parametrize(
    ("family", "said"),
    [
        (A, {"output_config": {"effort": "\ud800"}, "max_tokens": 9}),
        (O, {"reasoning_effort": "\ud800"}),
        (R, {"reasoning": {"effort": "\ud800"}, "input": "hi"}),
    ],
)
def test_an_effort_that_is_half_a_pair_is_told_as_text(
    family: WireFamily, said: dict[str, object]
) -> None:
    asked = {"model": "m", **({} if family is R else {"messages": [ASK]}), **said}
    body = json.dumps(asked).encode()
    features = features_of(codec_for(family).decode_request(body), len(body))
    assert features.effort == "\ufffd"


@pytest.mark.spec("XLT-181")
def test_a_call_whose_id_is_half_a_pair_gets_no_state_that_could_not_name_it() -> None:
    state = ProviderState(G, "signature", "signed")
    kept = [Kept(Place.CALL, "c", call_digest("f", b"{}"), state)]
    found = {}
    for call_id in ("other", "other\ud800"):
        call = Turn(Role.ASSISTANT, (ToolUse(call_id, "f", b"{}"),))
        found[call_id] = len(lost_state(Request(O, "m", is_stream=False, turns=(call,)), kept))
    assert found == {"other": 1, "other\ud800": 0}


@pytest.mark.spec("XLT-33")
@pytest.mark.parametrize("family", [A, O, R, G])
def test_an_error_of_an_upstream_holds_no_half_pair(family: WireFamily) -> None:
    names = ("type", "code", "status", "message", "param", "reason")
    half: dict[str, object] = dict.fromkeys(names, "\ud800")
    half["details"] = [{**half, "fieldViolations": [{"field": "\ud800"}]}]
    for told in ({"error": half}, {"error": "\ud800"}, half, {"detail": "\ud800"}):
        error = codec_for(family).decode_error(400, json.dumps(told).encode())
        for said in (error.vendor_type, error.vendor_code, error.message, error.param or ""):
            assert said.encode().decode() == said


@pytest.mark.spec("XLT-187")
@pytest.mark.parametrize("client", [A, O, R, G])
def test_usage_that_nobody_told_is_estimated_alike_streamed_and_whole(client: WireFamily) -> None:
    codec = codec_for(client)
    blocks = (Thinking("hm"), Text("four words are said"), ToolUse("c", "f", b'{"a":1}'))
    answer = Response("id", "up", blocks, Stop(StopReason.TOOL_USE), None)
    whole = codec.decode_response(codec.encode_response(answer, context()))
    decoder, streamed = codec.stream_decoder(), Assembler()
    streamed.feed(decoder.feed(codec.stream_encoder(context()).feed(events_of(answer))))
    streamed.feed(decoder.finish())
    assert streamed.response is not None
    assert whole.usage == streamed.response.usage
    assert whole.usage is not None
    assert whole.usage.fresh_input == 11
