"""Sizes and needs of a request, from its bytes and its one decoding. Pure.

Token counts are estimates: bytes of text by four, images at a flat rate. They feed the context
check, token counts without a provider, and what other services decide by.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.model import Features, LastKind, Requirement
from services.domain.catalog import strip_client_tag
from services.domain.vocab import TurnType
from services.domain.wire.model import (
    Media,
    Refusal,
    Role,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.model import Block, Request

TOKENS_PER_IMAGE = 1600
_PROBE_LIMIT_TOKENS = 4

_MEDIA_NEEDS = {
    "image": Requirement.IMAGES,
    "document": Requirement.DOCUMENTS,
    "audio": Requirement.AUDIO,
    "video": Requirement.VIDEO,
}


@dataclass(slots=True)
class _Tally:
    text_bytes: int = 0
    media_bytes: int = 0
    images: int = 0
    tool_calls: int = 0
    needs: set[Requirement] = field(default_factory=set)

    def add(self, blocks: Sequence[Block]) -> None:
        for block in blocks:
            match block:
                case Text(text=text) | Refusal(text=text) | Thinking(text=text):
                    self.text_bytes += len(text.encode("utf-8", "surrogatepass"))
                case ToolUse(arguments=arguments):
                    self.tool_calls += 1
                    self.text_bytes += len(arguments)
                case ToolResult(blocks=inner):
                    self.add(inner)
                case Media():
                    self._add_media(block)
                case _:
                    self.text_bytes += len(block.raw)

    def _add_media(self, media: Media) -> None:
        self.needs.add(_MEDIA_NEEDS[media.kind])
        if media.kind == "image":
            self.images += 1
            if media.url:
                self.needs.add(Requirement.REMOTE_IMAGE)
        if media.file_id:
            self.needs.add(Requirement.VENDOR_FILE)
        self.media_bytes += len(media.data)
        self.text_bytes += len(media.text)


def features_of(request: Request, body_bytes: int) -> Features:
    """Return the features of a decoded request whose body has that many bytes."""
    tally = _Tally()
    for turn in request.turns:
        tally.add(turn.blocks)
    text_bytes = tally.text_bytes + sum(len(block.text.encode()) for block in request.system)
    tools_bytes = sum(len(tool.schema) + len(tool.description) for tool in request.tools)
    image_tokens = TOKENS_PER_IMAGE * tally.images
    plain_bytes = max(0, body_bytes - tally.media_bytes)
    return Features(
        requested_model=strip_client_tag(request.model),
        input_tokens=(text_bytes + tools_bytes) // 4 + image_tokens,
        text_tokens=text_bytes // 4,
        overflow_tokens=plain_bytes // 4 + image_tokens,
        full_tokens=plain_bytes // 6 + image_tokens,
        max_output_tokens=request.limits.max_output_tokens or 0,
        last_kind=_last_kind(request),
        tool_count=len(request.tools),
        image_count=tally.images,
        message_count=len(request.turns),
        tool_call_count=tally.tool_calls,
        is_streaming=request.is_stream,
        requirements=tuple(sorted(tally.needs | _needs_of_knobs(request))),
        body_bytes=body_bytes,
        effort=request.reasoning.level,
    )


def turn_type_of(request: Request, features: Features) -> TurnType:
    """Return what kind of action a request is."""
    limit = request.limits.max_output_tokens
    if limit is not None and 1 <= limit <= _PROBE_LIMIT_TOKENS:
        return TurnType.PROBE
    if features.last_kind is LastKind.TOOL_RESULT:
        return TurnType.TOOL_RESULT
    return TurnType.MAIN_LOOP


def _last_kind(request: Request) -> LastKind:
    for turn in reversed(request.turns):
        if turn.role is Role.SYSTEM:
            continue
        if turn.role is Role.ASSISTANT:
            return LastKind.ASSISTANT
        is_result = any(isinstance(block, ToolResult) for block in turn.blocks)
        return LastKind.TOOL_RESULT if is_result else LastKind.USER_PROMPT
    return LastKind.NONE


def _needs_of_knobs(request: Request) -> set[Requirement]:
    needs: set[Requirement] = set()
    if any(tool.kind == "server" for tool in request.tools):
        needs.add(Requirement.SERVER_TOOLS)
    if request.output.kind == "json_schema":
        needs.add(Requirement.STRUCTURED_OUTPUT)
    if request.sampling.logprobs:
        needs.add(Requirement.LOGPROBS)
    if (request.limits.n or 1) > 1:
        needs.add(Requirement.MULTI_CANDIDATE)
    return needs
