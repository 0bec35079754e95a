"""Parameters of a client's request as canonical ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.model import (
    Limits,
    OutputFormat,
    Reasoning,
    Sampling,
    ToolChoice,
    WireError,
)
from services.domain.wire.openai_responses.tools import flat_name
from services.domain.wire.reading import mapping, rows, text, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.scanner import Document

_LEAST, _LARGEST = -(2**63), 2**64 - 1
"""Numbers outside (infinity among them) cannot be meant, and could not be written again."""

LOGPROBS = "message.output_text.logprobs"
"""Member of ``include`` that asks for log probabilities."""


def limits(document: Document) -> Limits:
    """Return the output limit.

    Raises:
        WireError: it is no whole number.
    """
    return Limits(max_output_tokens=_whole(document, "max_output_tokens"))


def _whole(document: Document, key: str) -> int | None:
    value = document.value(key)
    number = whole(value)
    if value is not None and (number is None or not _LEAST <= number <= _LARGEST):
        raise WireError(key, "must be a whole number")
    return number


def _number(document: Document, key: str) -> float | None:
    value = document.value(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WireError(key, "must be a number")
    if not _LEAST <= value <= _LARGEST:
        raise WireError(key, "is out of range")
    return value


def sampling(document: Document) -> Sampling:
    """Return the sampling knobs.

    Raises:
        WireError: one of them has the wrong type.
    """
    return Sampling(
        temperature=_number(document, "temperature"),
        top_p=_number(document, "top_p"),
        logprobs=True if LOGPROBS in rows(document.value("include")) else None,
        top_logprobs=_whole(document, "top_logprobs"),
    )


def reasoning(document: Document) -> Reasoning:
    """Return the wished effort: ``none`` and the empty text turn reasoning off."""
    told = document.value("reasoning")
    if told is not None and not isinstance(told, dict):
        raise WireError("reasoning", "must be an object")
    effort = mapping(told).get("effort")
    if effort is None:
        return Reasoning()
    if not isinstance(effort, str):
        raise WireError("reasoning.effort", "must be a string")
    if effort in ("", "none"):
        return Reasoning("off")
    return Reasoning("level", level=effort)


def output_format(document: Document) -> OutputFormat:
    """Return the wished form of the answer; a form that is not known counts as text."""
    node = document.member("text")
    told = mapping(node.value) if node is not None else {}
    verbosity = text(told.get("verbosity"))
    form = node.members.get("format") if node is not None else None
    wish = mapping(form.value) if form is not None else {}
    if wish.get("type") == "json_object":
        return OutputFormat("json_object", verbosity=verbosity)
    if form is None or wish.get("type") != "json_schema":
        return OutputFormat(verbosity=verbosity)
    schema, strict = form.members.get("schema"), wish.get("strict")
    return OutputFormat(
        "json_schema",
        name=text(wish.get("name")),
        schema=schema.raw if schema is not None and isinstance(schema.value, dict) else b"",
        strict=strict if isinstance(strict, bool) else None,
        verbosity=verbosity,
    )


def tool_choice(document: Document) -> ToolChoice:
    """Return which tool must be called."""
    parallel = document.value("parallel_tool_calls")
    is_parallel = parallel if isinstance(parallel, bool) else None
    choice = document.value("tool_choice")
    if choice is None:
        return ToolChoice(parallel=is_parallel)
    if choice == "auto":
        return ToolChoice("auto", parallel=is_parallel)
    if choice == "none":
        return ToolChoice("none", parallel=is_parallel)
    if choice == "required":
        return ToolChoice("required", parallel=is_parallel)
    return _object_choice(mapping(choice), is_parallel)


def _object_choice(told: Mapping[str, object], is_parallel: bool | None) -> ToolChoice:
    kind = text(told.get("type"))
    if kind in ("function", "custom") and (name := _named(told)):
        return ToolChoice("named", name=name, parallel=is_parallel)
    if kind == "allowed_tools":
        names = tuple(name for row in rows(told.get("tools")) if (name := _named(mapping(row))))
        if names:
            return ToolChoice(
                "allowed",
                names=names,
                parallel=is_parallel,
                is_call_required=told.get("mode") == "required",
            )
    return ToolChoice("unrecognised", parallel=is_parallel)


def _named(told: Mapping[str, object]) -> str:
    name = text(told.get("name"))
    return flat_name(text(told.get("namespace")), name) if name else ""
