"""What is done to a request of another dialect before any encoder sees it."""

from __future__ import annotations

import json

import pytest

from services.domain.catalog import ModelFacts, Quirks
from services.domain.vocab import WireFamily
from services.domain.wire.client_tools import (
    CLIENT_ONLY_TOOLS,
    ORCHESTRATION_TOOLS,
    removable,
)
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import (
    Reasoning,
    Request,
    Sampling,
    SystemBlock,
    Tool,
    ToolChoice,
    UnbuildableError,
)
from services.domain.wire.ready import MANY_TOOLS
from tests.unit.domain.wire.foreign_cases import (
    PAIRS,
    asked_with_call,
    encoded,
    functions,
    request,
    target,
    tool_names,
)

A, C, R, G = (
    WireFamily.ANTHROPIC,
    WireFamily.OPENAI_CHAT,
    WireFamily.OPENAI_RESPONSES,
    WireFamily.GEMINI,
)
SEARCH = Tool("server", "web_search", raw=b'{"type":"web_search"}')
KEY = b"a deployment's own key"


@pytest.mark.spec("XLT-85")
@pytest.mark.parametrize(("source", "to"), PAIRS)
def test_a_tool_of_another_vendor_is_left_out_and_recorded(
    source: WireFamily, to: WireFamily
) -> None:
    body, codes = encoded(request(source, tools=(SEARCH, *functions("f"))), target(to))
    assert tool_names(body) == ["f"]
    assert codes.count("server_tool") == 1
    body, codes = encoded(request(source, tools=(SEARCH,)), target(to))
    assert "tools" not in body
    assert "tool_choice" not in body


@pytest.mark.spec("XLT-85")
@pytest.mark.parametrize(
    "choice",
    [
        ToolChoice("named", name="web_search"),
        ToolChoice("allowed", names=("f", "web_search")),
    ],
)
@pytest.mark.parametrize(("source", "to"), PAIRS)
def test_a_chosen_tool_of_another_vendor_makes_the_target_unbuildable(
    source: WireFamily, to: WireFamily, choice: ToolChoice
) -> None:
    asked = request(source, tools=(*functions("f"), SEARCH), tool_choice=choice)
    with pytest.raises(UnbuildableError) as caught:
        encoded(asked, target(to))
    assert caught.value.path == "tools[1]"


@pytest.mark.spec("XLT-85")
def test_a_call_that_is_due_needs_a_tool_that_is_left() -> None:
    asked = request(R, tools=(SEARCH,), tool_choice=ToolChoice("required"))
    with pytest.raises(UnbuildableError):
        encoded(asked, target(A))


@pytest.mark.spec("XLT-85")
@pytest.mark.parametrize(
    "choice",
    [
        {"type": "web_search"},
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "web_search"}]},
    ],
)
def test_a_choice_by_kind_names_the_tool(choice: dict[str, object]) -> None:
    body = {"model": "m", "input": "hi", "tools": [{"type": "web_search"}], "tool_choice": choice}
    asked = codec_for(R).decode_request(json.dumps(body).encode())
    with pytest.raises(UnbuildableError):
        encoded(asked, target(A))


@pytest.mark.spec("XLT-85")
def test_its_own_dialect_keeps_a_server_tool() -> None:
    body, codes = encoded(request(R, tools=(SEARCH,)), target(R))
    assert (body["tools"], codes) == ([{"type": "web_search"}], [])


@pytest.mark.spec("XLT-90")
def test_tools_of_a_coding_client_stay_with_its_vendor() -> None:
    removed = frozenset({"TodoWrite", "Skill"})
    asked = asked_with_call(A, "Skill", tools=functions("Bash", "TodoWrite", "Skill"))
    body, codes = encoded(asked, target(C, removed_tools=removed))
    assert tool_names(body) == ["Bash"]
    assert codes.count("client_only_tool") == 2
    assert "'name': 'Skill'" in str(body["messages"]), "the history is not rewritten"
    other = request(G, tools=functions("Skill"))
    assert tool_names(encoded(other, target(C, removed_tools=removed))[0]) == ["Skill"]


@pytest.mark.spec("XLT-90")
def test_a_chosen_tool_of_a_coding_client_stays() -> None:
    asked = request(
        A, tools=functions("Bash", "Skill"), tool_choice=ToolChoice("named", name="Skill")
    )
    body, _ = encoded(asked, target(C, removed_tools=frozenset({"Skill", "Bash"})))
    assert tool_names(body) == ["Skill"]


