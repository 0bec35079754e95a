"""A client's own body keeps its bytes but for what the target demands."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.model import EncodedRequest, ProviderState, Target
from services.domain.wire.openai_responses import CODEC
from services.domain.wire.state.sealing import MARK, Sealed, seal
from tests.unit.domain.wire.openai_responses_cases import (
    body,
    call,
    codes,
    result,
    said,
    sent,
    target,
    thought,
)


def spliced(raw: bytes, there: Target) -> EncodedRequest:
    return CODEC.splice_request(raw, CODEC.decode_request(raw), there)


@pytest.mark.spec("XLT-37", "XLT-40")
def test_only_the_models_name_changes() -> None:
    """B-056: reasoning state of a stateless client passes."""
    raw = b'{ "model" :"m", "x":1.0,"input":[{"type":"reasoning","id":"rs_1",'
    raw += b'"summary":[],"encrypted_content":"a\\u00e9b"},  {"type":"new","y":[1e3]}]'
    raw += b', "store":false }'
    encoded = spliced(raw, target())
    assert encoded.body == raw.replace(b'"m"', b'"upstream-model"')
    assert encoded.transforms == ()


@pytest.mark.spec("XLT-182", "XLT-29")
def test_foreign_state_is_never_shown_to_the_vendor() -> None:
    sealed = seal(Sealed(ProviderState(WireFamily.ANTHROPIC, "signature", "sig")))
    tagged = thought(sealed, "plan")
    items = [
        said("user", "a"),
        tagged,
        {**said("assistant", "b"), "id": "msg_1"},
        call("c", id="fc_1"),
    ]
    encoded = spliced(body(input=[*items, result("c")]), target())
    assert MARK.encode() not in encoded.body
    assert sent(encoded)["input"] == [
        said("user", "a"),
        said("assistant", "b"),
        call("c"),
        result("c"),
    ]
    assert codes(encoded) == ["thinking"]


@pytest.mark.spec("XLT-29")
def test_state_of_another_model_goes_after_a_switch() -> None:
    raw = body(input=[said("user", "a"), thought("enc"), said("assistant", "b")])
    assert b"enc" in spliced(raw, target()).body
    encoded = spliced(raw, target(is_model_switched=True))
    assert sent(encoded)["input"] == [said("user", "a"), said("assistant", "b")]


@pytest.mark.spec("XLT-92", "XLT-95", "XLT-166")
def test_what_the_target_would_refuse_is_dropped_or_fitted() -> None:
    raw = body(
        max_output_tokens=99,
        temperature=0.5,
        reasoning={"effort": "xhigh", "summary": "auto"},
        service_tier="flex",
    )
    facts = ModelFacts(
        reasoning="optional",
        reasoning_levels=("low", "high"),
        refused_parameters=frozenset(["service_tier"]),
    )
    encoded = spliced(raw, target(facts, is_vendor=True, max_output_tokens=50))
    assert sent(encoded) == {
        "model": "upstream-model",
        "input": "hi",
        "max_output_tokens": 50,
        "reasoning": {"effort": "high", "summary": "auto"},
    }
    assert sorted(codes(encoded)) == [
        "max_output_tokens",
        "reasoning_level",
        "refused_parameter",
        "refused_parameter",
    ]
    plain = sent(spliced(raw, target()))
    assert "reasoning" not in plain


@given(
    st.lists(st.sampled_from([thought(MARK), said("user", "é"), call("c", id="i")])),
    st.booleans(),
)
@pytest.mark.spec("XLT-37", "XLT-225")
def test_any_mix_of_edits_gives_json_without_foreign_state(
    items: list[object],
    is_switched: bool,
) -> None:
    raw = json.dumps(
        {"input": [*items, said("user", "x")], "model": "m", "temperature": 1}
    ).encode()
    encoded = spliced(raw, target(is_model_switched=is_switched))
    assert MARK.encode() not in encoded.body
    told = sent(encoded)["input"]
    assert isinstance(told, list)
    assert len(told) == sum(item != thought(MARK) for item in items) + 1
