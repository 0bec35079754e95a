"""opencode, which speaks Chat Completions where it is not told otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson

from services.domain.vocab import WireFamily
from tests.e2e.desks.desk import PACKAGES, Desk
from tests.fakes.upstream import ToolCall

PROVIDER = "pointsman"


class Opencode:
    """Runs opencode without its screen."""

    name = "opencode"
    family = WireFamily.OPENAI_CHAT
    executable = PACKAGES / "opencode-linux-x64" / "bin" / "opencode"
    quieting: Mapping[str, str] = {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_SHARE": "1",
    }

    def settle(self, desk: Desk, wiring: str, models: Sequence[str]) -> str:
        """Write its configuration: the README's, with other models and without other providers."""
        configured = orjson.loads(wiring)
        configured["provider"][PROVIDER]["models"] = {model: {} for model in models}
        configured["model"] = configured["small_model"] = f"{PROVIDER}/{models[0]}"
        quiet = {"enabled_providers": [PROVIDER], "autoupdate": False, "share": "disabled"}
        (desk.folder / "opencode.json").write_bytes(orjson.dumps({**configured, **quiet}))
        return "opencode run"

    def arguments(self, words: str, model: str, *, is_again: bool) -> Sequence[str]:
        """Return the arguments of one turn."""
        return (*(["--continue"] if is_again else []), words)

    def reading(self, note: Path) -> ToolCall:
        """Return a call of its tool for files."""
        return ToolCall("read", {"filePath": str(note)})