@pytest.mark.spec("XLT-90")
@pytest.mark.parametrize("to", [C, R, G])
def test_without_any_tool_left_there_is_no_choice(to: WireFamily) -> None:
    asked = request(A, tools=functions("Skill"), tool_choice=ToolChoice("auto", parallel=False))
    body, _ = encoded(asked, target(to, removed_tools=frozenset({"Skill"})))
    gone = {"tools", "tool_choice", "parallel_tool_calls", "toolConfig"}
    assert gone.isdisjoint(body)


@pytest.mark.spec("XLT-83")
def test_the_list_is_cut_for_chat_targets_and_what_is_used_stays() -> None:
    names = [f"t{i}" for i in range(MANY_TOOLS + 2)]
    asked = asked_with_call(A, names[-1], tools=functions(*names))
    body, codes = encoded(asked, target(C))
    assert tool_names(body) == [*names[: MANY_TOOLS - 1], names[-1]]
    assert codes.count("too_many_tools") == 2
    for to in (target(C, ModelFacts(many_tools=True)), target(R), target(G)):
        body, codes = encoded(asked, to)
        assert (tool_names(body), codes.count("too_many_tools")) == (names, 0)
    exact = request(A, tools=functions(*names[:MANY_TOOLS]))
    assert len(tool_names(encoded(exact, target(C))[0])) == MANY_TOOLS


@pytest.mark.spec("XLT-104")
def test_another_vendor_sees_a_keyed_hash_of_the_user() -> None:
    asked = request(A, user="jane@example.com")
    for to in (C, R):
        body, codes = encoded(asked, target(to, user_hash_key=KEY))
        assert str(body["user"]).startswith("user_")
        assert "jane" not in str(body)
        assert "user_hashed" in codes
    again, _ = encoded(asked, target(C, user_hash_key=KEY))
    other, _ = encoded(asked, target(C, user_hash_key=b"another"))
    assert again["user"] == body["user"] != other["user"]
    told, _ = encoded(request(C, user="jane"), target(A, user_hash_key=KEY))
    assert str(told["metadata"]).startswith("{'user_id': 'user_")


@pytest.mark.spec("XLT-104")
@pytest.mark.parametrize(("source", "to"), PAIRS)
def test_a_bundle_and_a_user_without_key_stay_where_they_are(
    source: WireFamily, to: WireFamily
) -> None:
    bundle = '{"device_id":"d","account_uuid":"a","session_id":"s"}'
    for user, key in ((bundle, KEY), ("jane", b"")):
        body, codes = encoded(request(source, user=user), target(to, user_hash_key=key))
        assert {"user", "metadata", "labels"}.isdisjoint(body)
        assert codes == ["user"]


@pytest.mark.spec("XLT-104", "XLT-105")
def test_the_same_vendor_keeps_what_both_its_dialects_know() -> None:
    extras = (("service_tier", b'"flex"'), ("metadata", b'{"a":"b"}'), ("background", b"false"))
    asked = request(C, user="jane", extras=extras)
    body, codes = encoded(asked, target(R, is_vendor=True))
    assert (body["user"], body["service_tier"], body["metadata"]) == ("jane", "flex", {"a": "b"})
    assert (codes, "background" in body) == (["unknown_field"], False)
    body, codes = encoded(asked, target(R))
    assert {"user", "service_tier", "metadata"}.isdisjoint(body)


@pytest.mark.spec("XLT-105")
@pytest.mark.parametrize(
    ("source", "members"),
    [
        (A, ("service_tier", "speed", "container")),
        (C, ("service_tier", "store", "metadata")),
        (R, ("include", "truncation", "background", "store")),
        (G, ("safetySettings", "cachedContent")),
    ],
)
def test_what_one_vendor_sells_is_never_asked_of_another(
    source: WireFamily, members: tuple[str, ...]
) -> None:
    extras = tuple((name, b'"x"') for name in members)
    for to in (A, C, R, G):
        if to is source:
            continue
        body, codes = encoded(request(source, extras=extras), target(to))
        assert set(members) & body.keys() <= {"store", "include"}
        assert body.get("store", False) is False
        assert len([code for code in codes if code in ("unknown_field", "extra_dropped")]) == len(
            members
        )


@pytest.mark.spec("XLT-100")
def test_log_probabilities_are_asked_for_where_they_are_known() -> None:
    asked = request(C, sampling=Sampling(logprobs=True, top_logprobs=3))
    body, codes = encoded(asked, target(A))
    assert "logprobs" not in str(body)
    assert codes == ["parameter_unsupported", "parameter_unsupported"]
    body, _ = encoded(asked, target(R))
    assert "message.output_text.logprobs" in str(body["include"])
    assert body["top_logprobs"] == 3
    body, _ = encoded(asked, target(G))
    assert body["generationConfig"] == {"responseLogprobs": True, "logprobs": 3}
    body, _ = encoded(request(G, sampling=asked.sampling), target(C))
    assert (body["logprobs"], body["top_logprobs"]) == (True, 3)


