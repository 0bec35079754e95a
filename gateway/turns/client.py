"""Which program asks, and which of its agents, as far as headers tell. Pure.

Nothing here is trusted: it never decides on authentication, billing or what may serve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.turns import marks
from services.domain.vocab import WireFamily
from services.domain.wire.reading import mapping, peek, text

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_IDENTIFIER_BYTES = 128
MAX_APP_BYTES = 32
MAX_METADATA_BYTES = 8 * 1024

EVALUATION_PREFIX = "eval-"
"""Before the program's name in ``X-App``: the traffic is an evaluation's."""

AGENT_HEADER = "x-router-opencode-agent"
SUB_AGENT_HEADER = "x-router-subagent-type"
CLAUDE_AGENT_HEADER = "x-claude-code-agent-id"
PARENT_SESSION_HEADER = "x-parent-session-id"
CODEX_METADATA_HEADER = "x-codex-turn-metadata"

OPENCODE_AGENTS = frozenset({"build", "title", "explore", "compaction"})

_APPS_BY_X_APP = {"cli": marks.CLAUDE_CODE, "cli-bg": marks.CLAUDE_CODE}
_AGENT_SIGNS = (
    ("claude-cli", marks.CLAUDE_CODE),
    ("codex_cli", marks.CODEX),
    ("codex-cli", marks.CODEX),
    ("codex_exec", marks.CODEX),
    ("cursor", marks.CURSOR),
    ("gemini-cli", marks.GEMINI_CLI),
    ("geminicli", marks.GEMINI_CLI),
    ("google-genai", marks.GEMINI_CLI),
    ("opencode", marks.OPENCODE),
    ("aider", marks.AIDER),
)
_ROOT_AGENTS = ("", "/root")


@dataclass(frozen=True, slots=True)
class Client:
    """What the headers of a request say of its sender."""

    app: str = ""
    """Name of the program; empty: unknown."""
    is_evaluation: bool = False
    agent: str = ""
    """Agent of opencode that asks, of a closed set."""
    agent_id: str = ""
    """Id of the sub-agent that asks; empty: the main loop, or unknown."""
    is_sub_agent: bool = False
    is_compaction: bool = False


def client_of(headers: Mapping[str, str], surface: WireFamily) -> Client:
    """Return who asks."""
    app, is_evaluation = _app(headers)
    agent = headers.get(AGENT_HEADER, "").strip() if app == marks.OPENCODE else ""
    agent_id = identifier(headers.get(CLAUDE_AGENT_HEADER, ""))
    codex = _codex_metadata(headers) if app in ("", marks.CODEX) else {}
    hint = headers.get(SUB_AGENT_HEADER, "").strip()
    return Client(
        app=app,
        is_evaluation=is_evaluation,
        agent=agent if agent in OPENCODE_AGENTS else "",
        agent_id=agent_id or _codex_thread(headers),
        is_sub_agent=bool(
            agent_id
            or (hint and surface is not WireFamily.ANTHROPIC)
            or (app == marks.OPENCODE and identifier(headers.get(PARENT_SESSION_HEADER, "")))
            or text(codex.get("agent_name")) not in _ROOT_AGENTS
            or text(codex.get("thread_source")).startswith("subagent")
        ),
        is_compaction=text(codex.get("request_kind")).startswith("compact"),
    )


def identifier(value: str) -> str:
    """Return an identifier of the caller's, trimmed; one that is too long counts as none.

    A shortened one would look valid and name something else.
    """
    if not value:
        return ""
    trimmed = value.strip()
    is_fit = len(trimmed.encode("utf-8", "surrogatepass")) <= MAX_IDENTIFIER_BYTES
    return trimmed if is_fit else ""


def _app(headers: Mapping[str, str]) -> tuple[str, bool]:
    named = headers.get("x-app", "").strip().lower()
    is_evaluation = named.startswith(EVALUATION_PREFIX)
    named = named.removeprefix(EVALUATION_PREFIX)
    if 1 <= len(named.encode("utf-8", "surrogatepass")) <= MAX_APP_BYTES:
        return _APPS_BY_X_APP.get(named, named), is_evaluation
    return _app_of_user_agent(headers.get("user-agent", "").lower()), is_evaluation


def _app_of_user_agent(agent: str) -> str:
    for sign, app in _AGENT_SIGNS:
        if sign in agent:
            return app
    return marks.CODEX if agent.startswith("codex/") else ""


def _codex_metadata(headers: Mapping[str, str]) -> Mapping[str, object]:
    value = headers.get(CODEX_METADATA_HEADER, "")
    if not value or len(value) > MAX_METADATA_BYTES:
        return {}
    return mapping(peek(value))


def _codex_thread(headers: Mapping[str, str]) -> str:
    """Return the thread where it is another than the session's root."""
    session = identifier(headers.get("session-id", ""))
    thread = identifier(headers.get("thread-id", ""))
    return thread if session and thread != session else ""
