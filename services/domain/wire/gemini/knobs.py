"""Parameters of a client's request as canonical ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.gemini.names import child, member
from services.domain.wire.gemini.schema import plain_types
from services.domain.wire.knobs import number_knob, whole_knob
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

    from services.domain.wire.scanner import Node

_JSON_TYPE = "application/json"
_MODES: Mapping[str, str] = {"AUTO": "auto", "VALIDATED": "auto", "ANY": "required", "NONE": "none"}


class Config:
    """The ``generationConfig`` of one request; an absent one says nothing."""

    def __init__(self, node: Node | None) -> None:
        if node is not None and not isinstance(node.value, dict):
            raise WireError("generationConfig", "must be an object")
        self._node = node
        self._told = mapping(node.value) if node is not None else {}

    def limits(self) -> Limits:
        """Return output limit, stop sequences and number of answers."""
        stops = member(self._told, "stopSequences")
        found = rows(stops)
        if stops is not None and (
            not isinstance(stops, list) or not all(isinstance(row, str) for row in found)
        ):
            raise WireError("generationConfig.stopSequences", "must be a list of strings")
        return Limits(
            max_output_tokens=self._whole("maxOutputTokens"),
            stop=tuple(text(row) for row in found),
            n=self._whole("candidateCount"),
        )

    def sampling(self) -> Sampling:
        """Return the sampling knobs."""
        logprobs = member(self._told, "responseLogprobs")
        return Sampling(
            temperature=self._number("temperature"),
            top_p=self._number("topP"),
            top_k=self._whole("topK"),
            seed=self._whole("seed"),
            frequency_penalty=self._number("frequencyPenalty"),
            presence_penalty=self._number("presencePenalty"),
            logprobs=logprobs if isinstance(logprobs, bool) else None,
            top_logprobs=self._whole("logprobs"),
        )

    def reasoning(self) -> Reasoning:
        """Return the wish for reasoning: a level, else a budget (0 off, -1 as the model likes)."""
        told = mapping(member(self._told, "thinkingConfig"))
        level = text(member(told, "thinkingLevel")).lower()
        if level and level != "thinking_level_unspecified":
            return Reasoning("level", level=level)
        budget = whole_knob(
            member(told, "thinkingBudget"), "generationConfig.thinkingConfig.thinkingBudget"
        )
        if budget is None:
            return Reasoning("auto") if member(told, "includeThoughts") is True else Reasoning()
        if budget == 0:
            return Reasoning("off")
        return Reasoning("auto") if budget < 0 else Reasoning("budget", budget_tokens=budget)

    def output(self) -> OutputFormat:
        """Return the wished form of the answer."""
        if text(member(self._told, "responseMimeType")) != _JSON_TYPE:
            return OutputFormat()
        for name in ("responseJsonSchema", "responseSchema"):
            schema = child(self._node, name)
            if schema is not None and isinstance(schema.value, dict):
                return OutputFormat("json_schema", schema=plain_types(schema.raw))
        return OutputFormat("json_object")

    def _whole(self, name: str) -> int | None:
        return whole_knob(member(self._told, name), f"generationConfig.{name}")

    def _number(self, name: str) -> float | None:
        return number_knob(member(self._told, name), f"generationConfig.{name}")


def tool_choice(node: Node | None) -> ToolChoice:
    """Return which tool must be called, from ``toolConfig``."""
    config = mapping(member(mapping(node.value if node else None), "functionCallingConfig"))
    told = text(config.get("mode")).upper()
    names = tuple(filter(None, map(text, rows(member(config, "allowedFunctionNames")))))
    mode = _MODES.get(told)
    if mode is None:
        is_said = told not in ("", "MODE_UNSPECIFIED")
        return ToolChoice("unrecognised") if is_said else ToolChoice()
    if names and mode in ("auto", "required"):
        if mode == "required" and len(names) == 1:
            return ToolChoice("named", name=names[0])
        return ToolChoice("allowed", names=names, is_call_required=mode == "required")
    match mode:
        case "auto":
            return ToolChoice("auto")
        case "required":
            return ToolChoice("required")
        case _:
            return ToolChoice("none")
