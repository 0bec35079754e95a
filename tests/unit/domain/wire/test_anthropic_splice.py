from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.catalog import ModelFacts
from services.domain.wire.anthropic import CODEC
from services.domain.wire.model import EncodedRequest, Target
from tests.unit.domain.wire.anthropic_cases import Json, target
from tests.unit.domain.wire.test_anthropic_request import RICH, USER

ADAPTIVE = ModelFacts(
    reasoning="optional", adaptive_thinking=True, reasoning_levels=("low", "medium", "high")
)
BUDGET = ModelFacts(reasoning="optional", reasoning_budget=True)


def splice(body: bytes, to: Target) -> EncodedRequest:
    return CODEC.splice_request(body, CODEC.decode_request(body), to)


def spliced(members: Json, to: Target) -> tuple[Json, list[str]]:
    body = json.dumps({"model": "m", "max_tokens": 500, "messages": [USER], **members}).encode()
    encoded = splice(body, to)
    return json.loads(encoded.body), [transform.code for transform in encoded.transforms]


@pytest.mark.spec("XLT-37", "XLT-38")
@given(st.sampled_from([None, 0, 3]), st.booleans())
def test_only_the_model_value_changes(indent: int | None, is_ascii: bool) -> None:
    body = json.dumps(RICH, indent=indent, ensure_ascii=is_ascii).encode()
    encoded = splice(body, target())
    assert encoded.body == body.replace(b'"claude-x"', b'"upstream"')
    assert encoded.transforms == ()
    assert splice(body, target(upstream_id="claude-x")).body == body


@pytest.mark.spec("XLT-37", "XLT-171")
def test_signed_reasoning_keeps_its_escapes_and_the_wish_its_members() -> None:
    """B-049 and B-052."""
    thinking = '{"signature":"c2ln", "type":"thinking","thinking":"\\u00e9 \\/ ü \\ud83d"}'
    body = (
        '{ "model":"m","max_tokens":9,"thinking":{"type":"enabled","budget_tokens":4000},'
        '"messages":[{"role":"assistant","content":[' + thinking + "]}]}"
    ).encode()
    assert splice(body, target(upstream_id="m")).body == body


@pytest.mark.spec("XLT-38")
@pytest.mark.parametrize("signature", [{}, {"signature": None}, {"signature": ""}])
def test_reasoning_without_a_signature_is_dropped(signature: Json) -> None:
    """B-050: nothing is invented, redacted reasoning stays."""
    unsigned = {"type": "thinking", "thinking": "x", **signature}
    redacted = {"type": "redacted_thinking", "data": "x"}
    said = {"type": "text", "text": "a"}
    messages = [
        USER,
        {"role": "assistant", "content": [unsigned, redacted, said]},
        {"role": "assistant", "content": [unsigned]},
    ]
    body, codes = spliced({"messages": messages}, target())
    assert body["messages"] == [USER, {"role": "assistant", "content": [redacted, said]}]
    assert codes == ["thinking_dropped", "thinking_dropped"]


@pytest.mark.spec("XLT-29")
def test_all_reasoning_of_another_model_is_dropped() -> None:
    signed = {"type": "thinking", "thinking": "x", "signature": "s"}
    redacted = {"type": "redacted_thinking", "data": "x"}
    messages = [{"role": "assistant", "content": [signed, redacted, {"type": "text", "text": "a"}]}]
    body, _ = spliced({"messages": messages}, target(is_model_switched=True))
    assert body["messages"] == [{"role": "assistant", "content": [{"type": "text", "text": "a"}]}]


CALL = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
SIGNED = {"type": "thinking", "thinking": "x", "signature": "s"}
UNSIGNED = {"type": "thinking", "thinking": "y", "signature": ""}
REDACTED = {"type": "redacted_thinking", "data": "x"}


@pytest.mark.spec("XLT-168")
@pytest.mark.parametrize(
    ("said", "is_switched", "is_off"),
    [
        ([SIGNED, CALL], False, False),
        ([REDACTED, CALL], False, False),
        ([UNSIGNED, SIGNED, CALL], False, False),
        ([UNSIGNED, CALL], False, True),
        ([CALL], False, True),
        ([SIGNED, CALL], True, True),
        ([REDACTED, CALL], True, True),
    ],
)
def test_a_budget_is_off_while_calls_are_answered_without_signed_reasoning(
    said: list[Json], is_switched: bool, is_off: bool
) -> None:
    wish = {"type": "enabled", "budget_tokens": 2000}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "x"}
    answering = [
        USER,
        {"role": "assistant", "content": said},
        {"role": "user", "content": [result]},
    ]
    members = {"max_tokens": 9000, "thinking": wish, "messages": answering}
    body, codes = spliced(members, target(BUDGET, is_model_switched=is_switched))
    assert body.get("thinking") == (None if is_off else wish)
    assert ("reasoning_off_in_tool_loop" in codes) is is_off
    over = members | {"messages": [*answering, {"role": "assistant", "content": "a"}, USER]}
    body, _ = spliced(over, target(BUDGET, is_model_switched=is_switched))
    assert body["thinking"] == wish


@pytest.mark.spec("XLT-168")
@pytest.mark.parametrize("others", [[], [{"type": "clear_tool_uses_20250919"}]])
def test_old_reasoning_is_not_to_be_cleared_where_reasoning_is_off(others: list[Json]) -> None:
    members: Json = {
        "max_tokens": 9000,
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "context_management": {"edits": [{"type": "clear_thinking_20251015"}, *others]},
    }
    answered = {"type": "tool_result", "tool_use_id": "c", "content": "x"}
    messages = [
        USER,
        {"role": "assistant", "content": [CALL]},
        {"role": "user", "content": [answered]},
    ]
    body, codes = spliced(members | {"messages": messages}, target(BUDGET))
    assert body.get("context_management") == ({"edits": others} if others else None)
    assert "clearing_without_thinking" in codes
    assert (
        spliced(members, target(BUDGET))[0]["context_management"] == members["context_management"]
    )


