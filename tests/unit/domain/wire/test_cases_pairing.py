"""Small requests on which gateways were seen to fail: calls with their results, tools, ids."""

from __future__ import annotations

import json

import pytest

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from tests.unit.domain.wire.flows import A, G, Json, O, R, at, kinds, sent, target

GO: Json = {"role": "user", "content": "go"}
TOOLS: Json = {"tools": [{"name": "f", "input_schema": {"type": "object"}}]}


def used(*ids: str) -> Json:
    """Return a Messages turn with calls."""
    blocks = [{"type": "tool_use", "id": each, "name": "f", "input": {}} for each in ids]
    return {"role": "assistant", "content": blocks}


def found(*content: object) -> Json:
    """Return a Messages turn of the user."""
    return {"role": "user", "content": list(content)}


def result(call_id: str, content: object, **extra: object) -> Json:
    """Return a Messages tool result."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **extra}


def call_item(call_id: str) -> Json:
    """Return a Responses call."""
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}"}


def output_item(call_id: str, output: str) -> Json:
    """Return the item with a call's output."""
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def chat_call(call_id: str, arguments: str = "{}") -> Json:
    """Return a call of a chat message."""
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": arguments}}


def messages(*turns: Json) -> Json:
    """Return a conversation."""
    return {"max_tokens": 9, "messages": list(turns)}


@pytest.mark.spec("XLT-73")
def test_a_result_follows_its_call_and_the_users_words_come_after() -> None:
    """B-001."""
    words = {"type": "text", "text": "and now stop"}
    body = messages(GO, used("c1"), found(result("c1", "one"), words))
    items = sent(A, body, R)["input"]
    assert kinds(items) == ["message", "function_call", "function_call_output", "message"]
    assert at(items, 3, "content", 0, "text") == "and now stop"


@pytest.mark.spec("XLT-73", "XLT-74")
def test_results_of_parallel_calls_keep_the_order_of_the_calls() -> None:
    """B-001."""
    turn = found(
        result("c2", "two"), {"type": "text", "text": "so?"}, result("c3", "3"), result("c1", "one")
    )
    items = sent(A, messages(GO, used("c1", "c2", "c3"), turn), R)["input"]
    assert [at(items, place, "call_id") for place in range(1, 7)] == ["c1", "c2", "c3"] * 2
    assert kinds(items)[4:] == ["function_call_output"] * 3 + ["message"]


@pytest.mark.spec("XLT-73", "XLT-74")
def test_words_between_a_call_and_its_output_are_no_turn_of_their_own() -> None:
    """B-002."""
    checking = {"role": "assistant", "content": [{"type": "output_text", "text": "checking"}]}
    body = {"input": [GO, call_item("c1"), checking, output_item("c1", "one")]}
    turns = sent(R, body, A)["messages"]
    assert [at(turns, place, "role") for place in range(3)] == ["user", "assistant", "user"]
    assert kinds(at(turns, 1, "content")) == ["text", "tool_use"]
    assert kinds(at(turns, 2, "content")) == ["tool_result"]
    assert at(turns, 3) is None


@pytest.mark.spec("XLT-74")
def test_an_output_that_comes_items_later_moves_up_to_its_call() -> None:
    """B-002."""
    later = [{"role": "user", "content": "wait"}, {"role": "assistant", "content": "waiting"}]
    body = {"input": [GO, call_item("c1"), *later, GO, output_item("c1", "one")]}
    turns = sent(R, body, A)["messages"]
    assert at(turns, 1, "content", 0, "type") == "tool_use"
    assert at(turns, 2, "content", 0, "type") == "tool_result"
    assert at(turns, 2, "content", 0, "tool_use_id") == at(turns, 1, "content", 0, "id")


