"""Real client programs, wired as the README says, and the conversation that all of them hold."""

from __future__ import annotations

from tests.e2e.desks.claude_code import ClaudeCode
from tests.e2e.desks.codex import Codex
from tests.e2e.desks.desk import SECRET_WORD, Desk, Program, desk_in, needs
from tests.e2e.desks.gemini_cli import GeminiCli
from tests.e2e.desks.opencode import Opencode

__all__ = [
    "SECRET_WORD",
    "ClaudeCode",
    "Codex",
    "Desk",
    "GeminiCli",
    "Opencode",
    "Program",
    "desk_in",
    "needs",
]
