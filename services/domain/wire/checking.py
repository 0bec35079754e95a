"""Arguments of a call checked against the tool that its client declared.

Models of one vendor now and then write what tools declared for another do not take. A fault that
can be mended without losing anything is mended; whatever cannot be judged goes on as it came.
Values are never dumped anew: what is changed is spliced, so that numbers keep their digits.
"""

from __future__ import annotations

import enum
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.domain.wire.arguments import read_object
from services.domain.wire.model import WireError
from services.domain.wire.reading import mapping, rows, text
from services.domain.wire.scanner import scan
from services.domain.wire.schemas import Schema, UncheckableError, extra_keys, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jsonschema import ValidationError

    from services.domain.wire.model import Tool
    from services.domain.wire.scanner import Document, Edit, Node, Plan

MAX_SCHEMA_BYTES = 256 * 1024
MAX_ARGUMENT_BYTES = 4 * 1024 * 1024
MAX_PASSES = 3

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WHOLE = re.compile(r"-?(?:0|[1-9]\d*)")

Path = tuple[str | int, ...]


class ArgumentIssue(enum.StrEnum):
    """What was found wrong with the arguments of a call; a closed set."""

    INVALID_JSON = "invalid_json"
    """Nothing could be read; they became the empty object."""
    MENDED_JSON = "mended_json"
    MENDED = "mended"
    """They disobeyed their schema and obey it now."""
    INVALID = "invalid"
    """They disobey their schema and went on."""
    UNKNOWN_TOOL = "unknown_tool"
    SCHEMA_TOO_LARGE = "schema_too_large"
    ARGUMENTS_TOO_LARGE = "arguments_too_large"
    SCHEMA_UNUSABLE = "schema_unusable"
    CUT = "cut"
    """The output limit cut the call in half; it was left out."""
    NAMELESS = "nameless"
    """The call named no tool; it was left out."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Arguments to send on, and what was found."""

    arguments: bytes
    issues: tuple[ArgumentIssue, ...] = ()


class ArgumentChecker:
    """Checks the calls of one answer; schemas are read when first needed."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._sources = {tool.name: tool.schema for tool in tools if tool.kind != "server"}
        self._schemas: dict[str, Schema | ArgumentIssue] = {}

    def check(self, name: str, arguments: bytes) -> Checked:
        """Return the arguments of a call of tool ``name`` as its client shall see them."""
        if len(arguments) > MAX_ARGUMENT_BYTES:
            return Checked(arguments, (ArgumentIssue.ARGUMENTS_TOO_LARGE,))
        found = read_object(arguments)
        if found is None:
            return Checked(b"{}", (ArgumentIssue.INVALID_JSON,))
        told, is_mended = found
        issues = (ArgumentIssue.MENDED_JSON,) if is_mended else ()
        schema = self._schema(name)
        if isinstance(schema, ArgumentIssue):
            return Checked(told, (*issues, schema))
        try:
            checked = _checked(told, schema)
        except (UncheckableError, WireError):
            return Checked(told, (*issues, ArgumentIssue.SCHEMA_UNUSABLE))
        return Checked(checked.arguments, (*issues, *checked.issues))

    def _schema(self, name: str) -> Schema | ArgumentIssue:
        known = self._schemas.get(name)
        if known is None:
            known = self._schemas[name] = self._read(name)
        return known

    def _read(self, name: str) -> Schema | ArgumentIssue:
        source = self._sources.get(name)
        if source is None:
            return ArgumentIssue.UNKNOWN_TOOL
        if len(source) > MAX_SCHEMA_BYTES:
            return ArgumentIssue.SCHEMA_TOO_LARGE
        try:
            return schema_of(source)
        except UncheckableError:
            return ArgumentIssue.SCHEMA_UNUSABLE


def _checked(arguments: bytes, schema: Schema) -> Checked:
    normal = _normalised(arguments, schema)
    told = normal
    for attempt in range(MAX_PASSES + 1):
        faults = schema.faults(scan(told, {}).root.value)
        if not faults:
            return Checked(told, (ArgumentIssue.MENDED,) if attempt else ())
        mended = _mended(told, faults) if attempt < MAX_PASSES else told
        if mended == told:
            break
        told = mended
    return Checked(normal, (ArgumentIssue.INVALID,))


def _normalised(arguments: bytes, schema: Schema) -> bytes:
    """Return the arguments without optional members that say nothing."""
    document = scan(arguments, {})
    blank = [
        node
        for node in document.root.items
        if node.key in schema.optional and node.value in (None, "")
    ]
    return document.splice(document.root.without(blank)) if blank else arguments


def _mended(arguments: bytes, faults: Iterable[ValidationError]) -> bytes:
    """Return the arguments with each fault mended that can be; of two at one place the first."""
    wanted = {tuple(fault.absolute_path): fault for fault in reversed(list(faults))}
    document = scan(arguments, _plan_of(wanted))
    edits: list[Edit] = []
    for path, fault in wanted.items():
        edits += _edits(document, path, fault)
    return document.splice(_apart(edits))


def _apart(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits without those inside another one: a later pass sees to them."""
    apart: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if not apart or edit.start >= apart[-1].end:
            apart.append(edit)
    return apart


