"""Needs of requests against what targets carry."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.features import Requirement, features_of
from services.domain.wire.model import Media, Request, Role, ToolChoice, Turn
from services.domain.wire.requirements import WAIVED, is_carried, unmet
from tests.unit.domain.wire.foreign_cases import FAMILIES, PAIRS, functions, request
from tests.unit.domain.wire.test_ready import SEARCH

A, C, R, G = (
    WireFamily.ANTHROPIC,
    WireFamily.OPENAI_CHAT,
    WireFamily.OPENAI_RESPONSES,
    WireFamily.GEMINI,
)
PLAIN = ModelFacts()


def needs_of(asked: Request) -> set[Requirement]:
    """Return the needs of a request."""
    return set(features_of(asked, 10).requirements)


@pytest.mark.spec("XLT-216")
@pytest.mark.parametrize(("source", "to"), PAIRS)
def test_reasoning_state_excludes_nobody(source: WireFamily, to: WireFamily) -> None:
    needs = (Requirement.REASONING_STATE,)
    assert is_carried(needs, source, to)
    assert unmet(needs, source, to, PLAIN) == ()


@pytest.mark.spec("XLT-217")
@pytest.mark.parametrize(("source", "to"), PAIRS)
@pytest.mark.parametrize("need", [Requirement.SERVER_TOOLS, Requirement.CITATIONS])
def test_a_vendor_s_own_tools_and_citations_are_met_by_its_dialect(
    source: WireFamily, to: WireFamily, need: Requirement
) -> None:
    assert unmet((need,), source, to, PLAIN) == (need,)
    assert unmet((need,), source, source, PLAIN) == ()
    assert is_carried((need,), source, to)


@pytest.mark.spec("XLT-218")
def test_other_needs_are_met_by_what_the_catalog_says() -> None:
    schema = (Requirement.STRUCTURED_OUTPUT,)
    assert unmet(schema, A, C, PLAIN) == ()
    assert unmet(schema, A, C, ModelFacts(structured_output=False)) == schema
    many = (Requirement.MANY_TOOLS,)
    assert unmet(many, A, C, PLAIN) == many
    assert unmet(many, A, C, ModelFacts(many_tools=True)) == ()
    assert unmet(many, A, R, PLAIN) == unmet(many, A, G, PLAIN) == ()
    forced = (Requirement.FORCED_CALL,)
    assert unmet(forced, A, C, PLAIN) == unmet(forced, A, A, PLAIN) == ()
    assert unmet(forced, A, A, ModelFacts(forced_tool_use=False)) == forced
    odds = (Requirement.LOGPROBS,)
    assert unmet(odds, C, A, PLAIN) == odds
    assert unmet(odds, C, C, PLAIN) == ()
    several = (Requirement.MULTI_CANDIDATE,)
    assert not is_carried(several, C, A)
    assert is_carried(several, C, G)


@pytest.mark.spec("XLT-214", "XLT-85")
def test_a_chosen_server_tool_needs_its_own_dialect() -> None:
    tools = (SEARCH, *functions("f"))
    chosen = request(R, tools=tools, tool_choice=ToolChoice("named", name="web_search"))
    assert Requirement.NATIVE_ONLY in needs_of(chosen)
    assert not is_carried((Requirement.NATIVE_ONLY,), R, A)
    assert is_carried((Requirement.NATIVE_ONLY,), R, R)
    for choice in (ToolChoice(), ToolChoice("named", name="f"), ToolChoice("required")):
        needs = needs_of(request(R, tools=tools, tool_choice=choice))
        assert Requirement.SERVER_TOOLS in needs
        assert Requirement.NATIVE_ONLY not in needs


@pytest.mark.spec("XLT-214", "XLT-217")
@pytest.mark.parametrize(
    ("kind", "need"),
    [
        ("web_search_call", Requirement.SERVER_TOOLS),
        ("mcp_list_tools", Requirement.SERVER_TOOLS),
        ("computer_call_output", Requirement.SERVER_TOOLS),
        ("compaction", Requirement.NATIVE_ONLY),
    ],
)
def test_items_of_the_vendor_s_tools_are_told_from_unknown_ones(
    kind: str, need: Requirement
) -> None:
    items = [{"role": "user", "content": "hi"}, {"type": kind, "id": "x"}]
    body = json.dumps({"model": "m", "input": items}).encode()
    needs = needs_of(codec_for(R).decode_request(body))
    assert needs & {Requirement.SERVER_TOOLS, Requirement.NATIVE_ONLY} == {need}


@pytest.mark.spec("XLT-86")
def test_a_choice_that_forces_a_call_is_a_need_where_there_is_a_tool() -> None:
    tools = functions("f")
    needy = [ToolChoice("required"), ToolChoice("named", name="f")]
    needy.append(ToolChoice("allowed", names=("f",), is_call_required=True))
    for choice in needy:
        assert Requirement.FORCED_CALL in needs_of(request(A, tools=tools, tool_choice=choice))
        assert Requirement.FORCED_CALL not in needs_of(request(A, tool_choice=choice))
    for choice in (ToolChoice("auto"), ToolChoice("none"), ToolChoice("allowed", names=("f",))):
        assert Requirement.FORCED_CALL not in needs_of(request(A, tools=tools, tool_choice=choice))


@given(
    st.lists(st.sampled_from(Requirement), unique=True),
    st.sampled_from(FAMILIES),
    st.builds(ModelFacts, structured_output=st.booleans(), many_tools=st.booleans()),
)
@pytest.mark.spec("XLT-219")
def test_its_own_dialect_loses_nothing_and_halves_are_never_more_than_asked(
    needs: list[Requirement], family: WireFamily, facts: ModelFacts
) -> None:
    assert is_carried(needs, family, family)
    for to in FAMILIES:
        assert set(unmet(needs, family, to, facts)) <= set(needs)
    assert set(unmet(needs, family, family, facts)) <= {Requirement.STRUCTURED_OUTPUT}
    assert Requirement.NATIVE_ONLY not in WAIVED


@pytest.mark.spec("XLT-58", "XLT-215")
@pytest.mark.parametrize("source", FAMILIES)
def test_a_document_by_address_goes_where_such_are_read(source: WireFamily) -> None:
    document = Media("document", url="https://x.example/a.pdf")
    needs = needs_of(request(source, turns=(Turn(Role.USER, (document,), 0),)))
    assert {to for to in FAMILIES if is_carried(tuple(needs), source, to)} == {A, R, source}
