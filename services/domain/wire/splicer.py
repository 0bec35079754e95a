"""What the splicers of all dialects do alike."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.wire.model import EncodedRequest, Record, TransformAction
from services.domain.wire.reading import whole

if TYPE_CHECKING:
    from services.domain.wire.model import Request, Target
    from services.domain.wire.scanner import Document, Edit, Node


class BodySplicer(Record):
    """Collects the edits of one body of the client's own dialect; all else keeps its bytes."""

    def __init__(self, document: Document, request: Request, target: Target) -> None:
        super().__init__()
        self._document = document
        self._request = request
        self._target = target
        self._edits: list[Edit] = []

    def _spliced(self) -> EncodedRequest:
        return EncodedRequest(self._document.splice(self._edits), tuple(self.transforms))

    def _name_model(self) -> None:
        model = self._document.member("model")
        if model is not None and model.value != self._target.upstream_id:
            self._edits.append(model.replaced_by(quoted(self._target.upstream_id)))

    def _loosen_choice(self, json_text: str) -> None:
        """Let the target choose by itself where it cannot be forced to call a tool."""
        node = self._document.member("tool_choice")
        if node is not None and self._target.refuses(self._request.tool_choice):
            self._edits.append(node.replaced_by(json_text))
            self.note("forced_choice_refused", TransformAction.PROJECTED, "tool_choice")

    def _cap(self, node: Node | None, code: str, path: str) -> None:
        """Keep an output limit under the target's cap."""
        cap = self._target.max_output_tokens
        limit = whole(node.value) if node is not None else None
        if node is not None and cap is not None and limit is not None and limit > cap:
            self._edits.append(node.replaced_by(str(cap)))
            self.note(code, TransformAction.CLAMPED, path)


def quoted(words: str) -> str:
    """Return ``words`` as JSON text."""
    return json.dumps(words, ensure_ascii=False)