@pytest.mark.spec("XLT-76")
@pytest.mark.parametrize("call_id", ["", "nobody"])
def test_an_output_without_its_call_becomes_words_and_gets_no_id(call_id: str) -> None:
    """B-004."""
    body = {"input": [GO, output_item(call_id, "stray"), call_item("c1"), output_item("c1", "one")]}
    turns = sent(R, body, A)["messages"]
    told = json.dumps(turns)
    assert told.count('"tool_result"') == 1
    assert told.count('"tool_use_id"') == 1
    assert "stray" in json.dumps(at(turns, 0))
    assert at(turns, 2, "content", 0, "tool_use_id") == "c1"


@pytest.mark.parametrize("upstream", [A, O, R], ids=lambda family: family.value)
@pytest.mark.parametrize(
    ("again", "labels"), [("sunny", 0), ("rainy", 1)], ids=["the-same", "another"]
)
def test_a_result_that_is_told_twice_is_sent_once(
    upstream: WireFamily, again: str, labels: int
) -> None:
    """Gemini CLI repeats results when it resumes a session; what differs is never left out."""
    answers = [
        {"functionResponse": {"id": "c1", "name": "f", "response": {"output": output}}}
        for output in ("sunny", again)
    ]
    body = {
        "contents": [
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "f", "args": {}}}]},
            {"role": "user", "parts": answers},
        ]
    }
    told = json.dumps(sent(G, body, upstream))
    assert told.count("sunny") == 1
    assert told.lower().count("[result of") == labels
    assert told.count("rainy") == labels


def test_results_of_calls_that_share_an_id_are_all_kept() -> None:
    body = messages(GO, used("c1", "c1"), found(result("c1", "same"), result("c1", "same")))
    chat = json.dumps(sent(A, body, O))
    assert chat.count("same") == 2


@pytest.mark.spec("XLT-70")
@pytest.mark.parametrize("content", [[{"type": "tool_reference", "name": "Read"}], [], ""])
def test_a_result_that_renders_no_text_is_still_exactly_one_result(content: object) -> None:
    """B-005."""
    body = messages(GO, used("c1"), found(result("c1", content)))
    chat = sent(A, body, O)["messages"]
    assert [at(chat, place, "role") for place in range(4)] == ["user", "assistant", "tool", None]
    assert at(chat, 2, "tool_call_id") == "c1"
    assert isinstance(at(chat, 2, "content"), str)
    contents = sent(A, body, G)["contents"]
    assert at(contents, 1, "parts", 0, "functionCall", "name") == "f"
    assert at(contents, 2, "parts", 0, "functionResponse", "name") == "f"
    assert at(contents, 2, "parts", 1) is None


@pytest.mark.spec("XLT-68")
@pytest.mark.parametrize("arguments", ["", "null", " "])
def test_a_history_that_says_nothing_for_arguments_decodes_to_an_empty_object(
    arguments: str,
) -> None:
    """B-016, B-017."""
    turns = [GO, {"role": "assistant", "tool_calls": [chat_call("c1", arguments)]}]
    done = {"role": "tool", "tool_call_id": "c1", "content": "one"}
    body = {"messages": [*turns, done]}
    assert at(sent(O, body, A)["messages"], 1, "content", 0, "input") == {}
    assert at(sent(O, body, G)["contents"], 1, "parts", 0, "functionCall", "args") == {}
    assert at(sent(O, body, R)["input"], 1, "arguments") in ("{}", None)


@pytest.mark.spec("XLT-52")
def test_an_empty_text_is_not_sent() -> None:
    """B-019."""
    turn = found({"type": "text", "text": ""}, {"type": "text", "text": "hi"})
    for client, body in (
        (A, messages(turn)),
        (O, messages(turn)),
        (
            R,
            {"input": [{"role": "user", "content": [{"type": "input_text", "text": ""}, HI_PART]}]},
        ),
        (G, {"contents": [{"parts": [{"text": ""}, {"text": "hi"}]}]}),
    ):
        if client is not A:
            told = at(sent(client, body, A)["messages"], 0, "content")
            assert told in ("hi", [{"type": "text", "text": "hi"}])


