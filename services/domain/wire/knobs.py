"""Knobs of a client's request, checked once for all dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.model import OutputFormat, Reasoning, ToolChoice, WireError
from services.domain.wire.reading import text, whole

if TYPE_CHECKING:
    from services.domain.wire.scanner import Node

_LEAST, _LARGEST = -(2**63), 2**64 - 1
"""Numbers outside (infinity among them) cannot be meant, and could not be written again."""


def whole_knob(value: object, path: str) -> int | None:
    """Return a whole number; None where nothing is said.

    Raises:
        WireError: it is something else.
    """
    number = whole(value)
    if value is not None and (number is None or not _LEAST <= number <= _LARGEST):
        raise WireError(path, "must be a whole number")
    return number


def number_knob(value: object, path: str) -> float | None:
    """Return a number; None where nothing is said.

    Raises:
        WireError: it is something else, or cannot be meant.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WireError(path, "must be a number")
    if not _LEAST <= value <= _LARGEST:
        raise WireError(path, "is out of range")
    return value


def effort_knob(value: object, path: str) -> Reasoning:
    """Return the wished effort: ``none`` and the empty text turn reasoning off.

    Raises:
        WireError: it is no string.
    """
    if value is None:
        return Reasoning()
    if not isinstance(value, str):
        raise WireError(path, "must be a string")
    if value in ("", "none"):
        return Reasoning("off")
    return Reasoning("level", level=value)


def schema_knob(form: Node, verbosity: str) -> OutputFormat:
    """Return the wish for an answer that obeys the schema which ``form`` names."""
    told = form.value if isinstance(form.value, dict) else {}
    schema, strict = form.members.get("schema"), told.get("strict")
    return OutputFormat(
        "json_schema",
        name=text(told.get("name")),
        schema=schema.raw if schema is not None and isinstance(schema.value, dict) else b"",
        strict=strict if isinstance(strict, bool) else None,
        verbosity=verbosity,
    )


def plain_choice(choice: object, *, is_parallel: bool | None) -> ToolChoice | None:
    """Return a tool choice that is one word or nothing; None for one that says more."""
    match choice:
        case None:
            return ToolChoice(parallel=is_parallel)
        case "auto":
            return ToolChoice("auto", parallel=is_parallel)
        case "none":
            return ToolChoice("none", parallel=is_parallel)
        case "required":
            return ToolChoice("required", parallel=is_parallel)
        case _:
            return None
