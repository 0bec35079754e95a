"""A client's own body with only the edits that the target demands.

The model stands in the address. The edits are the schemas of declared tools, where they hold
keywords that the dialect does not know, the output limit over the target's cap, and what the
target's catalog facts, or an answer of its own, say it would refuse. All else keeps its bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.forced import with_forced_effort
from services.domain.wire.gemini.names import child, member
from services.domain.wire.gemini.refusals import is_refused
from services.domain.wire.gemini.request import PLAN
from services.domain.wire.gemini.schema import gemini_schema
from services.domain.wire.gemini.thinking import plan_thinking
from services.domain.wire.gemini.toolset import VALIDATED
from services.domain.wire.model import TransformAction
from services.domain.wire.reading import dump, mapping
from services.domain.wire.recent import scan_request
from services.domain.wire.splicer import BodySplicer, quoted

if TYPE_CHECKING:
    from services.domain.wire.model import EncodedRequest, Request, Target
    from services.domain.wire.scanner import Node

_CAMEL = {
    "max_output_tokens": "maxOutputTokens",
    "stop_sequences": "stopSequences",
    "top_p": "topP",
    "top_k": "topK",
    "frequency_penalty": "frequencyPenalty",
    "presence_penalty": "presencePenalty",
    "response_logprobs": "responseLogprobs",
    "candidate_count": "candidateCount",
    "thinking_config": "thinkingConfig",
}


def splice_request(body: bytes, request: Request, target: Target) -> EncodedRequest:
    """Return ``body`` with the edits for ``target``, each but the model's recorded."""
    return _Splice(
        scan_request(body, PLAN, is_last=True), with_forced_effort(request, target), target
    ).encoded()


class _Splice(BodySplicer):
    """The edits of one body."""

    def encoded(self) -> EncodedRequest:
        self._name_model()
        self._clean_schemas()
        self._loosen_calls()
        config = child(self._document.root, "generationConfig")
        if config is not None:
            self._fit(config)
        if self._target.effort:
            self._force(config)
        return self._spliced()

    def _name_model(self) -> None:
        """Put the target's name where the body repeats the address."""
        node = self._document.member("model")
        name = f"models/{self._target.upstream_id}"
        if node is not None and node.value not in (name, self._target.upstream_id):
            self._edits.append(node.replaced_by(quoted(name)))

    def _clean_schemas(self) -> None:
        tools = child(self._document.root, "tools")
        for at, tool in enumerate(tools.items if tools is not None else ()):
            functions = child(tool, "functionDeclarations")
            for place, function in enumerate(functions.items if functions is not None else ()):
                path = f"tools[{at}].functionDeclarations[{place}].parameters"
                self._clean(function, path)

    def _clean(self, function: Node, path: str) -> None:
        schema = child(function, "parameters")
        if schema is None or not isinstance(schema.value, dict):
            return
        source = schema.raw
        reduced = gemini_schema(source)
        if reduced == source or not schema.value:
            return
        if reduced is None:
            self._edits += function.without([schema])
            self.note("tool_schema", TransformAction.DROPPED, path)
        else:
            self._edits.append(schema.replaced_by(reduced.decode()))
            self.note("tool_schema", TransformAction.PROJECTED, path)

    def _loosen_calls(self) -> None:
        """Ask for calls in the usual mode where the target refuses the one asked for.

        A client that names the functions to choose from keeps its mode: the usual one has no such
        list.
        """
        config = child(child(self._document.root, "toolConfig"), "functionCallingConfig")
        mode = child(config, "mode")
        if config is None or mode is None:
            return
        names = child(config, "allowedFunctionNames")
        is_refused_mode = VALIDATED in self._target.facts.refused_parameters
        if self._target.refuses(self._request.tool_choice):
            self._edits += config.without([names] if names is not None else [])
            self._call_freely(mode, "forced_choice_refused")
        elif is_refused_mode and mode.value == VALIDATED and names is None:
            self._call_freely(mode, "tool_choice")

    def _call_freely(self, mode: Node, code: str) -> None:
        self._edits.append(mode.replaced_by('"AUTO"'))
        self.note(code, TransformAction.PROJECTED, "toolConfig.functionCallingConfig.mode")

    def _force(self, config: Node | None) -> None:
        """Ask for the forced level of reasoning where the client says nothing of reasoning."""
        plan = plan_thinking(self._request.reasoning, self._target.facts)
        is_said = config is not None and child(config, "thinkingConfig") is not None
        if is_said or plan.config is None or is_refused("thinkingConfig", self._target):
            return
        told = dump(plan.config).decode()
        if config is None:
            wish = f'{{"thinkingConfig":{told}}}'
            self._edits.append(self._document.root.with_member("generationConfig", wish))
        else:
            self._edits.append(config.with_member("thinkingConfig", told))
        self.note("reasoning_projected", TransformAction.PROJECTED, "generationConfig")

    def _fit(self, config: Node) -> None:
        unwanted: list[Node] = []
        for node in config.items:
            name = _CAMEL.get(node.key, node.key)
            if node.value is None:
                continue
            if is_refused(name, self._target):
                unwanted.append(node)
                self.note("refused_parameter", TransformAction.DROPPED, name)
            elif name == "maxOutputTokens":
                self._cap(node, "max_tokens", "generationConfig.maxOutputTokens")
            elif name == "thinkingConfig" and self._fit_thinking(node):
                unwanted.append(node)
        self._edits += config.without(unwanted)

    def _fit_thinking(self, node: Node) -> bool:
        """Say the wish as the target takes it; whether it takes none at all."""
        wish, facts = self._request.reasoning, self._target.facts
        plan = plan_thinking(wish, facts)
        if facts.reasoning == "none" or (plan.config is None and wish.mode == "off"):
            self.note("reasoning", TransformAction.DROPPED, "generationConfig.thinkingConfig")
            return True
        told = mapping(node.value)
        is_known = bool(facts.reasoning_levels) or facts.reasoning_budget
        is_met = not plan.code and not self._target.effort
        if (not is_known and not self._target.effort) or plan.config is None or is_met:
            return False
        config = dict(plan.config)
        del config["includeThoughts"]
        if (shown := member(told, "includeThoughts")) is not None:
            config["includeThoughts"] = shown
        self._edits.append(node.replaced_by(dump(config).decode()))
        code = plan.code or "reasoning_projected"
        self.note(code, TransformAction.PROJECTED, "generationConfig.thinkingConfig")
        return False
