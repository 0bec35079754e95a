"""A canonical request as a Messages body: from another dialect, or its own after a rewrite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.wire.anthropic.history import HistoryEncoder
from services.domain.wire.anthropic.marks import check_marks, with_added_marks
from services.domain.wire.anthropic.reasoning import plan_reasoning
from services.domain.wire.anthropic.schema import OPEN_SCHEMA, clean_schema
from services.domain.wire.model import (
    EncodedRequest,
    Record,
    ToolUse,
    TransformAction,
    UnbuildableError,
)
from services.domain.wire.reading import dump, mapping, rows
from services.domain.wire.subschemas import EMPTY_SCHEMA

if TYPE_CHECKING:
    from services.domain.wire.anthropic.reasoning import Plan
    from services.domain.wire.model import Request, Target, Tool

DEFAULT_MAX_TOKENS = 8192
"""Output limit of a request that names none, unless the target's cap is lower."""

REQUIRED_MEMBERS = frozenset(["max_tokens", "messages", "model", "stream"])
"""Members that every body has, whatever a catalog says of them."""

JSON_OBJECT_LINE = "Answer with exactly one JSON object and nothing else."
"""Instruction that stands for a wish for any JSON object."""

_VERBOSITY_LINES = {
    "low": "Keep the answer short.",
    "high": "Answer in detail.",
}
_CHOICES = {"auto": "auto", "required": "any", "none": "none", "named": "tool", "allowed": "any"}


def default_max_tokens(target: Target) -> int:
    """Return the output limit for a request that names none."""
    return min(target.max_output_tokens or DEFAULT_MAX_TOKENS, DEFAULT_MAX_TOKENS)


