"""Codex, which speaks Responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from services.domain.vocab import WireFamily
from tests.e2e.desks.desk import PACKAGES, Desk
from tests.fakes.upstream import ToolCall

QUIETING = """
check_for_update_on_startup = false
[features]
plugins = false
apps = false
[analytics]
enabled = false
[otel]
exporter = "none"
"""


class Codex:
    """Runs Codex without its screen."""

    name = "codex"
    family = WireFamily.OPENAI_RESPONSES
    executable = PACKAGES / ".bin" / "codex"
    quieting: Mapping[str, str] = {}

    def settle(self, desk: Desk, wiring: str, models: Sequence[str]) -> str:
        """Write its configuration."""
        file = desk.home / ".codex" / "config.toml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{wiring}{QUIETING}")
        return "codex exec --skip-git-repo-check --sandbox danger-full-access"

    def arguments(self, words: str, model: str, *, is_again: bool) -> Sequence[str]:
        """Return the arguments of one turn."""
        named = ("-m", model) if model else ()
        return (*named, *(["resume", "--last"] if is_again else []), words)

    def reading(self, note: Path) -> ToolCall:
        """Return a call of its tool for commands."""
        return ToolCall("exec_command", {"cmd": f"cat {note}"})
