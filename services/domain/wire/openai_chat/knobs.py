"""Parameters of a client's chat request as canonical ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.knobs import (
    effort_knob,
    number_knob,
    plain_choice,
    schema_knob,
    whole_knob,
)
from services.domain.wire.model import (
    Limits,
    OutputFormat,
    Reasoning,
    Sampling,
    ToolChoice,
    WireError,
)
from services.domain.wire.reading import mapping, rows, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.scanner import Document


def limits(document: Document) -> Limits:
    """Return output limit, stop sequences and number of answers.

    Raises:
        WireError: one of them has the wrong type.
    """
    output = whole_knob(document.value("max_completion_tokens"), "max_completion_tokens")
    return Limits(
        max_output_tokens=whole_knob(document.value("max_tokens"), "max_tokens")
        if output is None
        else output,
        stop=_stop(document.value("stop")),
        n=whole_knob(document.value("n"), "n"),
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


def sampling(document: Document) -> Sampling:
    """Return the sampling knobs.

    Raises:
        WireError: one of them has the wrong type.
    """
    bias = document.member("logit_bias")
    logprobs = document.value("logprobs")
    return Sampling(
        temperature=number_knob(document.value("temperature"), "temperature"),
        top_p=number_knob(document.value("top_p"), "top_p"),
        top_k=whole_knob(document.value("top_k"), "top_k"),
        seed=whole_knob(document.value("seed"), "seed"),
        frequency_penalty=number_knob(document.value("frequency_penalty"), "frequency_penalty"),
        presence_penalty=number_knob(document.value("presence_penalty"), "presence_penalty"),
        logit_bias=None if bias is None or bias.value is None else bias.raw,
        logprobs=logprobs if isinstance(logprobs, bool) else None,
        top_logprobs=whole_knob(document.value("top_logprobs"), "top_logprobs"),
    )


def reasoning(document: Document) -> Reasoning:
    """Return the wished effort: ``none`` and the empty text turn reasoning off."""
    return effort_knob(document.value("reasoning_effort"), "reasoning_effort")


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
    return schema_knob(told, verbosity)


def tool_choice(document: Document) -> ToolChoice:
    """Return which tool must be called, from the present or the legacy member."""
    parallel = document.value("parallel_tool_calls")
    is_parallel = parallel if isinstance(parallel, bool) else None
    choice = document.value("tool_choice")
    if choice is None and document.value("function_call") is not None:
        choice = document.value("function_call")
        if isinstance(choice, dict):
            choice = {"type": "function", "function": choice}
    plain = plain_choice(choice, is_parallel=is_parallel)
    return _object_choice(choice, is_parallel) if plain is None else plain


def _object_choice(choice: object, is_parallel: bool | None) -> ToolChoice:
    told = mapping(choice)
    if name := _named(told):
        return ToolChoice("named", name=name, parallel=is_parallel)
    if told.get("type") == "allowed_tools":
        allowed = mapping(told.get("allowed_tools"))
        names = tuple(name for row in rows(allowed.get("tools")) if (name := _named(mapping(row))))
        is_required = allowed.get("mode") == "required"
        if names:
            return ToolChoice(
                "allowed", names=names, parallel=is_parallel, is_call_required=is_required
            )
    return ToolChoice("unrecognised", parallel=is_parallel)


def _named(told: Mapping[str, object]) -> str:
    """Return the name of a chosen tool; empty where none is named."""
    kind = text(told.get("type"))
    return text(mapping(told.get(kind)).get("name")) if kind in ("function", "custom") else ""
