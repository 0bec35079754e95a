"""Arguments of tool calls as JSON objects, whatever a model or an old history wrote."""

from __future__ import annotations

import re

from services.domain.wire.reading import dump, join_surrogates, load

_FENCE = re.compile(r"^\s*```[A-Za-z]*\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def as_object(arguments: bytes) -> tuple[bytes, bool]:
    """Return ``arguments`` as the JSON text of an object, and whether they had to be repaired.

    Readable objects keep their bytes. Nothing at all (empty, blank, null) is the empty object.
    Arrays and scalars are wrapped under ``value``. A code fence, trailing commas and text after
    the object are removed; what stays unreadable becomes the empty object.
    """
    words = arguments.decode("utf-8", "replace").strip()
    if words in ("", "null"):
        return b"{}", False
    value = _read(words)
    if isinstance(value, dict):
        return arguments.strip(), False
    if value is not None:
        return _wrapped(words, value), False
    repaired = _repaired(words)
    return (repaired, True) if repaired is not None else (b"{}", True)


def is_complete(arguments: bytes) -> bool:
    """Return whether ``arguments`` is empty or one whole JSON value: nothing was cut off."""
    words = arguments.strip()
    return not words or words == b"null" or _read(words.decode("utf-8", "replace")) is not None


def _read(words: str) -> object:
    try:
        return load(words)
    except ValueError:
        return None


def _wrapped(words: str, value: object) -> bytes:
    if isinstance(value, str):
        if not value.strip():
            return b"{}"
        inner = _read(value)
        if isinstance(inner, dict):
            return join_surrogates(value).strip().encode()
        return dump({"value": value})
    return b'{"value":' + words.encode("utf-8", "replace") + b"}"


def _repaired(words: str) -> bytes | None:
    fenced = _FENCE.match(words)
    candidate = fenced[1].strip() if fenced else words
    candidate = _without_trailing_commas(candidate)
    end = _end_of_object(candidate)
    if end is not None:
        candidate = candidate[:end]
    return candidate.encode("utf-8", "replace") if isinstance(_read(candidate), dict) else None


def _without_trailing_commas(words: str) -> str:
    """Return ``words`` without commas before a closing bracket; strings are left alone."""
    parts: list[str] = []
    at = 0
    for match in _STRING.finditer(words):
        parts.append(_TRAILING_COMMA.sub(r"\1", words[at : match.start()]))
        parts.append(match[0])
        at = match.end()
    parts.append(_TRAILING_COMMA.sub(r"\1", words[at:]))
    return "".join(parts)


def _end_of_object(words: str) -> int | None:
    """Return where the object that begins the text ends; None when it does not."""
    if not words.startswith("{"):
        return None
    depth = 0
    at = 0
    while at < len(words):
        char = words[at]
        if char == '"':
            match = _STRING.match(words, at)
            if match is None:
                return None
            at = match.end()
            continue
        depth += (char in "{[") - (char in "}]")
        at += 1
        if depth == 0:
            return at
    return None
