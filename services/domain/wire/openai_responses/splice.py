"""A client's own body with only the edits that the target demands.

The edits are the model's name, what the target's catalog facts say it would refuse, and reasoning
items whose state the target's vendor did not issue or cannot read. All else keeps its bytes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.wire.model import TransformAction
from services.domain.wire.openai_chat.refusals import is_refused, nearest_level
from services.domain.wire.openai_responses.request import PLAN
from services.domain.wire.openai_responses.state import is_foreign
from services.domain.wire.reading import mapping, text
from services.domain.wire.recent import scan_request
from services.domain.wire.splicer import BodySplicer

if TYPE_CHECKING:
    from services.domain.wire.model import EncodedRequest, Request, Target
    from services.domain.wire.scanner import Node

_NEVER_DROPPED = ("model", "input", "stream", "max_output_tokens")


def splice_request(body: bytes, request: Request, target: Target) -> EncodedRequest:
    """Return ``body`` with the edits for ``target``, each but the model's recorded."""
    return _Splice(scan_request(body, PLAN, is_last=True), request, target).encoded()


class _Splice(BodySplicer):
    """The edits of one body."""

    def encoded(self) -> EncodedRequest:
        self._name_model()
        self._drop_refused()
        limit = self._document.member("max_output_tokens")
        self._cap(limit, "max_output_tokens", "max_output_tokens")
        self._drop_unreadable_reasoning()
        if "tool_choice" not in self._target.facts.refused_parameters:
            self._loosen_choice('"auto"')
        return self._spliced()

    def _drop_refused(self) -> None:
        unwanted = [node for node in self._document.root.items if self._is_refused(node)]
        for node in unwanted:
            self.note("refused_parameter", TransformAction.DROPPED, node.key)
        self._edits += self._document.root.without(unwanted)
        reasoning = self._document.member("reasoning")
        if reasoning is None or reasoning not in unwanted:
            self._fit_effort(reasoning)

    def _is_refused(self, node: Node) -> bool:
        if node.key in _NEVER_DROPPED or node.value is None:
            return False
        if node.key == "reasoning" and self._target.facts.reasoning == "none":
            return True
        return is_refused(node.key, node.value, self._target)

    def _fit_effort(self, reasoning: Node | None) -> None:
        node = reasoning.members.get("effort") if reasoning is not None else None
        said = text(node.value) if node is not None else ""
        wanted = self._target.effort or said
        if not wanted or self._target.facts.reasoning == "none":
            return
        level = nearest_level(wanted, self._target, is_native=True)
        if level == said:
            return
        word = json.dumps(level)
        if node is not None:
            edit = node.replaced_by(word)
        elif reasoning is not None and isinstance(reasoning.value, dict):
            edit = reasoning.with_member("effort", word)
        elif reasoning is not None:
            edit = reasoning.replaced_by(f'{{"effort":{word}}}')
        else:
            edit = self._document.root.with_member("reasoning", f'{{"effort":{word}}}')
        self._edits.append(edit)
        self.note("reasoning_level", TransformAction.CLAMPED, "reasoning.effort")

    def _drop_unreadable_reasoning(self) -> None:
        """Drop reasoning with state of another family, or of another model after a switch.

        Ids tie later items to the reasoning before them, so they go with it: they are optional.
        """
        items = self._document.member("input")
        found = items.items if items is not None else []
        unwanted = [node for node in found if self._is_unreadable(node)]
        if items is None or not unwanted:
            return
        self._edits += items.without(unwanted)
        dropped = {id(node) for node in unwanted}
        for index, node in enumerate(found):
            if id(node) in dropped:
                self.note("thinking", TransformAction.DROPPED, f"input[{index}]")
            elif _is_said(node) and "id" in node.members:
                self._edits += node.without([node.members["id"]])

    def _is_unreadable(self, node: Node) -> bool:
        item = mapping(node.value)
        if item.get("type") != "reasoning":
            return False
        state = text(item.get("encrypted_content"))
        return is_foreign(state) or (bool(state) and self._target.is_model_switched)


def _is_said(node: Node) -> bool:
    item = mapping(node.value)
    kind = item.get("type", "message")
    is_message = kind == "message" and item.get("role") == "assistant"
    return is_message or kind in ("function_call", "custom_tool_call")
