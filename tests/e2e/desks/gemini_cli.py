"""Gemini CLI, which speaks Gemini."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson

from services.domain.vocab import WireFamily
from tests.e2e.desks.desk import PACKAGES, Desk
from tests.fakes.upstream import ToolCall

SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "disableAutoUpdate": True, "disableUpdateNag": True},
}


class GeminiCli:
    """Runs Gemini CLI without its screen."""

    name = "gemini"
    family = WireFamily.GEMINI
    executable = PACKAGES / ".bin" / "gemini"
    quieting: Mapping[str, str] = {
        "GEMINI_TELEMETRY_ENABLED": "false",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "NO_BROWSER": "1",
    }

    def settle(self, desk: Desk, wiring: str, models: Sequence[str]) -> str:
        """Write its settings and return the README's block."""
        file = desk.home / ".gemini" / "settings.json"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(orjson.dumps(SETTINGS))
        return wiring

    def arguments(self, words: str, model: str, *, is_again: bool) -> Sequence[str]:
        """Return the arguments of one turn."""
        named = ("-m", model) if model else ()
        return ("--yolo", *named, *(["--resume", "latest"] if is_again else []), "-p", words)

    def reading(self, note: Path) -> ToolCall:
        """Return a call of its tool for files."""
        return ToolCall("read_file", {"file_path": str(note)})
