"""Parameters of a client's chat request as canonical ones."""

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
from services.domain.wire.reading import mapping, rows, text, whole

if TYPE_CHECKING:
    from services.domain.wire.scanner import Document

_LEAST, _LARGEST = -(2**63), 2**64 - 1
"""Numbers outside (infinity among them) cannot be meant, and could not be written again."""


def limits(document: Document) -> Limits:
    """Return output limit, stop sequences and number of answers.

    Raises:
        WireError: one of them has the wrong type.
    """
    output = _whole(document, "max_completion_tokens")
    return Limits(
        max_output_tokens=_whole(document, "max_tokens") if output is None else output,
        stop=_stop(document.value("stop")),
        n=_whole(document, "n"),
    )


def _stop(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    found = rows(value)
    if not isinstance(value, list) or not all(isinstance(row, str) for row in found):
        raise WireError("stop", "must be a string or a list of strings")
    return tuple(text(row) for row in found)


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
    bias = document.member("logit_bias")
    logprobs = document.value("logprobs")
    return Sampling(
        temperature=_number(document, "temperature"),
        top_p=_number(document, "top_p"),
        top_k=_whole(document, "top_k"),
        seed=_whole(document, "seed"),
        frequency_penalty=_number(document, "frequency_penalty"),
        presence_penalty=_number(document, "presence_penalty"),
        logit_bias=None if bias is None or bias.value is None else bias.raw,
        logprobs=logprobs if isinstance(logprobs, bool) else None,
        top_logprobs=_whole(document, "top_logprobs"),
    )


def reasoning(document: Document) -> Reasoning:
    """Return the wished effort: ``none`` and the empty text turn reasoning off."""
    effort = document.value("reasoning_effort")
    if effort is None:
        return Reasoning()
    if not isinstance(effort, str):
        raise WireError("reasoning_effort", "must be a string")
    if effort in ("", "none"):
        return Reasoning("off")
    return Reasoning("level", level=effort)


def output_format(document: Document) -> OutputFormat:
    """Return the wished form of the answer; a form that is not known counts as text."""
    verbosity = text(document.value("verbosity"))
    node = document.member("response_format")
    kind = text(mapping(node.value).get("type")) if node is not None else ""
    if node is None or kind not in ("json_object", "json_schema"):
        return OutputFormat(verbosity=verbosity)
    if kind == "json_object":
        return OutputFormat("json_object", verbosity=verbosity)
    told = node.members.get("json_schema")
    if told is None or not isinstance(told.value, dict):
        raise WireError("response_format.json_schema", "must be an object")
    schema, strict = told.members.get("schema"), told.value.get("strict")
    return OutputFormat(
        "json_schema",
        name=text(told.value.get("name")),
        schema=schema.raw if schema is not None and isinstance(schema.value, dict) else b"",
        strict=strict if isinstance(strict, bool) else None,
        verbosity=verbosity,
    )


def tool_choice(document: Document) -> ToolChoice:
    """Return which tool must be called, from the present or the legacy member."""
    parallel = document.value("parallel_tool_calls")
    is_parallel = parallel if isinstance(parallel, bool) else None
    choice = document.value("tool_choice")
    if choice is None and document.value("function_call") is not None:
        choice = document.value("function_call")
        if isinstance(choice, dict):
            choice = {"type": "function", "function": choice}
    if choice is None:
        return ToolChoice(parallel=is_parallel)
    if choice == "auto":
        return ToolChoice("auto", parallel=is_parallel)
    if choice == "none":
        return ToolChoice("none", parallel=is_parallel)
    if choice == "required":
        return ToolChoice("required", parallel=is_parallel)
    return _object_choice(choice, is_parallel)


def _object_choice(choice: object, is_parallel: bool | None) -> ToolChoice:
    told = mapping(choice)
    kind = text(told.get("type"))
    if kind == "function":
        name = text(mapping(told.get("function")).get("name"))
        if name:
            return ToolChoice("named", name=name, parallel=is_parallel)
    if kind == "allowed_tools":
        allowed = mapping(told.get("allowed_tools"))
        tools = [mapping(mapping(row).get("function")) for row in rows(allowed.get("tools"))]
        names = tuple(name for tool in tools if (name := text(tool.get("name"))))
        is_required = allowed.get("mode") == "required"
        if names:
            return ToolChoice(
                "allowed", names=names, parallel=is_parallel, is_call_required=is_required
            )
    return ToolChoice("unrecognised", parallel=is_parallel)