@pytest.mark.spec("XLT-91")
def test_a_missing_output_limit_gets_the_default() -> None:
    for cap, limit in ((None, 8192), (4096, 4096), (64000, 8192)):
        encoded = splice(
            b'{"model":"m","messages":[{"role":"user","content":"x"}]}', target(cap=cap)
        )
        assert json.loads(encoded.body)["max_tokens"] == limit
        assert [t.code for t in encoded.transforms] == ["max_tokens_defaulted"]
    body, _ = spliced({"max_tokens": None}, target())
    assert body["max_tokens"] == 8192


@pytest.mark.spec("XLT-92", "SCO-23")
def test_an_output_limit_over_the_cap_is_clamped() -> None:
    assert spliced({"max_tokens": 9000}, target(cap=4096))[0]["max_tokens"] == 4096
    assert spliced({"max_tokens": 9000}, target())[0]["max_tokens"] == 9000


@pytest.mark.spec("XLT-38")
def test_call_ids_are_made_legal_on_both_sides() -> None:
    messages = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a:1", "name": "f"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a:1"}]},
    ]
    body, codes = spliced({"messages": messages}, target())
    assert '"a:1"' not in json.dumps(body)
    assert json.dumps(body).count('"a_1"') == 2
    assert codes == ["call_id_cleaned", "call_id_cleaned"]


def test_what_the_catalog_says_is_refused_is_removed_and_recorded() -> None:
    facts = ModelFacts(refused_parameters=frozenset(["top_k", "output_config.effort", "model"]))
    config = {"effort": "high", "format": {"type": "json_schema"}}
    body, codes = spliced({"top_k": 3, "output_config": config}, target(facts))
    assert "top_k" not in body
    assert body["output_config"] == {"format": {"type": "json_schema"}}
    assert codes == ["parameter_refused", "parameter_refused"]
    assert body["model"] == "upstream"


@pytest.mark.spec("XLT-167")
def test_a_budget_becomes_an_effort_where_reasoning_is_adaptive() -> None:
    thinking = {"type": "enabled", "budget_tokens": 20000}
    body, _ = spliced({"thinking": thinking}, target(ADAPTIVE))
    assert body["thinking"] == {"type": "adaptive"}
    assert body["output_config"] == {"effort": "high"}
    assert spliced({"thinking": {"type": "adaptive"}}, target(ADAPTIVE))[1] == []


@pytest.mark.spec("XLT-167")
def test_adaptive_reasoning_becomes_a_budget_below_the_limit() -> None:
    members: Json = {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}
    body, _ = spliced(members, target(BUDGET, cap=4096))
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 1024}
    assert body["max_tokens"] == 1524
    assert "output_config" not in body


@pytest.mark.spec("XLT-166")
def test_an_effort_that_the_target_lacks_becomes_the_nearest() -> None:
    for effort, sent in (("xhigh", "high"), ("minimal", "low"), ("low", "low")):
        members: Json = {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}}
        body, codes = spliced(members, target(ADAPTIVE))
        assert body["output_config"] == {"effort": sent}
        assert codes == (["effort_projected"] if sent != effort else [])


@pytest.mark.spec("XLT-167")
def test_reasoning_that_cannot_be_switched_off_is_lowered() -> None:
    always = ModelFacts(
        reasoning="always", adaptive_thinking=True, reasoning_levels=("low", "high")
    )
    body, _ = spliced({"thinking": {"type": "disabled"}}, target(always))
    assert "thinking" not in body
    assert body["output_config"] == {"effort": "low"}


@pytest.mark.spec("XLT-177")
def test_equal_input_gives_equal_bytes() -> None:
    body = json.dumps(RICH).encode()
    assert splice(body, target()) == splice(body, target())


@pytest.mark.spec("XLT-37", "XLT-225")
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "thinking": st.sampled_from(
                [
                    {"type": "adaptive"},
                    {"type": "enabled", "budget_tokens": 9000},
                    {"type": "disabled"},
                    {},
                    None,
                ]
            ),
            "output_config": st.sampled_from(
                [{}, None, {"effort": "xhigh"}, {"effort": "low", "format": {}}, {"effort": 1}]
            ),
            "max_tokens": st.sampled_from([None, 5, 90000]),
            "top_k": st.just(1),
        },
    ),
    st.builds(
        ModelFacts,
        reasoning=st.sampled_from(["none", "optional", "always"]),
        reasoning_levels=st.sampled_from([(), ("low", "high")]),
        reasoning_budget=st.booleans(),
        adaptive_thinking=st.booleans(),
        refused_parameters=st.frozensets(
            st.sampled_from(
                ["thinking", "max_tokens", "output_config", "output_config.effort", "top_k"]
            )
        ),
    ),
    st.sampled_from([None, 600, 64000]),
)
def test_no_combination_of_edits_breaks_the_body(
    members: Json, facts: ModelFacts, cap: int | None
) -> None:
    body = json.dumps({**members, "messages": [USER], "model": "m", "x": "keep"}).encode()
    sent = json.loads(splice(body, target(facts, cap=cap)).body)
    assert (sent["model"], sent["messages"], sent["x"]) == ("upstream", [USER], "keep")
    assert (facts.refused_parameters - {"max_tokens"}).isdisjoint(sent)
    if "output_config.effort" in facts.refused_parameters:
        assert "effort" not in (sent.get("output_config") or {})