class _Encoder(Record):
    """Builds one body; members are added in one fixed order, so equal input gives equal bytes."""

    def __init__(self, request: Request, target: Target) -> None:
        super().__init__()
        self._request = request
        self._target = target
        self._body: dict[str, object] = {}

    def encode(self) -> EncodedRequest:
        request, target = self._request, self._target
        if request.limits.n is not None and request.limits.n > 1:
            raise UnbuildableError("n", "the Messages dialect gives one answer")
        history = HistoryEncoder(target)
        messages = history.encode(request.turns)
        max_tokens = self._max_tokens()
        plan = plan_reasoning(
            request.reasoning,
            target.facts,
            max_tokens=max_tokens,
            cap=target.max_output_tokens,
            has_open_tools=_answers_unsigned_calls(messages),
        )
        if plan.code:
            self.note(plan.code, TransformAction.PROJECTED, "reasoning")
        self._body["model"] = target.upstream_id
        self._body["max_tokens"] = plan.max_tokens or max_tokens
        self._system()
        self._tools(plan)
        self._body["messages"] = messages
        self.transforms.extend(history.transforms)
        self._parameters(plan)
        self._body["stream"] = request.is_stream
        self._dropped()
        self._refused()
        return EncodedRequest(dump(self._body), tuple(self.transforms))

    def _refused(self) -> None:
        """Leave out what the catalog says the target refuses."""
        for name in sorted(self._target.facts.refused_parameters - REQUIRED_MEMBERS):
            owner, _, member = name.partition(".")
            holder = self._body.get(owner) if member else self._body
            if isinstance(holder, dict) and holder.pop(member or owner, None) is not None:
                self.note("parameter_refused", TransformAction.DROPPED, name)
            if member and holder == {}:
                del self._body[owner]

    def _max_tokens(self) -> int:
        asked, cap = self._request.limits.max_output_tokens, self._target.max_output_tokens
        if not asked:
            return default_max_tokens(self._target)
        if cap is not None and asked > cap:
            self.note("max_tokens_clamped", TransformAction.CLAMPED, "max_tokens")
            return cap
        return asked

    def _system(self) -> None:
        blocks: list[dict[str, object]] = []
        for block in sorted(self._request.system, key=lambda block: block.after_turn):
            if block.after_turn:
                self.note("system_hoisted", TransformAction.PROJECTED, "messages")
            if not block.text.strip():
                continue
            encoded: dict[str, object] = {"type": "text", "text": block.text}
            if block.cache is not None:
                encoded["cache_control"] = orjson.Fragment(block.cache.raw)
            blocks.append(encoded)
        blocks.extend({"type": "text", "text": line} for line in self._added_lines())
        if blocks:
            self._body["system"] = blocks

    def _added_lines(self) -> list[str]:
        output = self._request.output
        lines: list[str] = []
        if output.kind == "json_object":
            self.note("json_object_as_instruction", TransformAction.PROJECTED, "response_format")
            lines.append(JSON_OBJECT_LINE)
        if output.kind == "json_schema" and not self._target.facts.structured_output:
            self.note("json_schema_as_instruction", TransformAction.PROJECTED, "response_format")
            schema = output.schema.decode("utf-8", "replace")
            lines.append(f"{JSON_OBJECT_LINE} It must obey this JSON schema: {schema}")
        if output.verbosity in _VERBOSITY_LINES:
            self.note("verbosity_as_instruction", TransformAction.PROJECTED, "verbosity")
            lines.append(_VERBOSITY_LINES[output.verbosity])
        return lines

    def _tools(self, plan: Plan) -> None:
        tools = {tool.name: self._tool(tool, i) for i, tool in enumerate(self._request.tools)}
        if len(tools) < len(self._request.tools):
            self.note("duplicate_tool_dropped", TransformAction.DROPPED, "tools")
        is_stubbed = not tools and self._stub_tools(tools)
        if not tools:
            return
        self._body["tools"] = list(tools.values())
        choice = {"type": "none"} if is_stubbed else self._tool_choice(plan)
        if choice:
            self._body["tool_choice"] = choice

    def _tool(self, tool: Tool, index: int) -> dict[str, object]:
        path = f"tools[{index}]"
        schema, codes = clean_schema(tool.schema if tool.schema != b"{}" else EMPTY_SCHEMA)
        for code in codes:
            self.note(code, TransformAction.PROJECTED, path)
        if tool.strict:
            self.note("strict_dropped", TransformAction.DROPPED, path)
        encoded: dict[str, object] = {"name": tool.name}
        if tool.description:
            encoded["description"] = tool.description
        encoded["input_schema"] = orjson.Fragment(schema)
        if tool.cache is not None:
            encoded["cache_control"] = orjson.Fragment(tool.cache.raw)
        return encoded

    def _stub_tools(self, tools: dict[str, dict[str, object]]) -> bool:
        """Declare the tools that only the history knows; the dialect wants a declaration."""
        for turn in self._request.turns:
            for block in turn.blocks:
                if isinstance(block, ToolUse) and block.name not in tools:
                    schema = orjson.Fragment(OPEN_SCHEMA)
                    tools[block.name] = {"name": block.name, "input_schema": schema}
        if tools:
            self.note("history_tools_declared", TransformAction.SYNTHESISED, "tools")
        return bool(tools)

    def _tool_choice(self, plan: Plan) -> dict[str, object] | None:
        choice = self._request.tool_choice
        kind = _CHOICES.get(choice.mode, "")
        if choice.mode == "allowed" and not choice.is_call_required:
            kind = "auto"
        if kind in ("any", "tool") and plan.is_thinking:
            self.note("forced_choice_with_thinking", TransformAction.PROJECTED, "tool_choice")
            kind = "auto"
        elif choice.mode == "allowed":
            self.note("allowed_tools_widened", TransformAction.PROJECTED, "tool_choice")
        if choice.parallel is False and kind in ("", "auto", "any", "tool"):
            encoded: dict[str, object] = {"type": kind or "auto", "disable_parallel_tool_use": True}
        elif kind:
            encoded = {"type": kind}
        else:
            return None
        if kind == "tool":
            encoded["name"] = choice.name
        return encoded

    def _parameters(self, plan: Plan) -> None:
        limits, output = self._request.limits, self._request.output
        top_k = self._request.sampling.top_k
        stops = [stop for stop in limits.stop if stop.strip()]
        if len(stops) < len(limits.stop):
            self.note("blank_stop_dropped", TransformAction.DROPPED, "stop")
        if stops:
            self._body["stop_sequences"] = stops
        self._sampling(plan)
        if top_k is not None:
            if plan.is_thinking:
                self.note("top_k_with_thinking", TransformAction.DROPPED, "top_k")
            else:
                self._body["top_k"] = top_k
        if plan.thinking is not None:
            self._body["thinking"] = plan.thinking
        config: dict[str, object] = {}
        if plan.effort:
            config["effort"] = plan.effort
        if output.kind == "json_schema" and self._target.facts.structured_output:
            schema = orjson.Fragment(output.schema or b"{}")
            config["format"] = {"type": "json_schema", "schema": schema}
        if config:
            self._body["output_config"] = config
        if self._request.user:
            self._body["metadata"] = {"user_id": self._request.user}

    def _sampling(self, plan: Plan) -> None:
        """Send the temperature, or else top_p: newer models refuse the two together."""
        temperature, top_p = self._request.sampling.temperature, self._request.sampling.top_p
        if temperature is not None and plan.is_thinking:
            self.note("temperature_with_thinking", TransformAction.DROPPED, "temperature")
            temperature = None
        if temperature is not None:
            clamped = min(1.0, max(0.0, temperature))
            if clamped != temperature:
                self.note("temperature_clamped", TransformAction.CLAMPED, "temperature")
            self._body["temperature"] = clamped if clamped != temperature else temperature
        if top_p is None:
            return
        if temperature is not None or (plan.is_thinking and top_p < 0.95):
            self.note("top_p_dropped", TransformAction.DROPPED, "top_p")
        else:
            self._body["top_p"] = top_p

    def _dropped(self) -> None:
        """Record what this dialect has no member for."""
        request, sampling = self._request, self._request.sampling
        foreign: dict[str, object] = {
            "frequency_penalty": sampling.frequency_penalty,
            "logit_bias": sampling.logit_bias,
            "logprobs": sampling.logprobs,
            "presence_penalty": sampling.presence_penalty,
            "seed": sampling.seed,
            "top_logprobs": sampling.top_logprobs,
        }
        for name, value in foreign.items():
            if value is not None:
                self.note("parameter_unsupported", TransformAction.DROPPED, name)
        for name, _ in request.extras:
            self.note("extra_dropped", TransformAction.DROPPED, name)


def encode_foreign(request: Request, target: Target) -> EncodedRequest:
    """Return another dialect's request as a Messages body, with a record of every lossy step.

    Raises:
        UnbuildableError: the dialect cannot express the request; names the path.
        WireError: its cache breakpoints are none that any target of this dialect takes.
    """
    check_marks(request)
    encoded = _Encoder(request, target).encode()
    return with_added_marks(encoded) if target.rules.is_cache_marked else encoded


def _answers_unsigned_calls(messages: list[dict[str, object]]) -> bool:
    """Whether the last message answers calls that no signed reasoning comes before."""
    answered, *said = ([mapping(row) for row in rows(m["content"])] for m in messages[:-3:-1])
    if not any(row.get("type") == "tool_result" for row in answered):
        return False
    return not said or said[0][0].get("type") not in ("thinking", "redacted_thinking")
