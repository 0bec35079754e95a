from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.turns import Client, marks, turn_type_of
from services.domain.vocab import TurnType, WireFamily
from services.domain.wire.features import features_of
from services.domain.wire.model import Limits, Request, Role, SystemBlock, Text, Turn
from tests.unit.gateway.turns.bodies import (
    BILLING,
    CHAT_TOOL,
    CLAUDE,
    CODEX,
    OPENCODE,
    TITLE_SCHEMA,
    TOOL,
    assistant,
    chat_body,
    messages_body,
    tool_round,
    typed,
    user,
)

SUMMARY_TASK = "Your task is to create a detailed summary of this made-up talk."
NO_TOOLS = "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools."
CHECKPOINT = "You are performing a CONTEXT CHECKPOINT COMPACTION. Hand over."
CODEX_TITLE = "Look at this: your job is to provide a short title for a task."
TITLE_FORMAT = {"format": {"type": "json_schema", "schema": TITLE_SCHEMA}}


@pytest.mark.spec("TRN-16")
@pytest.mark.parametrize(
    ("limit", "tools", "expected"),
    [
        (1, [], TurnType.PROBE),
        (4, [], TurnType.PROBE),
        (4, [TOOL], TurnType.PROBE),
        (5, [], TurnType.CLASSIFIER),
        (5, [TOOL], TurnType.MAIN_LOOP),
        (256, [], TurnType.CLASSIFIER),
        (257, [], TurnType.MAIN_LOOP),
    ],
)
def test_small_limits_make_probes_and_classifiers(
    limit: int, tools: list[object], expected: TurnType
) -> None:
    assert typed(messages_body([user("hi")], max_tokens=limit, tools=tools)) is expected


@pytest.mark.spec("TRN-16")
def test_an_unset_limit_makes_neither() -> None:
    assert typed(chat_body([user("hi")])) is TurnType.MAIN_LOOP


@pytest.mark.spec("TRN-16")
def test_a_classifier_is_a_short_conversation() -> None:
    talk = [user("a"), assistant("b"), user("c")]
    assert typed(messages_body(talk, max_tokens=64)) is TurnType.CLASSIFIER
    talk += [assistant("d")]
    assert typed(messages_body(talk, max_tokens=64)) is TurnType.MAIN_LOOP


@pytest.mark.spec("TRN-17")
def test_a_title_schema_is_found_where_each_surface_has_it() -> None:
    messages = messages_body([user("hi")], output_config=TITLE_FORMAT)
    form = {"type": "json_schema", "json_schema": {"name": "t", "schema": TITLE_SCHEMA}}
    assert typed(messages, CLAUDE) is TurnType.TITLE_GEN
    assert typed(chat_body([user("hi")], response_format=form)) is TurnType.TITLE_GEN


@pytest.mark.spec("TRN-17")
def test_any_tool_makes_it_no_title() -> None:
    made = messages_body([user("hi")], output_config=TITLE_FORMAT, tools=[TOOL])
    assert typed(made) is TurnType.MAIN_LOOP
    system = {"role": "system", "content": "You are a title generator. Go."}
    asked = chat_body([system, user("hi")], tools=[CHAT_TOOL])
    assert typed(asked, OPENCODE) is TurnType.MAIN_LOOP


@pytest.mark.spec("TRN-18")
@pytest.mark.parametrize("properties", [{"summary": {"type": "string"}}, {"title": {}}, {}])
def test_another_schema_is_no_title(properties: Mapping[str, object]) -> None:
    schema = {"type": "object", "properties": properties}
    form = {"format": {"type": "json_schema", "schema": schema}}
    assert typed(messages_body([user("hi")], output_config=form)) is TurnType.MAIN_LOOP


@pytest.mark.spec("TRN-18")
def test_asking_for_a_title_in_words_is_no_title() -> None:
    assert typed(messages_body([user("a title, please")]), CLAUDE) is TurnType.MAIN_LOOP


