"""Edits of a Messages body on its way to a Messages target.

Only what the target would refuse is changed, and everything else keeps its bytes: a body that is
dumped anew loses its prompt cache and the validity of its signatures. What a target refuses is
read from its catalog facts; a fact that is not stated changes nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.wire.anthropic.encode import REQUIRED_MEMBERS, default_max_tokens
from services.domain.wire.anthropic.marks import with_added_marks
from services.domain.wire.anthropic.reasoning import (
    answers_unsigned_calls,
    is_of_reasoning,
    plan_reasoning,
)
from services.domain.wire.anthropic.request import read_document
from services.domain.wire.anthropic.response import clean_call_id
from services.domain.wire.forced import with_forced_effort
from services.domain.wire.levels import nearest_level
from services.domain.wire.model import TransformAction
from services.domain.wire.reading import text
from services.domain.wire.splicer import BodySplicer

if TYPE_CHECKING:
    from services.domain.wire.anthropic.reasoning import Plan
    from services.domain.wire.model import EncodedRequest, Request, Target
    from services.domain.wire.scanner import Document, Node


_EFFORT = "output_config.effort"


class _Splicer(BodySplicer):
    """Collects the edits of one body."""

    def __init__(self, document: Document, request: Request, target: Target) -> None:
        super().__init__(document, request, target)
        self._dropped: list[Node] = []
        self._dropped_members: dict[str, list[Node]] = {}
        self._refused_names = target.facts.refused_parameters - REQUIRED_MEMBERS

    def splice(self) -> EncodedRequest:
        self._name_model()
        max_tokens = self._max_tokens()
        self._reasoning(max_tokens)
        self._refused()
        self._choose_freely()
        self._history()
        self._drop_members()
        self._edits.extend(self._document.root.without(self._dropped))
        return self._spliced()

    def _max_tokens(self) -> int:
        node = self._document.member("max_tokens")
        cap = self._target.max_output_tokens
        asked = self._request.limits.max_output_tokens
        if node is None or node.value is None:
            limit = default_max_tokens(self._target)
            self._set("max_tokens", str(limit))
            self.note("max_tokens_defaulted", TransformAction.SYNTHESISED, "max_tokens")
            return limit
        if cap is not None and asked is not None and asked > cap:
            self._set("max_tokens", str(cap))
            self.note("max_tokens_clamped", TransformAction.CLAMPED, "max_tokens")
            return cap
        return asked or 0

    def _set(self, key: str, json_text: str) -> None:
        """Put a value in the place of a top-level member, which is added when there is none."""
        node = self._document.member(key)
        if node is None:
            self._edits.append(self._document.root.with_member(key, json_text))
        else:
            self._forget(node)
            self._edits.append(node.replaced_by(json_text))

    def _drop(self, key: str, code: str) -> None:
        node = self._document.member(key)
        if node is None or node in self._dropped:
            return
        self._forget(node)
        self._dropped.append(node)
        self.note(code, TransformAction.DROPPED, key)
        if key == "thinking":
            self._drop_clearing()

    def _drop_clearing(self) -> None:
        """Leave out the wish that old reasoning be cleared: it is refused without reasoning."""
        owner = self._document.member("context_management")
        edits = owner.members.get("edits") if owner else None
        if edits is None:
            return
        gone = [each for each in edits.items if is_of_reasoning(each.value)]
        if gone and len(gone) == len(edits.items):
            self._drop("context_management", "clearing_without_thinking")
        elif gone:
            self._edits.extend(edits.without(gone))
            self.note("clearing_without_thinking", TransformAction.DROPPED, "context_management")

    def _reasoning(self, max_tokens: int) -> None:
        """Say a wish for reasoning in the form that a target of known abilities takes."""
        facts, request = self._target.facts, self._request
        if facts.reasoning == "none":
            return
        if self._target.effort:
            self._force(max_tokens)
            return
        self._fit_effort()
        node = self._document.member("thinking")
        if node is None or not isinstance(node.value, dict):
            return
        kind = node.value.get("type")
        has_open_tools = answers_unsigned_calls(request, self._target)
        if not (
            (kind == "enabled" and facts.adaptive_thinking and not facts.reasoning_budget)
            or (kind == "enabled" and has_open_tools)
            or (kind == "adaptive" and facts.reasoning_budget and not facts.adaptive_thinking)
            or (kind == "disabled" and facts.reasoning == "always")
        ):
            return
        plan = plan_reasoning(
            request.reasoning,
            facts,
            max_tokens=max_tokens,
            cap=self._target.max_output_tokens,
            has_open_tools=has_open_tools,
        )
        self._apply(plan, max_tokens)

    def _force(self, max_tokens: int) -> None:
        """Ask for the forced level, and take back what the target refuses beside reasoning."""
        plan = plan_reasoning(
            self._request.reasoning,
            self._target.facts,
            max_tokens=max_tokens,
            cap=self._target.max_output_tokens,
            has_open_tools=answers_unsigned_calls(self._request, self._target),
        )
        self._apply(plan, max_tokens)
        if not plan.is_thinking:
            return
        for key in ("temperature", "top_k"):
            self._drop(key, f"{key}_with_thinking")
        if self._request.tool_choice.mode in ("required", "named"):
            self._set("tool_choice", '{"type":"auto"}')
            self.note("forced_choice_with_thinking", TransformAction.PROJECTED, "tool_choice")

    def _choose_freely(self) -> None:
        """Let a target choose by itself that refuses to be forced to call a tool."""
        node, choice = self._document.member("tool_choice"), self._request.tool_choice
        if node is None or node in self._dropped or not self._target.refuses(choice):
            return
        self._forget(node)
        is_single = choice.parallel is False
        single = ',"disable_parallel_tool_use":true' if is_single else ""
        self._loosen_choice(f'{{"type":"auto"{single}}}')

    def _fit_effort(self) -> None:
        """Bring an effort to a level that the target has; one without levels gets none."""
        facts = self._target.facts
        config = self._document.member("output_config")
        effort = config.members.get("effort") if config else None
        if config is None or effort is None or not isinstance(effort.value, str):
            return
        if facts.reasoning_levels:
            level = nearest_level(effort.value, facts.reasoning_levels)
            if level != effort.value:
                self._edits.append(effort.replaced_by(json.dumps(level)))
                self.note("effort_projected", TransformAction.PROJECTED, _EFFORT)
        elif not facts.adaptive_thinking:
            self._drop_member(config, effort, _EFFORT, "effort_dropped")

    def _drop_member(self, owner: Node, member: Node, path: str, code: str) -> None:
        """Remove one member of a top-level object, and the object when nothing else is in it."""
        gone = self._dropped_members.setdefault(owner.key, [])
        if owner in self._dropped or member in gone:
            return
        self._forget(member)
        gone.append(member)
        self.note(code, TransformAction.DROPPED, path)

    def _drop_members(self) -> None:
        """Turn the removals of inner members into edits."""
        for owner_key, gone in self._dropped_members.items():
            owner = self._document.member(owner_key)
            if owner is None or owner in self._dropped:
                continue
            if len(gone) == len(owner.items):
                self._forget(owner)
                self._dropped.append(owner)
            else:
                self._edits.extend(owner.without(gone))

    def _forget(self, node: Node) -> None:
        """Take back the edits inside a value that is about to be replaced or removed."""
        self._edits = [
            edit for edit in self._edits if edit.start < node.start or edit.end > node.end
        ]

    def _apply(self, plan: Plan, max_tokens: int) -> None:
        if plan.thinking is None:
            self._drop("thinking", plan.code or "thinking_dropped")
        else:
            self._set("thinking", json.dumps(plan.thinking, separators=(",", ":")))
            self.note(plan.code or "thinking_projected", TransformAction.PROJECTED, "thinking")
        if plan.max_tokens is not None and plan.max_tokens != max_tokens:
            self._set("max_tokens", str(plan.max_tokens))
        if plan.effort and self._refused_names.isdisjoint(["output_config", _EFFORT]):
            self._effort(plan.effort)

    def _effort(self, effort: str) -> None:
        config = self._document.member("output_config")
        if config is None or config.children is None:
            self._set("output_config", json.dumps({"effort": effort}))
            return
        before = config.members.get("effort")
        word = json.dumps(effort)
        if before is not None:
            self._forget(before)
        edit = before.replaced_by(word) if before else config.with_member("effort", word)
        self._edits.append(edit)

    def _refused(self) -> None:
        for name in sorted(self._refused_names):
            owner, _, member = name.partition(".")
            if not member:
                self._drop(name, "parameter_refused")
                continue
            node = self._document.member(owner)
            inner = node.members.get(member) if node else None
            if node is not None and inner is not None and node not in self._dropped:
                self._drop_member(node, inner, name, "parameter_refused")

    def _history(self) -> None:
        messages = self._document.member("messages")
        if messages is None:
            return
        emptied: list[Node] = []
        for index, message in enumerate(messages.items):
            content = message.members.get("content")
            if content is None or not content.items:
                continue
            path = f"messages[{index}].content"
            unwanted = [block for block in content.items if self._is_unwanted(block)]
            if unwanted:
                self.note("thinking_dropped", TransformAction.DROPPED, path)
            if len(unwanted) == len(content.items):
                emptied.append(message)
                continue
            self._edits.extend(content.without(unwanted))
            self._clean_ids(content, path)
        self._edits.extend(messages.without(emptied))

    def _is_unwanted(self, block: Node) -> bool:
        """Whether a block is reasoning that the target cannot verify."""
        value = block.value
        if not isinstance(value, dict):
            return False
        if value.get("type") == "thinking":
            return self._target.is_model_switched or not text(value.get("signature"))
        return value.get("type") == "redacted_thinking" and self._target.is_model_switched

    def _clean_ids(self, content: Node, path: str) -> None:
        for block in content.items:
            for key in ("id", "tool_use_id"):
                node = block.members.get(key)
                if node is None or not isinstance(node.value, str):
                    continue
                clean = clean_call_id(node.value)
                if clean != node.value:
                    self._edits.append(node.replaced_by(json.dumps(clean)))
                    self.note("call_id_cleaned", TransformAction.PROJECTED, path)


def splice_request(body: bytes, request: Request, target: Target) -> EncodedRequest:
    """Return a Messages body with only the edits that ``target`` demands.

    Raises:
        WireError: the body cannot be read.
    """
    request = with_forced_effort(request, target)
    spliced = _Splicer(read_document(body, is_last=True), request, target).splice()
    return with_added_marks(spliced) if target.rules.is_cache_marked else spliced
