"""Who speaks, and what a turn is made of."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from services.domain.vocab import WireFamily


class Role(enum.StrEnum):
    """Who speaks in a turn. Tool results live in user turns."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class CacheMark:
    """A cache breakpoint; ``raw`` is its JSON as the client wrote it."""

    raw: bytes
    ttl: str = ""


@dataclass(frozen=True, slots=True)
class ProviderState:
    """Opaque state that only its issuing family may see again, byte for byte."""

    family: WireFamily
    kind: Literal["signature", "encrypted", "redacted"]
    payload: str
    model: str = ""
    item_id: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """Visible text."""

    text: str
    cache: CacheMark | None = None
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class Media:
    """Media with exactly one of ``data`` (base64), ``url``, ``text`` and ``file_id``."""

    kind: Literal["image", "document", "audio", "video"]
    media_type: str = ""
    data: str = ""
    url: str = ""
    text: str = ""
    file_id: str = ""
    detail: str = ""
    title: str = ""
    filename: str = ""
    cache: CacheMark | None = None
    raw: bytes = b""

    @property
    def titled_text(self) -> str:
        """The text of a plain document, below its title."""
        return f"{self.title}\n{self.text}".lstrip("\n")


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning shown by a model, with the state that lets its issuer verify it."""

    text: str
    state: tuple[ProviderState, ...] = ()
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call of a client's tool. ``arguments`` is JSON text as the model wrote it."""

    call_id: str
    name: str
    arguments: bytes
    cache: CacheMark | None = None
    state: tuple[ProviderState, ...] = ()
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered. ``blocks`` may be empty; the result still exists."""

    call_id: str
    blocks: tuple[Block, ...]
    is_error: bool = False
    name: str = ""
    cache: CacheMark | None = None
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal that the vendor reports as text of its own kind."""

    text: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block of a kind that is not known (or belongs to one vendor's server tools)."""

    family: WireFamily
    kind: str
    raw: bytes
    rendering: str = ""
    cache: CacheMark | None = None


Block = Text | Media | Thinking | ToolUse | ToolResult | Refusal | Opaque
