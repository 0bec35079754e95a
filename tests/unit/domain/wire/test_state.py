"""Opaque state through clients of other dialects: back to its issuer, and to nobody else."""

from __future__ import annotations

import base64
import dataclasses
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.domain.wire.codecs import codec_for
from services.domain.wire.model import (
    ProviderState,
    Response,
    Stop,
    StopReason,
    Text,
    Thinking,
    ToolUse,
)
from services.domain.wire.state.kept import lost_state
from services.domain.wire.state.requests import has_unsigned_calls, opened
from services.domain.wire.state.sealing import (
    MARK,
    MAX_ID_STATE_CHARS,
    Sealed,
    clean_id,
    is_sealed,
    seal,
    split_id,
    unseal,
    with_state,
)
from tests.unit.domain.wire.state_cases import (
    A,
    Client,
    G,
    O,
    R,
    answer_of,
    normalised,
    states_in,
    target,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.domain.vocab import WireFamily

FAMILIES = (A, O, R, G)
ISSUERS = (A, R, G)
PAIRS = [(client, issuer) for client in FAMILIES for issuer in ISSUERS if client is not issuer]
USER: dict[WireFamily, dict[str, object]] = {
    family: {"role": "user", "content": "and now?"} for family in (A, O, R)
}
PAYLOADS = st.text(alphabet=st.characters(codec="ascii", categories=("L", "N")), min_size=24)
STATES = st.builds(
    ProviderState,
    family=st.sampled_from(ISSUERS),
    kind=st.sampled_from(["signature", "encrypted", "redacted"]),
    payload=st.text(min_size=1),
    model=st.text(max_size=5),
    item_id=st.text(max_size=5),
)


@given(STATES, st.text(max_size=8), st.booleans())
@pytest.mark.spec("XLT-29", "XLT-181")
def test_sealed_state_comes_back_byte_for_byte(
    state: ProviderState, digest: str, is_of_call: bool
) -> None:
    sealed = Sealed(state, digest, is_of_call=is_of_call)
    told = seal(sealed)
    assert unseal(told) == sealed
    through_an_sdk = base64.b64encode(base64.urlsafe_b64decode(told + "=" * (-len(told) % 4)))
    assert unseal(through_an_sdk.decode()) == sealed
    assert unseal(told[:-1]) is None
    assert unseal(told.casefold()) is None


@given(st.text(max_size=30), STATES)
@pytest.mark.spec("XLT-181")
def test_an_id_never_grows(call_id: str, state: ProviderState) -> None:
    clean = clean_id(call_id)
    once = with_state(clean, state)
    assert split_id(once) == (clean, state)
    assert with_state(once, state) == once
    assert clean_id(once) == clean
    for cut in range(len(clean), len(once)):
        assert clean_id(once[:cut]).startswith(clean)


@pytest.mark.spec("XLT-181")
def test_state_that_is_too_long_stays_out_of_the_id() -> None:
    state = ProviderState(G, "signature", "x" * MAX_ID_STATE_CHARS)
    assert with_state("call_1", state) == "call_1"


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize(("client", "issuer"), PAIRS)
@settings(max_examples=10)
@given(payload=PAYLOADS)
@pytest.mark.spec("XLT-29", "XLT-61", "XLT-62", "XLT-63", "XLT-181")
def test_state_returns_to_its_issuer(
    client: WireFamily, issuer: WireFamily, is_stream: bool, payload: str
) -> None:
    there = Client(client)
    kept = there.hear(answer_of(issuer, payload), is_stream=is_stream).kept
    request = there.request()
    request = opened(request, lost_state(opened(request), kept))
    body = codec_for(issuer).encode_request(request, target(issuer)).body
    assert states_in(body, issuer) == [payload]
    assert MARK.encode() not in body


@pytest.mark.parametrize(("client", "issuer"), PAIRS)
@settings(max_examples=10)
@given(payload=PAYLOADS)
@pytest.mark.spec("XLT-182", "XLT-61", "XLT-62", "XLT-63", "XLT-64")
def test_no_other_vendor_is_shown_anything(
    client: WireFamily, issuer: WireFamily, payload: str
) -> None:
    there = Client(client)
    kept = there.hear(answer_of(issuer, payload)).kept
    request = there.request()
    request = opened(request, lost_state(opened(request), kept))
    for family in FAMILIES:
        codec = codec_for(family)
        if family is issuer:
            continue
        if family is client:
            encoded = codec.splice_request(there.body(), there.request(), target(family))
        else:
            encoded = codec.encode_request(request, target(family))
        assert payload.encode() not in encoded.body
        assert MARK.encode() not in encoded.body
        assert client is O or b"hm 0" not in encoded.body
        assert b"I look 0." in encoded.body
        json.loads(encoded.body)


@pytest.mark.parametrize(
    "change", [normalised, lambda i: i[:40], lambda i: f"call-{hash(i) % 10**9}"]
)
@pytest.mark.parametrize("client", [A, O])
@settings(max_examples=10)
@given(payload=PAYLOADS)
@pytest.mark.spec("XLT-181", "XLT-156")
def test_state_is_found_again_whatever_became_of_the_id(
    client: WireFamily, change: Callable[[str], str], payload: str
) -> None:
    """B-092: the client normalises ids, keeps their first 40 characters, or makes its own."""
    there = Client(client)
    kept = []
    for turn in range(3):
        kept += there.hear(answer_of(G, f"{payload}{turn}", turn)).kept
    there.change(change)
    request = opened(there.request())
    found = lost_state(request, kept)
    request = opened(request, found)
    assert not has_unsigned_calls(request, G)
    body = codec_for(G).encode_request(request, target(G)).body
    assert states_in(body, G) == [f"{payload}{turn}" for turn in range(3)]
    assert MARK.encode() not in body


@pytest.mark.parametrize("client", [A, O])
@pytest.mark.spec("XLT-156", "XLT-181")
def test_without_a_ledger_a_cut_id_leaves_its_call_unsigned(client: WireFamily) -> None:
    there = Client(client)
    there.hear(answer_of(G, "sig" * 9))
    assert not has_unsigned_calls(opened(there.request()), G)
    there.change(lambda call_id: call_id[:40])
    request = opened(there.request())
    assert has_unsigned_calls(request, G)
    assert states_in(codec_for(G).encode_request(request, target(G)).body, G) == []


@pytest.mark.parametrize(("client", "issuer"), PAIRS)
@pytest.mark.spec("XLT-181", "XLT-177")
def test_many_turns_grow_nothing(client: WireFamily, issuer: WireFamily) -> None:
    there = Client(client)
    kept = []
    bodies = []
    for turn in range(4):
        kept += there.hear(answer_of(issuer, f"payload-of-{turn}", turn)).kept
        request = opened(there.request())
        request = opened(request, lost_state(request, kept))
        assert opened(request) == request
        bodies.append(codec_for(issuer).encode_request(request, target(issuer)).body)
        assert states_in(bodies[-1], issuer) == [f"payload-of-{n}" for n in range(turn + 1)]
    calls = [b for t in opened(there.request()).turns for b in t.blocks if isinstance(b, ToolUse)]
    assert len({call.call_id for call in calls}) == 8
    assert all(len(call.call_id) < 64 for call in calls)


@pytest.mark.parametrize("upstream", [O, R])
@pytest.mark.spec("XLT-180", "XLT-139")
def test_ids_that_carried_state_are_short_and_still_pair(upstream: WireFamily) -> None:
    """B-091: a call's id carried a long signature; the next upstream limits ids."""
    there = Client(A)
    there.hear(answer_of(G, "s" * 900))
    body = json.loads(codec_for(upstream).encode_request(there.request(), target(upstream)).body)
    if upstream is R:
        calls = [row["call_id"] for row in body["input"] if row["type"] == "function_call"]
        results = [r["call_id"] for r in body["input"] if r["type"] == "function_call_output"]
    else:
        calls = [c["id"] for m in body["messages"] for c in m.get("tool_calls", [])]
        results = [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"]
    assert calls == results
    assert len(calls) == 2
    assert all(len(each) <= 64 for each in calls)


@pytest.mark.spec("XLT-29")
def test_state_that_another_model_wrote_stays_behind() -> None:
    for client, issuer in ((R, A), (A, R)):
        there = Client(client)
        there.hear(answer_of(issuer, "payload"))
        other = target(issuer, "other-model")
        assert (
            states_in(codec_for(issuer).encode_request(there.request(), other).body, issuer) == []
        )


@pytest.mark.spec("XLT-29")
def test_a_thought_that_its_client_changed_loses_its_signature() -> None:
    there = Client(R)
    there.hear(answer_of(A, "payload"))
    body = there.body().replace(b"hm 0", b"hm!")
    request = codec_for(R).decode_request(body)
    encoded = codec_for(A).encode_request(request, target(A)).body
    assert states_in(encoded, A) == []


@pytest.mark.spec("XLT-29", "XLT-50")
def test_a_thought_in_parts_is_whole_again_for_its_issuer() -> None:
    """Gemini clients keep the pieces of a stream apart, the signature on the last of them."""
    there = Client(G)
    there.hear(answer_of(A, "payload"))
    parts = there.history[1]["parts"]
    assert isinstance(parts, list)
    signature = parts[0]["thoughtSignature"]
    assert is_sealed(signature)
    parts[:1] = [
        {"text": "h", "thought": True},
        {"text": "m 0", "thought": True},
        {"text": "", "thought": True, "thoughtSignature": signature},
    ]
    body = codec_for(A).encode_request(there.request(), target(A)).body
    content = json.loads(body)["messages"][1]["content"]
    assert content[0] == {"type": "thinking", "thinking": "hm 0", "signature": "payload"}


@pytest.mark.spec("XLT-156")
def test_a_signed_call_signs_its_siblings() -> None:
    """B-053: of two calls only the second is signed; B-055: three calls are one content."""
    there = Client(O)
    there.hear(answer_of(G, "payload"))
    body = json.loads(codec_for(G).encode_request(there.request(), target(G)).body)
    parts = body["contents"][1]["parts"]
    calls = [part for part in parts if "functionCall" in part]
    assert [call.get("thoughtSignature") for call in calls] == ["payload", None]


@pytest.mark.spec("XLT-182")
def test_a_body_without_foreign_state_keeps_its_bytes() -> None:
    raw = b'{ "model":"upstream-id","max_tokens" : 9,"messages":[{"role":"user","content":"x"}]}'
    codec = codec_for(A)
    assert codec.splice_request(raw, codec.decode_request(raw), target(A)).body == raw


@pytest.mark.spec("XLT-75", "XLT-156")
def test_three_calls_with_one_signature_are_one_content() -> None:
    """B-055: parallel calls stay together, the signature on the first of them."""
    answer = answer_of(G, "payload")
    third = ToolUse("call_third_0123456789", "find", b"{}")
    there = Client(O)
    there.hear(dataclasses.replace(answer, blocks=(*answer.blocks, third)))
    contents = json.loads(codec_for(G).encode_request(there.request(), target(G)).body)["contents"]
    assert [content["role"] for content in contents] == ["user", "model", "user"]
    calls = [part for part in contents[1]["parts"] if "functionCall" in part]
    assert [call.get("thoughtSignature") for call in calls] == ["payload", None, None]
    assert [len(content["parts"]) for content in contents[2:]] == [3]


@pytest.mark.spec("XLT-62")
def test_encrypted_reasoning_comes_once_and_before_what_it_produced() -> None:
    there = Client(A)
    there.hear(answer_of(R, "payload"))
    there.history[3:] = there.history[1:3]
    body = json.loads(codec_for(R).encode_request(there.request(), target(R)).body)
    kinds = [row["type"] for row in body["input"]]
    assert kinds.count("reasoning") == 1
    reasoning = body["input"][kinds.index("reasoning")]
    assert reasoning == {
        "type": "reasoning",
        "id": "rs_0",
        "summary": [],
        "encrypted_content": "payload",
    }
    assert kinds.index("reasoning") < kinds.index("function_call")


@pytest.mark.parametrize(("client", "issuer"), [(A, G), (A, R), (O, G), (R, A), (R, G), (G, A)])
@pytest.mark.spec("XLT-181")
def test_a_rewritten_body_still_carries_what_its_client_keeps(
    client: WireFamily, issuer: WireFamily
) -> None:
    there = Client(client)
    there.hear(answer_of(issuer, "payload"))
    codec = codec_for(client)
    again = codec.decode_request(codec.encode_request(there.request(), target(client)).body)
    body = codec_for(issuer).encode_request(again, target(issuer)).body
    assert states_in(body, issuer) == ["payload"]
    assert b"interrupted" not in body
    assert b"No result" not in body


@pytest.mark.spec("XLT-63", "XLT-181")
@pytest.mark.parametrize("client", [A, O, R])
def test_the_signature_of_a_text_returns_behind_it(client: WireFamily) -> None:
    signed = Thinking("", (ProviderState(G, "signature", "payload"),))
    answer = Response("i", "m", (Text("It is 42."), signed), Stop(StopReason.END_TURN), None)
    there = Client(client)
    kept = there.hear(answer).kept
    there.history.append(USER[client])
    request = opened(there.request())
    request = opened(request, lost_state(request, kept))
    body = json.loads(codec_for(G).encode_request(request, target(G)).body)
    assert body["contents"][1]["parts"] == [
        {"text": "It is 42."},
        {"text": "", "thoughtSignature": "payload"},
    ]
