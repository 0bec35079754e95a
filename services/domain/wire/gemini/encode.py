"""A request of another dialect as a body. Equal requests give equal bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.wire.billing import without_billing_header
from services.domain.wire.gemini.history import HistoryEncoder
from services.domain.wire.gemini.refusals import is_refused
from services.domain.wire.gemini.render import text_part
from services.domain.wire.gemini.thinking import plan_thinking
from services.domain.wire.gemini.toolset import tool_members
from services.domain.wire.levels import fitted_limit
from services.domain.wire.model import EncodedRequest, TransformAction, UnbuildableError
from services.domain.wire.reading import dump

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.domain.wire.model import Request, SystemBlock, Target

MAX_STOP_SEQUENCES = 5
"""Stop sequences that the dialect takes."""

MAX_TEMPERATURE = 2.0
"""Highest temperature that the dialect takes."""

_VERBOSITY_LINES = {"low": "Keep the answer short.", "high": "Answer in detail."}


def encode_foreign(request: Request, target: Target) -> EncodedRequest:
    """Return another dialect's request as a body, with a record of every lossy step.

    Raises:
        UnbuildableError: the dialect cannot express the request; names the path.
    """
    return _Encoder(request, target).encode()


class _Encoder:
    """Builds one body; members are added in one fixed order."""

    def __init__(self, request: Request, target: Target) -> None:
        self._request = request
        self._target = target
        self._history = HistoryEncoder()
        self._note = self._history.note

    def encode(self) -> EncodedRequest:
        body: dict[str, object] = {}
        system = [text_part(words) for words in self._system()]
        if system:
            body["systemInstruction"] = {"parts": system}
        body |= tool_members(self._request, self._target, self._note)
        body["contents"] = self._history.encode(self._request.turns)
        if not body["contents"]:
            raise UnbuildableError("messages", "nothing is left to send")
        config: dict[str, object] = {}
        for name, value in self._wished():
            if is_refused(name, self._target):
                self._note("refused_parameter", TransformAction.DROPPED, name)
            else:
                config[name] = value
        if config:
            body["generationConfig"] = config
        self._dropped()
        return EncodedRequest(dump(body), tuple(self._history.transforms))

    def _system(self) -> Iterator[str]:
        blocks: list[SystemBlock] | None = without_billing_header(self._request.system)
        if blocks is not None:
            self._note("billing_header", TransformAction.DROPPED, "system[0]")
        else:
            blocks = list(self._request.system)
        for block in sorted(blocks, key=lambda block: block.after_turn):
            if block.after_turn:
                self._note("system_hoisted", TransformAction.PROJECTED, "messages")
            if block.text.strip():
                yield block.text
        line = _VERBOSITY_LINES.get(self._request.output.verbosity)
        if line:
            self._note("verbosity_as_instruction", TransformAction.PROJECTED, "verbosity")
            yield line

    def _wished(self) -> Iterator[tuple[str, object]]:
        limits = self._request.limits
        limit = fitted_limit(self._request, self._target, self._history)
        if limit is not None:
            yield "maxOutputTokens", limit
        if limits.stop:
            if len(limits.stop) > MAX_STOP_SEQUENCES:
                self._note("stop", TransformAction.CLAMPED, "stop")
            yield "stopSequences", list(limits.stop[:MAX_STOP_SEQUENCES])
        if limits.n is not None and limits.n > 1:
            yield "candidateCount", limits.n
        yield from self._sampling()
        yield from self._output()
        plan = plan_thinking(self._request.reasoning, self._target.facts)
        if plan.code:
            self._note(plan.code, TransformAction.PROJECTED, "reasoning")
        if plan.config is not None:
            yield "thinkingConfig", plan.config

    def _sampling(self) -> Iterator[tuple[str, object]]:
        sampling = self._request.sampling
        temperature = sampling.temperature
        if temperature is not None and not 0 <= temperature <= MAX_TEMPERATURE:
            self._note("temperature", TransformAction.CLAMPED, "temperature")
            temperature = min(MAX_TEMPERATURE, max(0.0, temperature))
        told: tuple[tuple[str, object], ...] = (
            ("temperature", temperature),
            ("topP", sampling.top_p),
            ("topK", sampling.top_k),
            ("seed", sampling.seed),
            ("frequencyPenalty", sampling.frequency_penalty),
            ("presencePenalty", sampling.presence_penalty),
            ("responseLogprobs", sampling.logprobs),
            ("logprobs", sampling.top_logprobs),
        )
        yield from ((name, value) for name, value in told if value is not None)
        if sampling.logit_bias is not None:
            self._note("parameter_unsupported", TransformAction.DROPPED, "logit_bias")

    def _output(self) -> Iterator[tuple[str, object]]:
        output = self._request.output
        if output.kind == "text":
            return
        if output.kind == "json_schema" and not self._target.facts.structured_output:
            self._note("json_schema", TransformAction.DROPPED, "response_format")
        yield "responseMimeType", "application/json"
        if output.kind == "json_schema" and output.schema and self._target.facts.structured_output:
            yield "responseJsonSchema", orjson.Fragment(output.schema)

    def _dropped(self) -> None:
        """Record what stays with the client's own vendor."""
        for key, _ in self._request.extras:
            self._note("unknown_field", TransformAction.DROPPED, key)
