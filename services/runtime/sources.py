"""Finds the sources of the configuration: the file, and the variables that overlay it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "POINTSMAN_"
FILE_VARIABLE = "POINTSMAN_CONFIG"
DEFAULT_FILE = "pointsman.toml"
SERVER_VARIABLE = "POINTSMAN_SERVER"
NO_SETTINGS = frozenset({FILE_VARIABLE, SERVER_VARIABLE, "POINTSMAN_KEY"})
"""Variables of ours that set nothing: the file to read, the router that commands ask, and the key
that clients show."""
SHORT_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "POINTSMAN_ADMIN_TOKEN": ("gateway", "admin_token"),
    "POINTSMAN_BOOTSTRAP_KEY": ("gateway", "bootstrap_key"),
}
"""Variables with a name of their own; the long spelling of the same key wins."""
PROVIDER_KEY_VARIABLES: Mapping[str, str] = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "google": "GEMINI_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "fireworks": "FIREWORKS_API_KEY",
    "together": "TOGETHER_API_KEY",
    "xai": "XAI_API_KEY",
}
"""Where provider keys are looked for when there is no configuration file."""


class ConfigError(Exception):
    """A configuration that cannot be used; one line that names source, key and fix."""


class SettingError(ConfigError):
    """A setting that only another part of the configuration shows to be unusable.

    Who raises it knows the dotted ``key``; the source is known to the document.
    """

    def __init__(self, key: str, fix: str) -> None:
        super().__init__(f"{key}: {fix}")
        self.key = key


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of ours: the key that it sets and its text as it stands."""

    name: str
    path: tuple[str, ...]
    raw: str


def chosen_file(file: Path | None, env: Mapping[str, str]) -> Path | None:
    """Return the file that is asked for or, failing that, there; None: go without."""
    named = file or (Path(env[FILE_VARIABLE]) if env.get(FILE_VARIABLE) else None)
    if named is not None:
        return named.expanduser()
    return Path(DEFAULT_FILE) if Path(DEFAULT_FILE).is_file() else None


def parse_toml(path: Path) -> dict[str, object]:
    """Return the tables of a TOML file.

    Raises:
        ConfigError: it cannot be read or is not TOML; the message names file and place.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    except RecursionError:
        raise ConfigError(f"{path}: not valid TOML: nested too deeply") from None
    except ValueError as error:  # not only of the parser's own kind: a number may be too long
        raise ConfigError(f"{path}: not valid TOML: {error}") from None


def usual_keys(env: Mapping[str, str]) -> dict[str, object]:
    """Return the tables that stand in for a missing file: provider keys of the environment."""
    found = {
        provider: {"api_key": f"${{{name}}}"}
        for provider, name in PROVIDER_KEY_VARIABLES.items()
        if env.get(name)
    }
    return {"providers": found} if found else {}


def variables(env: Mapping[str, str]) -> tuple[Variable, ...]:
    """Return our variables in the order in which they apply."""
    found = [
        Variable(name, path, env[name]) for name, path in SHORT_VARIABLES.items() if name in env
    ]
    for name in sorted(env):
        if name.startswith(PREFIX) and name not in NO_SETTINGS.union(SHORT_VARIABLES):
            path = tuple(name.removeprefix(PREFIX).lower().split("__"))
            found.append(Variable(name, path, env[name]))
    # Shorter paths first: a whole table as JSON is refined by the keys inside it.
    return tuple(sorted(found, key=lambda variable: len(variable.path)))


def parsed(raw: str) -> object:
    """Return the JSON value of a variable, its text where it is no JSON."""
    try:
        value: object = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return raw
    return value
