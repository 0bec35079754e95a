"""What a request is like, without its words: sizes, counts, needs and what its last message is."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.content import AUDIO_FORMATS
from services.domain.wire.model import (
    Media,
    Opaque,
    Refusal,
    Role,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from services.domain.wire.openai_responses.request import stored_field
from services.domain.wire.reading import count, join_surrogates, mapping, peek
from services.domain.wire.state.requests import SIGNING_FAMILY, has_unsigned_calls, opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from services.domain.wire.model import Block, Request

TOKENS_PER_IMAGE = 1600
"""Estimate of one image."""
MEDIA_BYTES_PER_TOKEN = 64
"""Base64 bytes of other media per token: a page of a PDF is about 100 KB and 1,600 tokens."""

MANY_TOOLS = 128
"""Number of tools above which some targets refuse a request."""

_SERVER_KINDS = (
    "server_tool_use",
    "mcp_tool_use",
    "mcp_tool_result",
    "container_upload",
    "executableCode",
    "codeExecutionResult",
    "mcp_list_tools",
)
_SERVER_ENDINGS = ("_tool_result", "_call", "_call_output")


class LastKind(enum.StrEnum):
    """What the last message is; system messages do not count."""

    USER_PROMPT = "user_prompt"
    TOOL_RESULT = "tool_result"
    ASSISTANT = "assistant"
    NONE = "none"


class Requirement(enum.StrEnum):
    """What a request needs that not every target can carry, in ascending order."""

    NATIVE_ONLY = "native_only"
    IMAGES = "images"
    REMOTE_IMAGE = "remote_image"
    DOCUMENTS = "documents"
    AUDIO = "audio"
    VIDEO = "video"
    VENDOR_FILE = "vendor_file"
    REASONING_STATE = "reasoning_state"
    SERVER_TOOLS = "server_tools"
    CITATIONS = "citations"
    STRUCTURED_OUTPUT = "structured_output"
    LOGPROBS = "logprobs"
    MULTI_CANDIDATE = "multi_candidate"
    MANY_TOOLS = "many_tools"
    SIGNED_TOOL_HISTORY = "signed_tool_history"
    """Calls in the history lack the signature that some models insist on."""
    FORCED_CALL = "forced_call"
    """The answer must call a tool."""
    REMOTE_DOCUMENT = "remote_document"
    OTHER_AUDIO = "other_audio"
    """Audio in another form than wav and mp3."""


_ORDER = tuple(Requirement)

_MEDIA_NEEDS: Mapping[str, Requirement] = {
    "image": Requirement.IMAGES,
    "document": Requirement.DOCUMENTS,
    "audio": Requirement.AUDIO,
    "video": Requirement.VIDEO,
}


@dataclass(frozen=True, slots=True)
class Features:
    """Facts about one request. Token counts are estimates in tokens; 0 where nothing was asked."""

    requested_model: str
    body_bytes: int
    text_tokens: int
    """UTF-8 bytes of all system and message text / 4."""
    overflow_tokens: int
    """(body bytes - base64 bytes of media) / 4 + the tokens of media: for context fit."""
    full_tokens: int
    """The same with / 6: for the long-context trigger."""
    signature_tokens: int
    """Tokens of signed reasoning that other families never receive."""
    max_output_tokens: int
    last_kind: LastKind
    tool_count: int
    image_count: int
    message_count: int
    tool_call_count: int
    is_streaming: bool
    effort: str
    requirements: tuple[Requirement, ...]
    media_tokens: int = 0
    """1600 per image, a 64th of the base64 bytes of other media: base64 is no text."""


class _Tally:
    """Sums over all blocks of one request."""

    def __init__(self) -> None:
        self.text_bytes = 0
        self.base64_bytes = 0
        self.media_tokens = 0
        self.images = 0
        self.signature_bytes = 0
        self.tool_calls = 0
        self.needs: set[Requirement] = set()

    def add(self, block: Block, *, is_nested: bool) -> None:
        """Count one block."""
        match block:
            case Text(text=words) | Refusal(text=words):
                self.text_bytes += utf8_length(words)
            case Media():
                self._media(block)
            case Thinking(state=state):
                self.signature_bytes += sum(utf8_length(entry.payload) for entry in state)
                if state:
                    self.needs.add(Requirement.REASONING_STATE)
            case ToolUse():
                self.tool_calls += 1
            case Opaque(kind=kind) if not is_nested:
                is_server = kind in _SERVER_KINDS or kind.endswith(_SERVER_ENDINGS)
                self.needs.add(Requirement.SERVER_TOOLS if is_server else Requirement.NATIVE_ONLY)
            case _:
                return

    def _media(self, media: Media) -> None:
        self.needs.add(_MEDIA_NEEDS[media.kind])
        self.text_bytes += utf8_length(media.text)
        self.base64_bytes += len(media.data)
        self.media_tokens += (
            TOKENS_PER_IMAGE
            if media.kind == "image"
            else -(-len(media.data) // MEDIA_BYTES_PER_TOKEN)
        )
        if media.file_id:
            self.needs.add(Requirement.VENDOR_FILE)
        if media.kind == "document" and media.url:
            self.needs.add(Requirement.REMOTE_DOCUMENT)
        if media.kind == "audio" and media.media_type not in AUDIO_FORMATS:
            self.needs.add(Requirement.OTHER_AUDIO)
        if media.kind == "image":
            self.images += 1
            if media.url:
                self.needs.add(Requirement.REMOTE_IMAGE)
        elif b'"citations"' in media.raw and _wants_citations(media.raw):
            self.needs.add(Requirement.CITATIONS)


def utf8_length(words: str) -> int:
    """Return the number of UTF-8 bytes of ``words``; a lone surrogate counts three."""
    return len(words) if words.isascii() else len(words.encode("utf-8", "surrogatepass"))


def features_of(request: Request, body_bytes: int) -> Features:
    """Return the features of ``request``, whose decoded body had ``body_bytes`` bytes."""
    tally = _Tally()
    for block, is_nested in _all_blocks(request):
        tally.add(block, is_nested=is_nested)
    tally.text_bytes += sum(utf8_length(block.text) for block in request.system)
    without_media = max(0, body_bytes - tally.base64_bytes)
    is_signed_surface = request.family is WireFamily.ANTHROPIC
    tally.needs.update(_needs(request, has_calls=tally.tool_calls > 0))
    return Features(
        requested_model=request.model,
        body_bytes=body_bytes,
        text_tokens=tally.text_bytes // 4,
        overflow_tokens=without_media // 4 + tally.media_tokens,
        full_tokens=without_media // 6 + tally.media_tokens,
        signature_tokens=tally.signature_bytes // 4 if is_signed_surface else 0,
        max_output_tokens=count(request.limits.max_output_tokens) or 0,
        last_kind=last_kind_of(request),
        tool_count=len(request.tools),
        image_count=tally.images,
        message_count=len(request.turns),
        tool_call_count=tally.tool_calls,
        is_streaming=request.is_stream,
        effort=join_surrogates(request.reasoning.level),
        requirements=_in_order(tally.needs),
        media_tokens=tally.media_tokens,
    )


def _in_order(needs: set[Requirement]) -> tuple[Requirement, ...]:
    return tuple(need for need in _ORDER if need in needs) if needs else ()


def last_kind_of(request: Request) -> LastKind:
    """Return what the last turn is: a tool result counts even beside text."""
    if not request.turns:
        return LastKind.NONE
    last = request.turns[-1]
    if last.role is Role.ASSISTANT:
        return LastKind.ASSISTANT
    if any(isinstance(block, ToolResult) for block in last.blocks):
        return LastKind.TOOL_RESULT
    return LastKind.USER_PROMPT


def has_audio(request: Request) -> bool:
    """Return whether audio stands anywhere in a request."""
    blocks = (block for block, _ in _all_blocks(request))
    return any(isinstance(block, Media) and block.kind == "audio" for block in blocks)


def _all_blocks(request: Request) -> Iterator[tuple[Block, bool]]:
    """Return every block and whether it stands inside a tool result."""
    for turn in request.turns:
        for block in turn.blocks:
            yield block, False
            if isinstance(block, ToolResult):
                for inner in block.blocks:
                    yield inner, True


def _needs(request: Request, *, has_calls: bool) -> Iterable[Requirement]:
    is_stored = bool(stored_field(request))
    server_tools = {tool.name for tool in request.tools if tool.kind == "server"}
    chosen = (request.tool_choice.name, *request.tool_choice.names)
    needs = {
        Requirement.SERVER_TOOLS: bool(server_tools),
        Requirement.STRUCTURED_OUTPUT: request.output.kind == "json_schema",
        Requirement.LOGPROBS: bool(request.sampling.logprobs),
        Requirement.MULTI_CANDIDATE: (request.limits.n or 1) > 1,
        Requirement.FORCED_CALL: bool(request.tools) and request.tool_choice.is_forced,
        Requirement.MANY_TOOLS: len(request.tools) > MANY_TOOLS,
        Requirement.VENDOR_FILE: is_stored,
        Requirement.NATIVE_ONLY: is_stored or not server_tools.isdisjoint(chosen),
        Requirement.SIGNED_TOOL_HISTORY: has_calls
        and has_unsigned_calls(opened(request), SIGNING_FAMILY),
    }
    return compress(needs, needs.values())


def _wants_citations(raw: bytes) -> bool:
    return mapping(mapping(peek(raw)).get("citations")).get("enabled") is True
