from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.turns import Client, client_of, identifier
from services.domain.vocab import WireFamily

A = WireFamily.ANTHROPIC
C = WireFamily.OPENAI_CHAT
OPENCODE = "opencode/1.18.33 ai-sdk/4"

ROOT_THREAD = "/root"
"""What Codex calls the thread of the person."""


@pytest.mark.spec("TRN-11")
@pytest.mark.parametrize(
    ("named", "app"),
    [
        ("cli", "claude-code"),
        (" CLI-BG ", "claude-code"),
        ("My-App", "my-app"),
        ("x" * 32, "x" * 32),
        ("x" * 33, "codex"),
        ("", "codex"),
        ("   ", "codex"),
    ],
)
def test_the_named_program_goes_before_the_user_agent(named: str, app: str) -> None:
    client = client_of({"x-app": named, "user-agent": "codex-cli/1"}, A)
    assert (client.app, client.is_evaluation) == (app, False)


@pytest.mark.spec("TRN-11")
def test_evaluation_traffic_is_marked_and_its_program_kept() -> None:
    client = client_of({"x-app": "Eval-cli"}, A)
    assert (client.app, client.is_evaluation) == ("claude-code", True)


@pytest.mark.spec("TRN-12")
@pytest.mark.parametrize(
    ("agent", "app"),
    [
        ("claude-cli/2.1.197 (external, sdk-cli)", "claude-code"),
        ("codex_cli_rs/0.50", "codex"),
        ("Codex-CLI/1", "codex"),
        ("codex_exec/0.171.0 (Debian)", "codex"),
        ("codex/1", "codex"),
        ("a codex/1", ""),
        ("Cursor/2", "cursor"),
        ("GeminiCLI-tui/0.61.0/m (linux)", "gemini-cli"),
        ("google-genai-sdk/1.30.0", "gemini-cli"),
        (OPENCODE, "opencode"),
        ("aider/0.86", "aider"),
        ("OpenAI/Python 2.20.0", ""),
        ("", ""),
    ],
)
def test_the_user_agent_tells_the_program(agent: str, app: str) -> None:
    assert client_of({"user-agent": agent}, A) == Client(app=app)


@pytest.mark.spec("TRN-14")
@given(st.text(max_size=300))
def test_an_identifier_is_whole_or_nothing(value: str) -> None:
    assert identifier(value) in (value.strip(), "")
    assert len(identifier(value).encode("utf-8", "surrogatepass")) <= 128


@pytest.mark.spec("TRN-14", "XLT-28")
def test_a_long_identifier_is_dropped() -> None:
    assert identifier("x" * 128) == "x" * 128
    assert identifier("x" * 129) == ""
    assert client_of({"x-claude-code-agent-id": "x" * 129}, A) == Client()


@pytest.mark.spec("TRN-15")
@pytest.mark.parametrize("agent", ["build", "title", "explore", "compaction"])
def test_opencode_may_say_which_of_its_agents_asks(agent: str) -> None:
    headers = {"user-agent": OPENCODE, "x-router-opencode-agent": agent}
    assert client_of(headers, C).agent == agent
    assert client_of({**headers, "x-router-opencode-agent": agent + "s"}, C).agent == ""
    assert client_of({**headers, "user-agent": "curl"}, C).agent == ""


@pytest.mark.spec("TRN-22")
def test_headers_tell_sub_agents() -> None:
    claude = client_of({"x-claude-code-agent-id": "a70d"}, A)
    assert (claude.is_sub_agent, claude.agent_id) == (True, "a70d")
    assert client_of({"x-router-subagent-type": "explore"}, C).is_sub_agent
    assert not client_of({"x-router-subagent-type": "explore"}, A).is_sub_agent
    assert not client_of({"x-router-subagent-type": " "}, C).is_sub_agent
    parent = {"x-parent-session-id": "ses_1"}
    assert client_of({"user-agent": OPENCODE, **parent}, C).is_sub_agent
    assert not client_of(parent, C).is_sub_agent


@pytest.mark.spec("TRN-22")
def test_codex_tells_sub_agents_and_compactions_in_its_metadata() -> None:
    def told(**members: str) -> Client:
        headers = {"user-agent": "codex_exec/1", "x-codex-turn-metadata": json.dumps(members)}
        return client_of(headers, WireFamily.OPENAI_RESPONSES)

    root = told(agent_name=ROOT_THREAD, thread_source="user", request_kind="turn")
    assert not root.is_sub_agent
    assert not root.is_compaction
    assert told(agent_name=f"{ROOT_THREAD}/reviewer").is_sub_agent
    assert told(thread_source="subagent").is_sub_agent
    assert told(request_kind="compaction").is_compaction


@pytest.mark.parametrize("value", ["{", "[]", "null", '{"agent_name":3}', "x" * 9000])
def test_unreadable_metadata_says_nothing(value: str) -> None:
    headers = {"user-agent": "codex_exec/1", "x-codex-turn-metadata": value}
    assert client_of(headers, WireFamily.OPENAI_RESPONSES) == Client(app="codex")


def test_a_thread_beside_the_root_is_an_agent_of_its_own() -> None:
    headers = {"session-id": "s", "thread-id": "s"}
    assert client_of(headers, C).agent_id == ""
    assert client_of({**headers, "thread-id": "t"}, C).agent_id == "t"


@given(
    st.dictionaries(st.sampled_from(["x-app", "user-agent", "x-codex-turn-metadata"]), st.text())
)
def test_no_header_breaks_the_reading(headers: dict[str, str]) -> None:
    assert isinstance(client_of(headers, C), Client)