HI_PART: Json = {"type": "input_text", "text": "hi"}


@pytest.mark.spec("XLT-52")
@pytest.mark.parametrize("content", ["", None, [], " \n"])
def test_a_turn_of_calls_alone_is_sent_as_calls_alone(content: object) -> None:
    """B-020."""
    turn = {"role": "assistant", "content": content, "tool_calls": [chat_call("c1")]}
    done = {"role": "tool", "tool_call_id": "c1", "content": "one"}
    body = {"messages": [GO, turn, done]}
    assert kinds(at(sent(O, body, A)["messages"], 1, "content")) == ["tool_use"]


@pytest.mark.spec("XLT-86", "XLT-87")
def test_a_choice_of_no_tool_is_one_in_every_dialect_and_keeps_the_tools() -> None:
    """B-071."""
    body = {**messages(GO), **TOOLS, "tool_choice": {"type": "none"}}
    chat = sent(A, body, O)
    assert chat["tool_choice"] == "none"
    assert at(chat, "tools", 0, "function", "name") == "f"
    tools = [{"type": "function", "function": {"name": "f"}}]
    back = sent(O, {"messages": [GO], "tools": tools, "tool_choice": "none"}, A)
    assert back["tool_choice"] == {"type": "none"}
    assert at(back, "tools", 0, "name") == "f"


@pytest.mark.spec("XLT-88")
def test_tools_of_the_history_are_declared_where_the_request_has_none() -> None:
    """B-073."""
    turn = {"role": "assistant", "tool_calls": [chat_call("c1")]}
    done = {"role": "tool", "tool_call_id": "c1", "content": "one"}
    body = sent(O, {"messages": [GO, turn, done]}, A)
    assert at(body, "tools", 0, "name") == "f"
    assert at(body, "tools", 0, "input_schema", "type") == "object"
    assert body["tool_choice"] == {"type": "none"}


@pytest.mark.spec("XLT-71")
def test_a_failed_tool_looks_like_one() -> None:
    """B-106."""
    body = messages(GO, used("c1"), found(result("c1", "denied", is_error=True)))
    content = at(sent(A, body, O)["messages"], 2, "content")
    assert content == "[tool call failed]\ndenied"
    assert at(sent(A, body, G)["contents"], 2, "parts", 0, "functionResponse", "response") == {
        "error": "denied"
    }
    plain = messages(GO, used("c1"), found(result("c1", "denied")))
    assert at(sent(A, plain, O)["messages"], 2, "content") == "denied"


@pytest.mark.spec("XLT-75")
def test_six_calls_are_answered_in_one_content_of_six_parts() -> None:
    """B-061."""
    ids = [f"c{number}" for number in range(6)]
    turn = {"role": "assistant", "tool_calls": [chat_call(each) for each in ids]}
    done = [{"role": "tool", "tool_call_id": each, "content": each} for each in ids]
    contents = sent(O, {"messages": [GO, turn, *done]}, G)["contents"]
    answers = at(contents, 2, "parts")
    assert isinstance(answers, list)
    assert [at(part, "functionResponse", "response", "result") for part in answers] == ids
    assert at(contents, 3) is None


@pytest.mark.spec("XLT-180")
def test_an_id_that_carries_a_signature_is_short_and_still_pairs() -> None:
    """B-091."""
    long_id = "call_" + "s" * 900
    turn = {"role": "assistant", "tool_calls": [chat_call(long_id)]}
    done = {"role": "tool", "tool_call_id": long_id, "content": "one"}
    for client, body in (
        (O, {"messages": [GO, turn, done]}),
        (A, messages(GO, used(long_id), found(result(long_id, "one")))),
    ):
        items = sent(client, body, R)["input"]
        call_id = at(items, 1, "call_id")
        assert isinstance(call_id, str)
        assert len(call_id) <= 64
        assert call_id == at(items, 2, "call_id")
        item_id = at(items, 1, "id")
        assert item_id is None or (isinstance(item_id, str) and len(item_id) <= 64)