PINNED = Quirks(
    members=(
        ("provider", b'{"order":["vendor"],"allow_fallbacks":false}'),
        ("reasoning", b'{"enabled":false}'),
    ),
    tool_members=(("temperature", b"0"),),
    tool_guidance="exact_edits",
)


def with_quirks(asked: Request, quirks: Quirks = PINNED) -> tuple[dict[str, object], list[str]]:
    return encoded(asked, target(C, ModelFacts(reasoning="optional"), quirks=quirks))


@pytest.mark.spec("XLT-207", "XLT-208", "XLT-209", "XLT-211", "XLT-212")
def test_an_endpoint_gets_what_its_binding_wants() -> None:
    asked = request(A, tools=functions("edit"), system=(SystemBlock("You code."),))
    body, codes = with_quirks(asked)
    assert body["provider"] == {"order": ["vendor"], "allow_fallbacks": False}
    assert (body["reasoning"], body["temperature"]) == ({"enabled": False}, 0)
    messages = body["messages"]
    assert isinstance(messages, list)
    assert messages[0]["content"].startswith("You code.\n")
    assert "exactly" in messages[0]["content"]
    assert codes.count("endpoint_default") == 3
    assert codes.count("tool_guidance") == 1


@pytest.mark.spec("XLT-209", "XLT-213")
def test_an_empty_list_of_tools_counts_as_none() -> None:
    body, codes = with_quirks(request(A))
    assert {"temperature", "tools"}.isdisjoint(body)
    assert "tool_guidance" not in codes


@pytest.mark.spec("XLT-213")
def test_what_the_client_says_wins() -> None:
    asked = request(
        A,
        tools=functions("edit"),
        sampling=Sampling(temperature=0.4),
        reasoning=Reasoning("level", level="high"),
    )
    body, _ = with_quirks(asked)
    assert (body["temperature"], body["reasoning_effort"]) == (0.4, "high")
    assert "reasoning" not in body


@pytest.mark.spec("XLT-213")
def test_another_endpoint_of_the_model_gets_none_of_it() -> None:
    asked = request(A, tools=functions("edit"))
    plain, codes = with_quirks(asked, Quirks())
    assert {"provider", "reasoning", "temperature"}.isdisjoint(plain)
    assert codes == []
    own, codes = with_quirks(request(C, tools=functions("edit")))
    assert {"provider", "reasoning", "temperature"}.isdisjoint(own)
    assert codes == []


@pytest.mark.spec("XLT-210")
def test_guidance_on_edits_comes_with_tools_only() -> None:
    quirks = Quirks(tool_guidance="edit_tools")
    body, _ = encoded(request(A, tools=functions("edit")), target(G, quirks=quirks))
    assert "change was asked for" in str(body["systemInstruction"])
    body, _ = encoded(request(A), target(G, quirks=quirks))
    assert "systemInstruction" not in body


@pytest.mark.spec("XLT-176")
def test_the_vendor_s_cache_key_is_the_caller_s_the_session_s_or_the_prefix_s() -> None:
    asked = request(A, system=(SystemBlock("You code."),), tools=functions("f"))
    vendor = target(R, is_vendor=True)
    key = encoded(asked, vendor)[0]["prompt_cache_key"]
    assert str(key).startswith("prefix_")
    assert encoded(asked, vendor)[0]["prompt_cache_key"] == key
    changed = request(A, system=(SystemBlock("You write."),), tools=functions("f"))
    assert encoded(changed, vendor)[0]["prompt_cache_key"] != key
    session = target(R, is_vendor=True, affinity_key="s1")
    assert encoded(asked, session)[0]["prompt_cache_key"] == "s1"
    own = request(C, extras=(("prompt_cache_key", b'"mine"'),))
    assert encoded(own, session)[0]["prompt_cache_key"] == "mine"
    assert "prompt_cache_key" not in encoded(request(A), vendor)[0]
    assert "prompt_cache_key" not in encoded(asked, target(R))[0]


@pytest.mark.spec("XLT-90")
def test_one_tool_of_a_common_name_is_anybody_s() -> None:
    few = frozenset({"Agent"})
    assert removable(few, CLIENT_ONLY_TOOLS) == frozenset()
    client = frozenset({"Agent", "Skill", "TodoWrite", "Bash"})
    assert removable(client, CLIENT_ONLY_TOOLS) == client - {"Bash"}
    assert removable(few, few) == few
    assert ORCHESTRATION_TOOLS < CLIENT_ONLY_TOOLS
