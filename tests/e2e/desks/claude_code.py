"""Claude Code, which speaks Messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from services.domain.vocab import WireFamily
from tests.e2e.desks.desk import PACKAGES, Desk
from tests.fakes.upstream import ToolCall


class ClaudeCode:
    """Runs Claude Code without its screen."""

    name = "claude"
    family = WireFamily.ANTHROPIC
    executable = PACKAGES / ".bin" / "claude"
    quieting: Mapping[str, str] = {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
    }

    def settle(self, desk: Desk, wiring: str, models: Sequence[str]) -> str:
        """Return the README's block, and the models that the environment names."""
        (model,) = models
        return f"export ANTHROPIC_MODEL={model} ANTHROPIC_SMALL_FAST_MODEL={model}\n{wiring}"

    def arguments(self, words: str, model: str, *, is_again: bool) -> Sequence[str]:
        """Return the arguments of one turn."""
        return ("-p", *(["--continue"] if is_again else []), words)

    def reading(self, note: Path) -> ToolCall:
        """Return a call of its tool for files."""
        return ToolCall("Read", {"file_path": str(note)})
