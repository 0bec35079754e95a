"""A client's own chat body with only the edits that the target demands.

The edits are the model's name, usage asked for on streams (they are metered; a filter keeps the
extra frame from clients that did not ask), the role ``developer`` where only the vendor knows it,
and what the target's catalog facts say it would refuse. All else keeps its bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.model import TransformAction
from services.domain.wire.openai_chat.refusals import is_refused, nearest_level, output_limit_key
from services.domain.wire.openai_chat.request import PLAN
from services.domain.wire.reading import text
from services.domain.wire.recent import scan_request
from services.domain.wire.scanner import Edit
from services.domain.wire.splicer import BodySplicer, quoted

if TYPE_CHECKING:
    from services.domain.wire.model import EncodedRequest, Request, Target
    from services.domain.wire.scanner import Document, Node

_LIMIT_KEYS = ("max_tokens", "max_completion_tokens")
_USAGE_WISH = '{"include_usage":true}'


def splice_request(body: bytes, request: Request, target: Target) -> EncodedRequest:
    """Return ``body`` with the edits for ``target``, each but the model's recorded."""
    return _Splice(scan_request(body, PLAN, is_last=True), request, target).encoded()


class _Splice(BodySplicer):
    """The edits of one body."""

    def __init__(self, document: Document, request: Request, target: Target) -> None:
        super().__init__(document, request, target)
        self._unwanted: list[Node] = []

    def encoded(self) -> EncodedRequest:
        self._name_model()
        self._drop_refused()
        self._fit_limit()
        self._fit_effort()
        if not is_refused("tool_choice", None, self._target):
            self._loosen_choice('"auto"')
        self._ask_for_usage()
        if not self._target.is_vendor:
            self._rename_developers()
        if self._target.is_vendor or is_refused("cache_control", None, self._target):
            self._drop_cache_marks()
        self._edits += self._document.root.without(self._unwanted)
        return self._spliced()

    def _drop(self, node: Node) -> None:
        self._unwanted.append(node)
        self.note("refused_parameter", TransformAction.DROPPED, node.key)

    def _drop_refused(self) -> None:
        for node in self._document.root.items:
            is_limit_or_model = node.key in _LIMIT_KEYS or node.key in ("model", "messages")
            is_said = node.value is not None
            if is_said and not is_limit_or_model and is_refused(node.key, node.value, self._target):
                self._drop(node)

    def _fit_limit(self) -> None:
        """Name the output limit as the target reads it, once, and keep it under its cap."""
        old, new = (self._document.member(key) for key in _LIMIT_KEYS)
        if output_limit_key(self._target) == "max_completion_tokens" and old is not None:
            if new is not None:
                self._drop(old)
            else:
                self._edits.append(Edit(old.outer_start, old.start, '"max_completion_tokens":'))
                self.note("max_tokens", TransformAction.PROJECTED, "max_tokens")
        for node in (old, new):
            if node is not None and node not in self._unwanted:
                self._cap(node, node.key, node.key)

    def _fit_effort(self) -> None:
        node = self._document.member("reasoning_effort")
        said = text(node.value) if node is not None else ""
        wanted = self._target.effort or said
        if not wanted or is_refused("reasoning_effort", wanted, self._target):
            return
        level = nearest_level(wanted, self._target, is_native=True)
        if level == said:
            return
        word = quoted(level)
        if node is None:
            self._edits.append(self._document.root.with_member("reasoning_effort", word))
        else:
            self._edits.append(node.replaced_by(word))
        self.note("reasoning_level", TransformAction.CLAMPED, "reasoning_effort")

    def _ask_for_usage(self) -> None:
        if not self._request.is_stream or is_refused("stream_options", None, self._target):
            return
        node = self._document.member("stream_options")
        if node is None:
            self._edits.append(self._document.root.with_member("stream_options", _USAGE_WISH))
        elif not isinstance(node.value, dict):
            self._edits.append(node.replaced_by(_USAGE_WISH))
        elif (wish := node.members.get("include_usage")) is None:
            self._edits.append(node.with_member("include_usage", "true"))
        elif wish.value is not True:
            self._edits.append(wish.replaced_by("true"))
        else:
            return
        self.note("stream_usage", TransformAction.SYNTHESISED, "stream_options")

    def _drop_cache_marks(self) -> None:
        """Drop breakpoints, which are another vendor's, wherever they stand."""
        for key in ("messages", "tools"):
            node = self._document.member(key)
            for index, row in enumerate(node.items if node is not None else ()):
                content = row.members.get("content")
                for place in (row, *(content.items if content is not None else ())):
                    mark = place.members.get("cache_control")
                    if mark is not None:
                        self._edits += place.without([mark])
                        self.note("cache_mark", TransformAction.DROPPED, f"{key}[{index}]")

    def _rename_developers(self) -> None:
        messages = self._document.member("messages")
        for index, message in enumerate(messages.items if messages is not None else ()):
            role = message.members.get("role")
            if role is not None and role.value == "developer":
                self._edits.append(role.replaced_by('"system"'))
                path = f"messages[{index}].role"
                self.note("developer_role", TransformAction.PROJECTED, path)
