"""Programs whose settings are lines: Codex and Gemini CLI. Ours stand between two marks."""

from __future__ import annotations

import abc
import json
import re
import tomllib
from typing import TYPE_CHECKING

from services.cli.clients.model import UnfitError, Wiring

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BEGIN = "# >>> pointsman client install >>>"
END = "# <<< pointsman client install <<<"
_BLOCK = re.compile(
    rf"^{re.escape(BEGIN)}\n(.*?)^{re.escape(END)}(?:\n|\Z)", re.MULTILINE | re.DOTALL
)


class _Blocks(abc.ABC):
    """Puts the block into the text and takes it out; the programs say what is in it."""

    def wired(self, text: str, wiring: Wiring) -> str:
        return self._joined(self.cleared(text), f"{BEGIN}\n{self._lines(wiring)}{END}\n")

    def cleared(self, text: str) -> str:
        rest = _BLOCK.sub("", text)
        if BEGIN in rest or END in rest:
            raise UnfitError(f"has only one of the lines {BEGIN!r} and {END!r}: take it out first")
        return rest

    def found(self, text: str) -> Wiring | None:
        block = _BLOCK.search(text)
        return None if block is None else self._wiring_of(block[1])

    @abc.abstractmethod
    def _joined(self, rest: str, block: str) -> str: ...

    @abc.abstractmethod
    def _lines(self, wiring: Wiring) -> str: ...

    @abc.abstractmethod
    def _wiring_of(self, lines: str) -> Wiring | None: ...


class Codex(_Blocks):
    """Has a model provider of its own for the router; the login to ChatGPT is left alone."""

    name = "codex"
    hint = "start `codex`; its login is left alone"

    def file(self, home: Path, environment: Mapping[str, str]) -> Path:
        """Return its file."""
        return (home / (environment.get("CODEX_HOME") or ".codex")) / "config.toml"

    def _joined(self, rest: str, block: str) -> str:
        """Put the block first: behind a table its keys would be that table's."""
        own = _toml(rest)
        providers = own.get("model_providers")
        if "model_provider" in own:
            raise UnfitError("model_provider is set by you: take it out first")
        if isinstance(providers, dict) and "pointsman" in providers:
            raise UnfitError("model_providers.pointsman is set by you: take it out first")
        _toml(block + rest)
        return block + rest

    def _lines(self, wiring: Wiring) -> str:
        address, key = json.dumps(f"{wiring.address}/v1"), json.dumps(wiring.key)
        return (
            'model_provider = "pointsman"\n'
            f'model_providers.pointsman = {{ name = "Pointsman", base_url = {address},'
            f' wire_api = "responses", http_headers = {{ x-router-key = {key} }} }}\n'
        )

    def _wiring_of(self, lines: str) -> Wiring | None:
        match _toml(lines):
            case {
                "model_providers": {
                    "pointsman": {
                        "base_url": str(address),
                        "http_headers": {"x-router-key": str(key)},
                    }
                }
            }:
                return Wiring(address.removesuffix("/v1"), key)
        return None


class GeminiCli(_Blocks):
    """Takes its address and its key from the `.env` in its folder."""

    name = "gemini-cli"
    hint = "start `gemini` where no other .env is nearer; /auth: Gemini API key"

    def file(self, home: Path, environment: Mapping[str, str]) -> Path:
        """Return its file."""
        return home / ".gemini" / ".env"

    def _joined(self, rest: str, block: str) -> str:
        """Put the block last: the last line that sets a variable counts."""
        return f"{rest}\n{block}" if rest and not rest.endswith("\n") else rest + block

    def _lines(self, wiring: Wiring) -> str:
        return f"GOOGLE_GEMINI_BASE_URL={wiring.address}\nGEMINI_API_KEY={wiring.key}\n"

    def _wiring_of(self, lines: str) -> Wiring | None:
        named = dict(line.partition("=")[::2] for line in lines.splitlines())
        address, key = named.get("GOOGLE_GEMINI_BASE_URL"), named.get("GEMINI_API_KEY")
        return Wiring(address, key) if address and key else None


def _toml(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UnfitError(f"is not TOML that can take our lines: {error}") from None