@pytest.mark.spec("XLT-44")
def test_a_developer_message_is_in_the_system_section() -> None:
    """B-082."""
    body = sent(O, {"messages": [{"role": "developer", "content": "start with X"}, GO]}, A)
    assert at(body, "system", 0, "text") == "start with X"
    assert at(body, "messages", 0, "content") in ("go", [{"type": "text", "text": "go"}])


@pytest.mark.spec("XLT-45")
@pytest.mark.parametrize("content", ["mind", [{"type": "text", "text": "mind"}]])
def test_instructions_among_the_turns_keep_their_place(content: object) -> None:
    """B-083: the same for a string and for blocks."""
    body = messages(GO, {"role": "system", "content": content}, {"role": "user", "content": "on"})
    told = sent(A, body, O)["messages"]
    assert [at(told, place, "role") for place in range(3)] == ["user", "system", "user"]
    assert at(told, 1, "content") == "mind"


@pytest.mark.spec("XLT-173", "XLT-174")
def test_no_cache_mark_is_added_to_a_client_that_set_its_own() -> None:
    """B-085, B-086: on system blocks, on tools and at the top level."""
    mark = {"cache_control": {"type": "ephemeral"}}
    system = [{"type": "text", "text": f"part {at}", **mark} for at in range(4)]
    for body in (
        {**messages(GO), "system": system},
        {
            **messages(GO),
            **mark,
            "system": system[:2],
            "tools": [{"name": "f", "input_schema": {"type": "object"}, **mark}],
        },
    ):
        told = sent(A, body, A)
        assert json.dumps(told).count("cache_control") == 4
        assert told == {"model": "up", **body}


@pytest.mark.spec("XLT-39", "XLT-91")
def test_a_reasoning_model_of_the_vendor_is_told_its_limit_by_its_new_name() -> None:
    """B-100."""
    body = {"messages": [GO], "max_tokens": 2000, "temperature": 1}
    facts = ModelFacts(reasoning="always")
    told = sent(O, body, O, facts, is_vendor=True)
    assert told["max_completion_tokens"] == 2000
    assert "max_tokens" not in told


@pytest.mark.spec("XLT-101")
def test_a_schema_for_the_answer_is_asked_for_without_its_name() -> None:
    """B-097."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    form = {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": schema}}
    told = sent(O, {"messages": [GO], "response_format": form}, A)
    assert at(told, "output_config", "format") == {"type": "json_schema", "schema": schema}


@pytest.mark.spec("XLT-102")
def test_a_wish_for_any_json_object_is_not_lost() -> None:
    """B-098."""
    body = {"messages": [GO], "response_format": {"type": "json_object"}}
    assert at(sent(O, body, G), "generationConfig", "responseMimeType") == "application/json"
    assert "JSON" in json.dumps(sent(O, body, A)["system"])


@pytest.mark.spec("XLT-2", "XLT-171")
def test_a_wish_for_reasoning_and_its_signed_history_arrive_untouched() -> None:
    """B-049, B-052: not a byte of a signed block changes."""
    block = r'{"type":"thinking","thinking":"f\u00fcr \"a\"\/b é\n","signature":"c2ln+/="}'
    raw = (
        '{"model":"m","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":4000},'
        '"messages":[{"role":"user","content":"go"},{"role":"assistant","content":['
        + block
        + ',{"type":"text","text":"ok"}]},{"role":"user","content":"on"}]}'
    ).encode()
    request = codec_for(A).decode_request(raw)
    facts = ModelFacts(reasoning="optional", reasoning_budget=True)
    spliced = codec_for(A).splice_request(raw, request, target(A, facts)).body
    assert spliced == raw.replace(b'"model":"m"', b'"model":"up"')
