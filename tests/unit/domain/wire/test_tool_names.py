"""Names of tools that a dialect does not allow."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.vocab import WireFamily
from services.domain.wire.assemble import events_of
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import (
    Response,
    Stop,
    StopReason,
    Tool,
    ToolChoice,
    ToolUse,
    Usage,
)
from services.domain.wire.tool_names import aliases_of, original_names
from tests.unit.domain.wire.contexts import context
from tests.unit.domain.wire.foreign_cases import (
    FAMILIES,
    PAIRS,
    asked_with_call,
    encoded,
    functions,
    target,
    tool_names,
)

LEGAL = {
    WireFamily.ANTHROPIC: r"[A-Za-z0-9_-]{1,128}",
    WireFamily.OPENAI_CHAT: r"[A-Za-z0-9_-]{1,64}",
    WireFamily.OPENAI_RESPONSES: r"[A-Za-z0-9_-]{1,64}",
    WireFamily.GEMINI: r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}",
}
ODD = "files/read: all"
LONG = "x" * 130


@pytest.mark.spec("XLT-81")
@pytest.mark.parametrize(("source", "to"), PAIRS)
def test_an_illegal_name_is_an_alias_wherever_it_stands(source: WireFamily, to: WireFamily) -> None:
    asked = asked_with_call(
        source, ODD, tools=functions(ODD, "fine"), tool_choice=ToolChoice("named", name=ODD)
    )
    body, codes = encoded(asked, target(to))
    alias, other = tool_names(body)
    assert re.fullmatch(LEGAL[to], alias)
    assert other == "fine"
    assert ODD not in str(body)
    assert str(body).count(alias) >= 3
    assert codes.count("tool_name_aliased") == 1


@pytest.mark.spec("XLT-81")
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
def test_answers_have_the_client_s_own_names(client: WireFamily, upstream: WireFamily) -> None:
    tools = functions(ODD, LONG)
    aliases = aliases_of(tools, upstream)
    calls = tuple(ToolUse(f"c{i}", aliases[name], b"{}") for i, name in enumerate((ODD, LONG)))
    stop = Stop(StopReason.TOOL_USE)
    response = Response("r", "up-m", (*calls, ToolUse("c9", "fine", b"{}")), stop, Usage())
    codec = codec_for(client)
    whole = codec.encode_response(response, context(tools, upstream)).decode()
    stream = codec.stream_encoder(context(tools, upstream)).feed(events_of(response)).decode()
    for shown in (whole, stream):
        assert ODD in shown
        assert LONG in shown
        assert "fine" in shown
        assert not any(alias in shown for alias in aliases.values() if alias not in LONG)


@pytest.mark.spec("XLT-81")
def test_names_that_would_be_one_get_a_digest() -> None:
    aliases = aliases_of(functions("a.b", "a/b", "a_b"), WireFamily.OPENAI_CHAT)
    assert set(aliases) == {"a.b", "a/b"}
    assert len({*aliases.values(), "a_b"}) == 3
    assert all(re.fullmatch(r"a_b_[0-9a-f]{8}", alias) for alias in aliases.values())
    assert aliases_of(functions("a.b"), WireFamily.OPENAI_CHAT) == {"a.b": "a_b"}
    assert aliases_of(functions("1st"), WireFamily.GEMINI) == {"1st": "_1st"}


@pytest.mark.spec("XLT-81")
def test_a_name_that_only_the_history_knows_is_made_legal_too() -> None:
    body, _ = encoded(
        asked_with_call(WireFamily.ANTHROPIC, "gone/tool", tools=functions("fine")),
        target(WireFamily.OPENAI_CHAT),
    )
    assert "gone/tool" not in str(body)
    assert re.search(r"'gone_tool_[0-9a-f]{8}'", str(body))


@pytest.mark.spec("XLT-81")
def test_a_client_s_own_dialect_keeps_its_names() -> None:
    asked = asked_with_call(WireFamily.OPENAI_CHAT, ODD, tools=functions(ODD))
    body, codes = encoded(asked, target(WireFamily.OPENAI_CHAT))
    assert tool_names(body) == [ODD]
    assert codes == []
    assert original_names(context(functions(ODD))) == {}


@given(
    st.lists(st.text(min_size=1, max_size=140), min_size=1, max_size=6, unique=True),
    st.sampled_from(FAMILIES),
)
@pytest.mark.spec("XLT-81")
def test_aliases_are_legal_and_can_be_reversed(names: list[str], family: WireFamily) -> None:
    tools = tuple(Tool("function", name) for name in names)
    aliases = aliases_of(tools, family)
    sent = [aliases.get(name, name) for name in names]
    assert all(re.fullmatch(LEGAL[family], name) for name in sent)
    assert len(set(sent)) == len(names)
    back = original_names(context(tools, family))
    assert [back.get(name, name) for name in sent] == names
    assert aliases_of(tools[::-1], family) == aliases
