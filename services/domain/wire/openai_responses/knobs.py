"""Parameters of a client's request as canonical ones."""

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
from services.domain.wire.openai_responses.tools import flat_name
from services.domain.wire.reading import mapping, rows, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.scanner import Document

LOGPROBS = "message.output_text.logprobs"
"""Member of ``include`` that asks for log probabilities."""


def limits(document: Document) -> Limits:
    """Return the output limit.

    Raises:
        WireError: it is no whole number.
    """
    return Limits(
        max_output_tokens=whole_knob(document.value("max_output_tokens"), "max_output_tokens")
    )


def sampling(document: Document) -> Sampling:
    """Return the sampling knobs.

    Raises:
        WireError: one of them has the wrong type.
    """
    return Sampling(
        temperature=number_knob(document.value("temperature"), "temperature"),
        top_p=number_knob(document.value("top_p"), "top_p"),
        logprobs=True if LOGPROBS in rows(document.value("include")) else None,
        top_logprobs=whole_knob(document.value("top_logprobs"), "top_logprobs"),
    )


def reasoning(document: Document) -> Reasoning:
    """Return the wished effort: ``none`` and the empty text turn reasoning off."""
    told = document.value("reasoning")
    if told is not None and not isinstance(told, dict):
        raise WireError("reasoning", "must be an object")
    return effort_knob(mapping(told).get("effort"), "reasoning.effort")


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
    return schema_knob(form, verbosity)


def tool_choice(document: Document) -> ToolChoice:
    """Return which tool must be called."""
    parallel = document.value("parallel_tool_calls")
    is_parallel = parallel if isinstance(parallel, bool) else None
    choice = document.value("tool_choice")
    plain = plain_choice(choice, is_parallel=is_parallel)
    return _object_choice(mapping(choice), is_parallel) if plain is None else plain


def _object_choice(told: Mapping[str, object], is_parallel: bool | None) -> ToolChoice:
    kind = text(told.get("type"))
    if kind != "allowed_tools" and (name := _named(told)):
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
    """Return the name of a chosen tool; one that its vendor runs is known by its kind."""
    kind, name = text(told.get("type")), text(told.get("name"))
    if kind not in ("function", "custom"):
        return kind
    return flat_name(text(told.get("namespace")), name) if name else ""
