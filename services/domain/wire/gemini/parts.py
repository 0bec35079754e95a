"""What one part of an answer is."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal, NamedTuple

from services.domain.vocab import WireFamily
from services.domain.wire.gemini.names import both, child, member
from services.domain.wire.model import ProviderState, WireError
from services.domain.wire.reading import dump, load, mapping, rows, text
from services.domain.wire.scanner import scan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.scanner import Plan

_CALLS: Plan = both({"candidates": {"*": {"content": {"parts": {"*": {"functionCall": {}}}}}}})
_CALL_MARKS = (b'"functionCall"', b'"function_call"')


class Chunk(NamedTuple):
    """One frame of an answer, or a whole one; ``arguments`` of its calls as they were written.

    Their key is the place of the part: numbers keep all their digits only as JSON text.
    """

    told: Mapping[str, object]
    arguments: Mapping[tuple[int, int], bytes]


class Part(NamedTuple):
    """One part: what kind of block it belongs to, its words, and the state that came with it."""

    kind: Literal["text", "thinking", "call", "other"]
    words: str = ""
    call_id: str = ""
    arguments: bytes = b""
    signature: str = ""


def read_chunk(data: bytes) -> Chunk | None:
    """Return one frame's answer object; None when it is unreadable."""
    try:
        told = load(data)
        has_calls = any(mark in data for mark in _CALL_MARKS)
        arguments = _arguments(data) if has_calls and isinstance(told, dict) else {}
    except (ValueError, WireError):
        return None
    return Chunk(told, arguments) if isinstance(told, dict) else None


def _arguments(data: bytes) -> dict[tuple[int, int], bytes]:
    found: dict[tuple[int, int], bytes] = {}
    candidates = child(scan(data, _CALLS).root, "candidates")
    for place, candidate in enumerate(candidates.items if candidates else ()):
        parts = child(child(candidate, "content"), "parts")
        for at, part in enumerate(parts.items if parts else ()):
            args = child(child(part, "functionCall"), "args")
            if args is not None:
                found[place, at] = args.raw
    return found


def parts_of(chunk: Chunk, place: int, candidate: Mapping[str, object]) -> list[Part]:
    """Return the parts of ``candidate``, which is at ``place`` of a frame."""
    content = mapping(candidate.get("content"))
    return [
        _part(mapping(row), chunk.arguments.get((place, at), b"{}"))
        for at, row in enumerate(rows(content.get("parts")))
    ]


def _part(told: Mapping[str, object], arguments: bytes) -> Part:
    signature = text(member(told, "thoughtSignature"))
    call = member(told, "functionCall")
    if isinstance(call, dict):
        name, call_id = text(call.get("name")), text(call.get("id"))
        return Part("call", name, call_id, arguments, signature)
    words = told.get("text")
    if isinstance(words, str):
        return Part(
            "thinking" if told.get("thought") is True else "text", words, "", b"", signature
        )
    return Part("other", signature=signature)


def state_of(signature: str) -> ProviderState:
    """Return the state that a thought signature is."""
    return ProviderState(WireFamily.GEMINI, "signature", signature)


def own_signature(state: tuple[ProviderState, ...]) -> str:
    """Return the signature that this dialect issued; empty when there is none."""
    for entry in state:
        if entry.family is WireFamily.GEMINI and entry.kind == "signature":
            return entry.payload
    return ""


def made_call_id(answer_id: str, ordinal: int, name: str, arguments: bytes) -> str:
    """Return the id of a call whose upstream gave none: the same for the same answer."""
    source = f"{answer_id}:{ordinal}:{name}:".encode("utf-8", "replace") + dump(load(arguments))
    return f"call_{hashlib.sha256(source).hexdigest()[:24]}"