def _plan_of(paths: Iterable[Path]) -> Plan:
    """Return the plan that opens what lies along ``paths``."""
    inner: dict[str, list[Path]] = {}
    for path in paths:
        if path:
            step = "*" if isinstance(path[0], int) else path[0]
            inner.setdefault(step, []).append(path[1:])
    return {step: _plan_of(rest) for step, rest in inner.items()}


def _node_at(document: Document, path: Path) -> Node | None:
    node: Node | None = document.root
    for step in path:
        if node is None:
            return None
        if isinstance(step, str):
            node = node.members.get(step)
        else:
            node = node.items[step] if step < len(node.items) else None
    return node


def _edits(document: Document, path: Path, fault: ValidationError) -> list[Edit]:
    node = _node_at(document, path)
    if node is None:
        return []
    if fault.validator == "additionalProperties" and fault.validator_value is False:
        extras = frozenset(extra_keys(mapping(node.value), mapping(fault.schema)))
        return node.without([child for child in node.items if child.key in extras])
    if not path:
        return []
    replacement = _converted(node, _types_of(fault))
    return [] if replacement is None else [node.replaced_by(replacement)]


def _types_of(fault: ValidationError) -> frozenset[str]:
    """Return the types that a fault asks for; of alternatives those of each."""
    if fault.validator == "type":
        told: object = fault.validator_value
        return frozenset([told] if isinstance(told, str) else map(text, rows(told)))
    if fault.validator in ("anyOf", "oneOf"):
        inner = [each for each in fault.context or () if not each.relative_path]
        return frozenset().union(*(_types_of(each) for each in inner))
    return frozenset()


def _is_of(words: str, types: frozenset[str]) -> bool:
    """Return whether a text is the JSON of a number or a truth value that is asked for."""
    return (
        ("number" in types and _NUMBER.fullmatch(words) is not None)
        or ("integer" in types and _WHOLE.fullmatch(words) is not None)
        or ("boolean" in types and words in ("true", "false"))
    )


def _converted(node: Node, types: frozenset[str]) -> str | None:
    """Return a value as one of ``types``; None where that would lose or invent something."""
    value = node.value
    if isinstance(value, str) and _is_of(value, types):
        return value
    is_scalar = isinstance(value, int | float)
    if is_scalar and "string" in types:
        return json.dumps(node.source)
    is_container_text = isinstance(value, str) and value.lstrip()[:1] in ("{", "[")
    if (is_scalar or isinstance(value, str)) and "array" in types and not is_container_text:
        return f"[{node.source}]"
    return None
