"""Reads the configuration: a TOML file, overlaid by environment variables, checked by a schema.

:func:`read_document` finds and parses the sources; :meth:`Document.section` turns a part of them
into frozen settings. Every complaint is one line that names the source, the key and the fix, and
never shows a value.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, SecretStr, ValidationError

from services.runtime import complaint, sources
from services.runtime import schema as schemas
from services.runtime.log import masked
from services.runtime.sources import ConfigError, SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

__all__ = ["ConfigError", "Document", "Entry", "SettingError", "read_document"]

HIDDEN = "********"

_REFERENCE = re.compile(r"\$\{([^{}]*)\}")

S = TypeVar("S", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Entry:
    """One effective setting; a secret is shown masked."""

    key: str
    value: object
    origin: str
    """``default``, ``file <path>`` or ``env <NAME>``."""


@dataclass(frozen=True, slots=True)
class Document:
    """The sources of one configuration, not yet checked."""

    file: Path | None
    """The file in use; None when there is none."""
    tree: Mapping[str, object]
    variables: tuple[sources.Variable, ...] = field(repr=False)
    environ: Mapping[str, str] = field(repr=False)
    warn: Callable[[str], None] = field(repr=False)

    @property
    def base(self) -> Path:
        """The folder that relative paths of the configuration start from."""
        return self.file.parent if self.file is not None else Path.cwd()

    def section(
        self, schema: type[S], at: str = "", *, without: Collection[str] = frozenset()
    ) -> S:
        """Return the settings at the dotted key ``at``, all of them where it is empty.

        ``without`` names tables directly below it that are somebody else's to read.

        Raises:
            ConfigError: a key is unknown or a value unusable.
        """
        root = tuple(at.split(".")) if at else ()
        found = self._table(root)
        tree = {key: value for key, value in found.items() if key not in without}
        tree = {key: self._resolved(value, schema, root, (key,)) for key, value in tree.items()}
        for variable in self.variables:
            path = variable.path[len(root) :]
            if variable.path[: len(root)] == root and path and path[0] not in without:
                self._overlay(tree, schema, path, variable)
        try:
            return schema.model_validate(tree)
        except ValidationError as error:
            raise ConfigError(self._complaint(error, schema, root)) from None

    def text(self, at: str) -> str:
        """Return the text at a dotted key of any section; empty where it is not set.

        Raises:
            ConfigError: the value is no text.
        """
        *parents, key = at.split(".")
        value = self._table(tuple(parents)).get(key, "")
        for variable in self.variables:
            if variable.path == (*parents, key):
                value = variable.raw
        if not isinstance(value, str):
            raise ConfigError(f"{self._source((*parents, key))}: {at}: must be a text in quotes")
        return _REFERENCE.sub(lambda match: self.environ.get(match[1], ""), value)

    def entries(self, settings: BaseModel) -> tuple[Entry, ...]:
        """Return every setting of the whole configuration with its origin, secrets masked."""
        return tuple(
            Entry(".".join(path), _shown(value), self._origin(path))
            for path, value in schemas.leaves(settings)
        )

    @contextlib.contextmanager
    def naming_sources(self) -> Iterator[None]:
        """Name the source of a setting about which the body complains.

        Raises:
            ConfigError: in the place of a SettingError.
        """
        try:
            yield
        except SettingError as error:
            source = self._source(tuple(error.key.split(".")))
            raise ConfigError(f"{source}: {error}") from None

    def _table(self, path: schemas.Path) -> Mapping[str, object]:
        at: object = self.tree
        for depth, key in enumerate(path):
            at = at.get(key, {}) if isinstance(at, dict) else at
            if not isinstance(at, dict):
                where = ".".join(path[: depth + 1])
                raise ConfigError(f"{self._source(path[: depth + 1])}: {where}: must be a table")
        return at if isinstance(at, dict) else {}

    def _resolved(
        self, value: object, schema: type[BaseModel], root: schemas.Path, path: schemas.Path
    ) -> object:
        match value:
            case dict():
                return {k: self._resolved(v, schema, root, (*path, k)) for k, v in value.items()}
            case list():
                return [
                    self._resolved(v, schema, root, (*path, str(i))) for i, v in enumerate(value)
                ]
            case str() if "${" in value:
                return self._filled(value, schema, root, path)
        return value

    def _filled(
        self, text: str, schema: type[BaseModel], root: schemas.Path, path: schemas.Path
    ) -> str:
        may_be_unset = schemas.is_secret(schemas.type_at(schema, path))

        def looked_up(match: re.Match[str]) -> str:
            value = self.environ.get(match[1])
            if value is None and not may_be_unset:
                key = ".".join((*root, *path))
                raise ConfigError(
                    f"{self._file_name}: {key}: environment variable {match[1]} is not set"
                )
            return value or ""

        return _REFERENCE.sub(looked_up, text)

    def _overlay(
        self,
        tree: dict[str, object],
        schema: type[BaseModel],
        path: schemas.Path,
        variable: sources.Variable,
    ) -> None:
        declared = schemas.type_at(schema, path)
        if declared is None:
            if variable.name in sources.SHORT_VARIABLES:
                return
            self._warn_unknown(schema, path, variable)
            return
        at = tree
        for key in path[:-1]:
            child = at.setdefault(key, {})
            if not isinstance(child, dict):
                return
            at = child
        at[path[-1]] = variable.raw if schemas.is_text(declared) else sources.parsed(variable.raw)

    def _warn_unknown(
        self, schema: type[BaseModel], path: schemas.Path, variable: sources.Variable
    ) -> None:
        depth = next(
            depth
            for depth in range(len(path))
            if schemas.type_at(schema, path[: depth + 1]) is None
        )
        fix = schemas.hint(path[depth], schemas.keys_at(schema, path[:depth]))
        self.warn(f"{variable.name}: unknown setting, ignored; {fix}")

    def _complaint(
        self, error: ValidationError, schema: type[BaseModel], root: schemas.Path
    ) -> str:
        details = error.errors(include_url=False, include_input=False)
        first = details[0]
        path = complaint.path_of(first, schema)
        more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
        key = ".".join((*root, *path)) or "configuration"
        source = self._source((*root, *path))
        fix = complaint.fix_of(first, schema, path)
        if source != self._file_name and fix.endswith(("a list", "a table")):
            fix += ", written as JSON"
        return f"{source}: {key}: {fix}{more}"

    def _source(self, path: schemas.Path) -> str:
        for variable in reversed(self.variables):
            if path[: len(variable.path)] == variable.path:
                return variable.name
        return self._file_name

    def _origin(self, path: schemas.Path) -> str:
        for variable in reversed(self.variables):
            if path[: len(variable.path)] == variable.path:
                return f"env {variable.name}"
        at: object = self.tree
        for key in path:
            if isinstance(at, list):
                at = at[int(key)] if int(key) < len(at) else None
            else:
                at = at.get(key) if isinstance(at, dict) else None
            if at is None:
                return "default"
        if self.file is not None:
            return f"file {self.file}"
        return f"env {_REFERENCE.sub(lambda match: match[1], str(at))}"

    @property
    def _file_name(self) -> str:
        return str(self.file) if self.file is not None else "configuration"


def read_document(
    file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    warn: Callable[[str], None] | None = None,
) -> Document:
    """Return the configuration of this process, not yet checked.

    The file is ``file``, else the one that ``POINTSMAN_CONFIG`` names, else ``pointsman.toml`` of
    the working folder, else none: then provider keys come from the vendors' usual variables.
    ``warn`` takes one line per unknown variable; it writes to standard error where absent.

    Raises:
        ConfigError: a named file is not there or not TOML.
    """
    env = os.environ if environ is None else environ
    path = sources.chosen_file(file, env)
    return Document(
        file=path,
        tree=sources.parse_toml(path) if path is not None else sources.usual_keys(env),
        variables=sources.variables(env),
        environ=env,
        warn=warn or _to_stderr,
    )


def _shown(value: object) -> object:
    match value:
        case SecretStr():
            return HIDDEN if value.get_secret_value() else ""
        case str():
            return masked(value)
        case list() | tuple():
            return [_shown(item) for item in value]
        case None | bool() | int() | float() | dict():
            return value
    return str(value)


def _to_stderr(line: str) -> None:
    sys.stderr.write(f"warning: {line}\n")