def test_titles_of_codex_and_opencode_are_known_by_their_words() -> None:
    assert typed(chat_body([user(CODEX_TITLE)]), CODEX) is TurnType.TITLE_GEN
    assert typed(messages_body([user(CODEX_TITLE)]), CODEX) is TurnType.MAIN_LOOP
    system = {"role": "system", "content": "You are a title generator. Go."}
    assert typed(chat_body([system, user("hi")]), OPENCODE) is TurnType.TITLE_GEN
    agent = {**OPENCODE, "x-router-opencode-agent": "title"}
    assert typed(chat_body([user("hi")]), agent) is TurnType.TITLE_GEN


@pytest.mark.spec("TRN-19")
def test_earlier_kinds_win() -> None:
    probe = messages_body([user("hi")], output_config=TITLE_FORMAT, max_tokens=1)
    assert typed(probe) is TurnType.PROBE
    title = messages_body([user(SUMMARY_TASK + NO_TOOLS)], output_config=TITLE_FORMAT)
    assert typed(title, CLAUDE) is TurnType.TITLE_GEN
    agent = {**CLAUDE, "x-claude-code-agent-id": "a1"}
    compaction = messages_body([user(NO_TOOLS + SUMMARY_TASK)], max_tokens=200)
    assert typed(compaction, agent) is TurnType.COMPACTION
    assert typed(messages_body([user("hi")], max_tokens=200), agent) is TurnType.SUB_AGENT_DISPATCH
    result = messages_body([user("hi"), *tool_round()])
    assert typed(result, agent) is TurnType.SUB_AGENT_DISPATCH


@pytest.mark.spec("TRN-20")
def test_claude_code_compacts_by_its_system_text_or_its_last_message() -> None:
    system = messages_body([user("hi")], system=[{"type": "text", "text": SUMMARY_TASK}])
    assert typed(system, CLAUDE) is TurnType.COMPACTION
    behind_a_result = messages_body(
        [user("hi"), *tool_round(f"{NO_TOOLS}\n\n{SUMMARY_TASK}")], tools=[TOOL]
    )
    assert typed(behind_a_result, CLAUDE) is TurnType.COMPACTION
    assert typed(messages_body([user(SUMMARY_TASK)]), CLAUDE) is TurnType.MAIN_LOOP
    late = messages_body([user("x" * 4096 + NO_TOOLS + SUMMARY_TASK)])
    assert typed(late, CLAUDE) is TurnType.MAIN_LOOP


@pytest.mark.spec("TRN-20")
def test_codex_and_opencode_compact_in_their_own_words() -> None:
    assert typed(chat_body([user(CHECKPOINT)]), CODEX) is TurnType.COMPACTION
    assert typed(messages_body([user(CHECKPOINT)]), CODEX) is TurnType.COMPACTION
    assert typed(chat_body([user(CHECKPOINT)]), CLAUDE) is TurnType.MAIN_LOOP
    agent = {**OPENCODE, "x-router-opencode-agent": "compaction"}
    assert typed(chat_body([user("hi")]), agent) is TurnType.COMPACTION


@pytest.mark.spec("TRN-20")
def test_talk_of_compacting_is_no_compaction() -> None:
    made = messages_body([user("please compact the conversation and summarise it")])
    assert typed(made, CLAUDE) is TurnType.MAIN_LOOP


@pytest.mark.spec("TRN-21")
def test_the_words_of_claude_code_mean_nothing_on_other_surfaces() -> None:
    system = {"role": "system", "content": SUMMARY_TASK}
    assert typed(chat_body([system, user("hi")]), CLAUDE) is TurnType.MAIN_LOOP


def test_a_recap_is_asked_for_after_an_absence() -> None:
    made = messages_body([user("The user stepped away. Recap it shortly.")], tools=[TOOL])
    assert typed(made, CLAUDE) is TurnType.RECAP
    assert typed(messages_body([user("recap, please")]), CLAUDE) is TurnType.MAIN_LOOP


