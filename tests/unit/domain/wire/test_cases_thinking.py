"""Small conversations on which gateways were seen to lose, invent or show hidden reasoning."""

from __future__ import annotations

import json

import pytest

from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.state.kept import lost_state
from services.domain.wire.state.requests import has_unsigned_calls, opened
from services.domain.wire.translation import AnswerTranslation
from tests.unit.domain.wire import gemini_cases as gemini
from tests.unit.domain.wire.contexts import context
from tests.unit.domain.wire.flows import (
    A,
    G,
    Json,
    O,
    R,
    answered,
    at,
    built,
    calls,
    decoded,
    kinds,
    said,
    sent,
    shown,
    target,
)

GO: Json = {"role": "user", "content": "go"}
SIGNATURE = "c2lnbmVk"
THREE_CALLS = (
    gemini.call("f", {"a": 1}, thoughtSignature=SIGNATURE),
    gemini.call("f", {"a": 2}),
    gemini.call("f", {"a": 3}),
)


def messages(*turns: Json) -> Json:
    """Return a Messages conversation."""
    return {"max_tokens": 9, "messages": list(turns)}


def returned(found: dict[object, dict[str, str]], *, cut_to: int | None = None) -> list[Json]:
    """Return the turns with which a chat client goes on after ``found`` calls."""
    ids = [call["id"][:cut_to] for call in found.values()]
    told = [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": call["name"], "arguments": call["arguments"]},
        }
        for call_id, call in zip(ids, found.values(), strict=True)
    ]
    results = [{"role": "tool", "tool_call_id": call_id, "content": "done"} for call_id in ids]
    return [GO, {"role": "assistant", "content": None, "tool_calls": told}, *results]


@pytest.mark.spec("XLT-29")
@pytest.mark.parametrize("signature", [None, ""])
def test_reasoning_without_a_signature_is_dropped_and_none_is_made_up(
    signature: str | None,
) -> None:
    """B-050."""
    thinking: dict[str, object] = {"type": "thinking", "thinking": "hm"}
    if signature is not None:
        thinking["signature"] = signature
    call = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
    turn = {"role": "assistant", "content": [thinking, call]}
    done = {"type": "tool_result", "tool_use_id": "c1", "content": "one"}
    body = messages(GO, turn, {"role": "user", "content": [done]})
    assert kinds(at(sent(A, body, A)["messages"], 1, "content")) == ["tool_use"]
    told = json.dumps(sent(A, body, G))
    assert "hm" not in told
    assert "thoughtSignature" not in told


@pytest.mark.spec("XLT-29", "XLT-63")
def test_a_part_that_is_only_a_signature_is_not_lost() -> None:
    """B-050: it comes back to its vendor as it was."""
    stream = gemini.frame(gemini.text("42")) + gemini.frame(
        gemini.text("", thoughtSignature=SIGNATURE), finish="STOP"
    )
    frames = shown(G, stream, A)
    blocks: dict[object, dict[str, str]] = {}
    for frame in frames:
        if frame["type"] == "content_block_start":
            opened_block = at(frame, "content_block")
            assert isinstance(opened_block, dict)
            blocks[frame["index"]] = dict(opened_block)
        for kind in ("text", "thinking", "signature"):
            if at(frame, "delta", "type") == f"{kind}_delta":
                blocks[frame["index"]][kind] += str(at(frame, "delta", kind))
    back = messages(GO, {"role": "assistant", "content": list(blocks.values())}, GO)
    contents = sent(A, back, G)["contents"]
    assert json.dumps(contents).count(SIGNATURE) == 1
    assert at(contents, 1, "parts", 0, "text") == "42"


@pytest.mark.spec("XLT-156")
def test_a_turn_of_which_one_call_is_signed_counts_as_signed() -> None:
    """B-053."""
    turns = [
        {"parts": [{"text": "go"}]},
        {"role": "model", "parts": [*THREE_CALLS]},
    ]
    request = codec_for(G).decode_request(json.dumps({"contents": turns}).encode())
    assert not has_unsigned_calls(request, G)
    turns[1] = {"role": "model", "parts": [*THREE_CALLS[1:]]}
    request = codec_for(G).decode_request(json.dumps({"contents": turns}).encode())
    assert has_unsigned_calls(request, G)


