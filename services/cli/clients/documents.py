"""Programs whose settings are a JSON document: Claude Code and opencode."""

from __future__ import annotations

import abc
import json
from typing import TYPE_CHECKING

from services.cli.clients.model import KEY_PREFIX, UnfitError, Wiring

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Document = dict[str, object]

OURS = "pointsman"
"""Name of our provider in opencode."""
ADDRESS = "ANTHROPIC_BASE_URL"
TOKEN = "ANTHROPIC_AUTH_TOKEN"  # noqa: S105 - a name


class _Documents(abc.ABC):
    """Reads and writes the document; the programs say what is in it."""

    def wired(self, text: str, wiring: Wiring) -> str:
        return _written(self._with(_read(text), wiring))

    def cleared(self, text: str) -> str:
        return _written(self._without(_read(text)))

    def found(self, text: str) -> Wiring | None:
        return self._wiring_of(_read(text)) if KEY_PREFIX in text else None

    @abc.abstractmethod
    def _with(self, document: Document, wiring: Wiring) -> Document: ...

    @abc.abstractmethod
    def _without(self, document: Document) -> Document: ...

    @abc.abstractmethod
    def _wiring_of(self, document: Document) -> Wiring | None: ...


class ClaudeCode(_Documents):
    """Takes its address and its key from `env` of its settings."""

    name = "claude-code"
    hint = "start `claude`; a running one goes on as before"

    def file(self, home: Path, environment: Mapping[str, str]) -> Path:
        """Return its file."""
        moved = environment.get("CLAUDE_CONFIG_DIR")
        return (home / (moved or ".claude")) / "settings.json"

    def _with(self, document: Document, wiring: Wiring) -> Document:
        env = _part(document, "env")
        if self._wiring_of(document) is None:
            for name in {ADDRESS, TOKEN} & env.keys():
                raise UnfitError(f"env.{name} is set by you: take it out first")
        ours = {ADDRESS: wiring.address, TOKEN: wiring.key}
        return {**document, "env": {**env, **ours}}

    def _without(self, document: Document) -> Document:
        if self._wiring_of(document) is None:
            return document
        env = _part(document, "env")
        kept = {name: value for name, value in env.items() if name not in (ADDRESS, TOKEN)}
        return _with_part(document, "env", kept)

    def _wiring_of(self, document: Document) -> Wiring | None:
        env = _part(document, "env")
        address, token = env.get(ADDRESS), env.get(TOKEN)
        if isinstance(address, str) and isinstance(token, str) and token.startswith(KEY_PREFIX):
            return Wiring(address, token)
        return None


class Opencode(_Documents):
    """Has a provider of its own for the router, with the models that can serve."""

    name = "opencode"
    hint = "choose a model of `pointsman/` with /models; install again when other models can serve"

    def file(self, home: Path, environment: Mapping[str, str]) -> Path:
        """Return its file."""
        moved = environment.get("XDG_CONFIG_HOME")
        return (home / (moved or ".config")) / "opencode" / "opencode.json"

    def _with(self, document: Document, wiring: Wiring) -> Document:
        if OURS in _part(document, "provider") and self._wiring_of(document) is None:
            raise UnfitError(f"provider.{OURS} is set by you: take it out first")
        ours = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Pointsman",
            "options": {"baseURL": f"{wiring.address}/v1", "apiKey": wiring.key},
            "models": {model: {} for model in wiring.models},
        }
        provider = {**_part(document, "provider"), OURS: ours}
        return {**document, **self._model(document, wiring), "provider": provider}

    def _without(self, document: Document) -> Document:
        is_chosen = str(document.get("model")).startswith(f"{OURS}/")
        kept = {
            name: value for name, value in document.items() if not (name == "model" and is_chosen)
        }
        provider = _part(document, "provider")
        others = {name: value for name, value in provider.items() if name != OURS}
        return _with_part(kept, "provider", others)

    def _wiring_of(self, document: Document) -> Wiring | None:
        options = _part(_part(_part(document, "provider"), OURS), "options")
        address, key = options.get("baseURL"), options.get("apiKey")
        if isinstance(address, str) and isinstance(key, str) and key.startswith(KEY_PREFIX):
            return Wiring(address.removesuffix("/v1"), key)
        return None

    def _model(self, document: Document, wiring: Wiring) -> Document:
        """Return the model to start with, unless the user chose one that is there."""
        model, ours = document.get("model"), [f"{OURS}/{name}" for name in wiring.models]
        is_theirs = isinstance(model, str) and not model.startswith(f"{OURS}/")
        return {} if is_theirs or model in ours or not ours else {"model": ours[0]}


def _read(text: str) -> Document:
    try:
        found = json.loads(text or "{}")
    except ValueError as error:
        raise UnfitError(
            f"is not plain JSON ({error}): wire it by hand, as the README says"
        ) from None
    if not isinstance(found, dict):
        raise UnfitError("is not a JSON object")
    return found


def _written(document: Document) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n" if document else ""


def _part(document: Document, name: str) -> Document:
    part = document.get(name, {})
    if not isinstance(part, dict):
        raise UnfitError(f"{name} is not a JSON object")
    return part


def _with_part(document: Document, name: str, part: Document) -> Document:
    """Return a document with one part; an empty one is left out."""
    kept = {key: value for key, value in document.items() if key != name}
    return {**document, name: part} if part else kept
