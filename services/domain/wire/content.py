"""What the content of messages is made of, where dialects write it alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.labels import FAILED_RESULT_LABEL
from services.domain.wire.model import (
    CacheMark,
    Media,
    Opaque,
    Refusal,
    Text,
    TransformAction,
    WireError,
)
from services.domain.wire.reading import mapping, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from services.domain.wire.model import Block, Record, ToolResult
    from services.domain.wire.scanner import Node

_AUDIO_TYPES = {"wav": "audio/wav", "mp3": "audio/mpeg"}
AUDIO_FORMATS = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
}
"""Media types that the OpenAI dialects have a word for."""


def blocks_of_content(
    node: Node | None, path: str, read_part: Callable[[Node, str], Block]
) -> tuple[Block, ...]:
    """Return the blocks of a member, each of its parts read by ``read_part``.

    Absent, null and an empty list hold no block; a string, the empty one too, is one text.

    Raises:
        WireError: the content is of another type, or a known part lacks what makes it one.
    """
    if node is None or node.value is None:
        return ()
    if isinstance(node.value, str):
        return (Text(node.value),)
    if not isinstance(node.value, list):
        raise WireError(path, "must be a string or a list of parts")
    return tuple(read_part(item, f"{path}[{at}]") for at, item in enumerate(node.items))


def required(part: Mapping[str, object], key: str, path: str) -> str:
    """Return a member that must be a string.

    Raises:
        WireError: it is none; names the member.
    """
    value = part.get(key)
    if not isinstance(value, str):
        raise WireError(f"{path}.{key}", "must be a string")
    return value


def cache_mark(node: Node) -> CacheMark | None:
    """Return the cache breakpoint of what ``node`` is, when it carries one."""
    mark = node.members.get("cache_control")
    if mark is None or not isinstance(mark.value, dict):
        return None
    return CacheMark(mark.raw, text(mark.value.get("ttl")))


def result_text(result: ToolResult, record: Record, path: str = "tool_result") -> str:
    """Return the text of a result; blocks of no known kind are told as their JSON."""
    words: list[str] = []
    for block in result.blocks:
        if isinstance(block, Text | Refusal):
            words.append(block.text)
        elif isinstance(block, Media) and block.text:
            words.append(block.titled_text)
        elif isinstance(block, Opaque):
            record.note("opaque_block", TransformAction.PROJECTED, path)
            words.append(block.rendering or block.raw.decode("utf-8", "replace"))
    return "\n".join(words)


def without_failure_label(blocks: tuple[Block, ...]) -> tuple[tuple[Block, ...], bool]:
    """Return a result without the failure label that our own encoder put before it."""
    first = blocks[0] if blocks else None
    if not isinstance(first, Text) or not first.text.startswith(FAILED_RESULT_LABEL):
        return blocks, False
    rest = first.text.removeprefix(FAILED_RESULT_LABEL).removeprefix("\n")
    return (Text(rest, first.cache), *blocks[1:]), True


def audio(node: Node, path: str) -> Media:
    """Return a part of spoken words.

    Raises:
        WireError: it has no data.
    """
    told = mapping(mapping(node.value).get("input_audio"))
    encoding = text(told.get("format"))
    media = Media(
        "audio",
        media_type=_AUDIO_TYPES.get(encoding, f"audio/{encoding or 'wav'}"),
        data=required(told, "data", f"{path}.input_audio"),
        cache=cache_mark(node),
        raw=node.raw,
    )
    return filled(media, f"{path}.input_audio.data")


def filled(media: Media, path: str) -> Media:
    """Return media that hold something.

    Raises:
        WireError: they hold nothing; names where it should stand.
    """
    if not (media.data or media.url or media.text or media.file_id):
        raise WireError(path, f"the {media.kind} must not be empty")
    return media