@pytest.mark.spec("XLT-75", "XLT-156")
def test_parallel_calls_come_back_in_one_content_with_their_signature() -> None:
    """B-053, B-055: the signature stands on the first of them."""
    found = calls(shown(G, gemini.frame(*THREE_CALLS, finish="STOP"), O))
    assert len(found) == 3
    contents = sent(O, {"messages": returned(found)}, G)["contents"]
    parts = at(contents, 1, "parts")
    assert isinstance(parts, list)
    assert [at(part, "functionCall", "args", "a") for part in parts] == [1, 2, 3]
    assert at(parts, 0, "thoughtSignature") == SIGNATURE
    answers = at(contents, 2, "parts")
    assert isinstance(answers, list)
    assert len(answers) == 3
    assert at(contents, 3) is None


@pytest.mark.spec("XLT-181")
def test_state_is_found_again_for_a_client_that_cuts_ids() -> None:
    """B-092: from what the session kept; without it the history counts as unsigned."""
    events = decoded(G, gemini.frame(THREE_CALLS[0], finish="STOP"))
    where = context(upstream=G)
    translation = AnswerTranslation(O, where)
    raw = codec_for(O).stream_encoder(where).feed(translation.feed(events))
    found = calls(
        [json.loads(part[6:]) for part in raw.split(b"\n\n") if part[6:7] == b"{"],
    )
    body = {"model": "m", "messages": returned(found, cut_to=40)}
    request = codec_for(O).decode_request(json.dumps(body).encode())
    assert has_unsigned_calls(opened(request), G)
    restored = opened(request, lost_state(request, translation.kept))
    assert not has_unsigned_calls(restored, G)
    told = codec_for(G).encode_request(restored, target(G)).body
    assert SIGNATURE.encode() in told


@pytest.mark.spec("XLT-40", "XLT-62")
@pytest.mark.parametrize("summary", [{}, {"summary": []}])
def test_reasoning_that_nobody_stored_goes_back_with_its_state(summary: Json) -> None:
    """B-056."""
    thought = {"type": "reasoning", "id": "rs_1", **summary, "encrypted_content": "ZW5j"}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}
    done = {"type": "function_call_output", "call_id": "c1", "output": "one"}
    body = {
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "input": [{"role": "user", "content": "go"}, thought, call, done],
    }
    raw = json.dumps({"model": "m", **body}).encode()
    encoded = built(R, body, target(R)).body
    assert encoded == raw.replace(b'"model": "m"', b'"model": "up"')
    request = codec_for(R).decode_request(raw)
    again = json.loads(codec_for(R).encode_request(request, target(R)).body)
    assert at(again, "input", 1, "encrypted_content") == "ZW5j"
    assert again["store"] is False


@pytest.mark.spec("XLT-111")
@pytest.mark.parametrize("extra", [{}, {"thoughtSignature": SIGNATURE}])
def test_a_hidden_thought_is_not_shown_as_the_answer(extra: Json) -> None:
    """B-058: with a signature and without."""
    parts = (gemini.text("plan", thought=True, **extra), gemini.text("42"))
    frames = shown(G, gemini.frame(*parts, finish="STOP"), O)
    assert said(frames, "reasoning_content") == "plan"
    assert said(frames) == "42"
    message = at(answered(G, gemini.answer(*parts, finish="STOP"), O), "choices", 0, "message")
    assert at(message, "reasoning_content") == "plan"
    assert at(message, "content") == "42"


@pytest.mark.spec("XLT-64")
@pytest.mark.parametrize("extra", [{}, {"thoughtSignature": SIGNATURE}])
@pytest.mark.parametrize("upstream", [A, O, R])
def test_a_thought_of_the_history_never_becomes_visible_text(
    upstream: WireFamily, extra: Json
) -> None:
    """B-059."""
    thought = gemini.text("the plan", thought=True, **extra)
    turns = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [thought, gemini.text("42")]},
        {"role": "user", "parts": [{"text": "on"}]},
    ]
    told = json.dumps(sent(G, {"contents": turns}, upstream))
    assert "the plan" not in told
    assert "42" in told
    assert SIGNATURE not in told