@pytest.mark.spec("TRN-22")
def test_bodies_tell_sub_agents() -> None:
    flagged = [{"type": "text", "text": f"{BILLING} cc_is_subagent=true;"}]
    assert typed(messages_body([user("x")], system=flagged)) is TurnType.SUB_AGENT_DISPATCH
    named = messages_body([user("x")], metadata={"user_id": "subagent:explore"})
    assert typed(named) is TurnType.SUB_AGENT_DISPATCH
    opened = messages_body([user("Judge: <transcript>…</transcript>")])
    assert typed(opened) is TurnType.SUB_AGENT_DISPATCH
    agent = {**OPENCODE, "x-router-opencode-agent": "explore"}
    assert typed(chat_body([user("hi")]), agent) is TurnType.SUB_AGENT_DISPATCH


@pytest.mark.spec("TRN-23")
def test_the_same_words_elsewhere_mean_nothing() -> None:
    late = messages_body([user("x" * 60 + "<transcript>")])
    assert typed(late) is TurnType.MAIN_LOOP
    tool = {**TOOL, "description": "subagent_type cc_is_subagent=true <transcript>"}
    assert typed(messages_body([user("hi")], tools=[tool])) is TurnType.MAIN_LOOP
    prompt = [{"type": "text", "text": f"{BILLING}\ncc_is_subagent=true"}]
    assert typed(messages_body([user("hi")], system=prompt)) is TurnType.MAIN_LOOP
    second = [{"type": "text", "text": "a"}, {"type": "text", "text": "b cc_is_subagent=true"}]
    assert typed(messages_body([user("hi")], system=second)) is TurnType.MAIN_LOOP


@pytest.mark.spec("TRN-24")
@pytest.mark.parametrize("app", [marks.CURSOR, marks.GEMINI_CLI])
def test_programs_without_marks_of_their_own_are_read_by_no_others(app: str) -> None:
    for words in (NO_TOOLS + SUMMARY_TASK, CHECKPOINT, "stepped away, recap"):
        assert typed(messages_body([user(words)]), {"x-app": app}) is TurnType.MAIN_LOOP


def test_the_last_message_that_is_no_system_message_counts() -> None:
    injected = {"role": "system", "content": "agents: none"}
    assert typed(messages_body([user("hi"), *tool_round(), injected])) is TurnType.TOOL_RESULT
    assert typed(messages_body([user("hi"), injected]), CLAUDE) is TurnType.MAIN_LOOP


def test_a_tool_result_beside_text_is_a_tool_result() -> None:
    assert typed(messages_body([user("hi"), *tool_round("and?")])) is TurnType.TOOL_RESULT
    call = {"id": "t1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    chat: list[dict[str, object]] = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "t1", "content": "ok"},
    ]
    assert typed(chat_body(chat, tools=[CHAT_TOOL])) is TurnType.TOOL_RESULT


def test_the_complexity_request_of_gemini_cli_is_a_classifier() -> None:
    properties = {f"complexity_{part}": {"type": "STRING"} for part in ("reasoning", "score")}
    schema = {"type": "OBJECT", "properties": properties}
    form = {"type": "json_schema", "json_schema": {"name": "c", "schema": schema}}
    assert typed(chat_body([user("hi")], response_format=form)) is TurnType.CLASSIFIER


@given(
    st.sampled_from(WireFamily),
    st.lists(st.text(max_size=80), max_size=3),
    st.lists(st.text(max_size=80), max_size=2),
    st.none() | st.integers(-5, 10_000),
)
def test_every_request_has_exactly_one_kind(
    family: WireFamily, said: list[str], system: list[str], limit: int | None
) -> None:
    request = Request(
        family=family,
        model="m",
        is_stream=False,
        system=tuple(SystemBlock(text) for text in system),
        turns=tuple(Turn(Role.USER, (Text(text),)) for text in said),
        limits=Limits(limit),
    )
    kind = turn_type_of(request, features_of(request, 10), Client())
    assert kind in TurnType
    assert turn_type_of(request, features_of(request, 10), Client()) is kind
