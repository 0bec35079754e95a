"""Arguments of tool calls as JSON objects, whatever a model or an old history wrote."""

from __future__ import annotations

import re

from services.domain.wire.reading import dump, is_object, join_surrogates, peek

_FENCE = "```"
_OPENING = re.compile(r"```[A-Za-z]*[ \t\r]*\n")
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_SCALAR = re.compile(r"-?\d[0-9.eE+-]*|true|false|null")
_CLOSERS = {"{": "}", "[": "]"}


def as_object(arguments: bytes) -> tuple[bytes, bool]:
    """Return ``arguments`` as the JSON text of an object, and whether they had to be repaired.

    Readable objects keep their bytes. Nothing at all (empty, blank, null) is the empty object.
    Arrays and scalars are wrapped under ``value``. A code fence, trailing commas and text after
    the object are removed, and text that breaks off is closed behind its last complete member;
    what stays unreadable becomes the empty object.
    """
    found = read_object(arguments)
    return (b"{}", True) if found is None else found


def read_object(arguments: bytes) -> tuple[bytes, bool] | None:
    """Return what :func:`as_object` does; None where nothing can be made of the text."""
    words = arguments.decode("utf-8", "replace").strip()
    if words in ("", "null"):
        return b"{}", False
    value = peek(words)
    if isinstance(value, dict):
        return arguments.strip(), False
    if value is not None:
        return _wrapped(words, value), False
    repaired = _repaired(words)
    return None if repaired is None else (repaired, True)


def written_arguments(value: object) -> bytes:
    """Return what a history holds as a call's arguments: its text, or its object as text.

    Nothing at all (absent, null, blank, the text ``null``) is the empty object.
    """
    if isinstance(value, dict):
        return dump(value)
    words = value if isinstance(value, str) and value.strip() not in ("", "null") else "{}"
    return words.encode("utf-8", "replace")


def is_complete(arguments: bytes) -> bool:
    """Return whether ``arguments`` is empty or one whole JSON value: nothing was cut off."""
    words = arguments.strip()
    return not words or words == b"null" or peek(words.decode("utf-8", "replace")) is not None


def _wrapped(words: str, value: object) -> bytes:
    if isinstance(value, str):
        if not value.strip():
            return b"{}"
        if is_object(value):
            return join_surrogates(value).strip().encode()
        return dump({"value": value})
    return b'{"value":' + words.encode("utf-8", "replace") + b"}"


def _repaired(words: str) -> bytes | None:
    candidate = _unfenced(words)
    if not candidate.startswith("{"):
        return None
    closed = _closed(candidate)
    if closed is None:
        return None
    candidate = _without_trailing_commas(closed)
    return candidate.encode("utf-8", "replace") if is_object(candidate) else None


def _unfenced(words: str) -> str:
    """Return ``words`` without a code fence around them."""
    opening = _OPENING.match(words)
    if opening is None:
        return words.removeprefix(f"{_FENCE}json").lstrip()
    return words[opening.end() :].rstrip().removesuffix(_FENCE).strip()


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


class _Walk:
    """A walk over the tokens of an object that may break off."""

    def __init__(self, words: str) -> None:
        self._words = words
        self._open: list[str] = []
        self._is_value_next = False
        self._kept = 1
        self._kept_depth = 1
        self.end: int | None = None
        """Where the object ends; None: the text breaks off before."""

    def closed(self) -> str | None:
        """Return the object: its own text, or closed behind what is complete of it."""
        at = 0
        while at < len(self._words) and self.end is None:
            following = self._step(at)
            if following is None:
                return None
            at = following
        if self.end is not None:
            return self._words[: self.end]
        # Behind the last complete value brackets only opened: what was open there still is.
        closers = "".join(_CLOSERS[each] for each in reversed(self._open[: self._kept_depth]))
        return self._words[: self._kept] + closers

    def _step(self, at: int) -> int | None:
        """Return where the next token begins; None when there is none that JSON knows."""
        char = self._words[at]
        if char in "{[":
            self._open.append(char)
            self._is_value_next = char == "["
            return at + 1
        if char in "}]":
            if _CLOSERS[self._open.pop()] != char:
                return None
            if not self._open:
                self.end = at + 1
                return at + 1
            return self._value_ends(at + 1)
        if char == '"':
            return self._string(at)
        if char == ":":
            self._is_value_next = True
            return at + 1
        if char == ",":
            self._is_value_next = self._open[-1] == "["
            return at + 1
        return at + 1 if char.isspace() else self._scalar(at)

    def _string(self, at: int) -> int:
        match = _STRING.match(self._words, at)
        if match is None:
            return len(self._words)
        return self._value_ends(match.end()) if self._is_value_next else match.end()

    def _scalar(self, at: int) -> int | None:
        match = _SCALAR.match(self._words, at)
        if match is None:
            rest = self._words[at:]
            is_cut = any(each.startswith(rest) for each in ("true", "false", "null", "-"))
            return len(self._words) if is_cut else None
        is_number_cut = match.end() == len(self._words) and match[0][0] not in "tfn"
        return match.end() if is_number_cut else self._value_ends(match.end())

    def _value_ends(self, at: int) -> int:
        """Take note of a complete value: what follows may be left out."""
        self._is_value_next = False
        self._kept = at
        self._kept_depth = len(self._open)
        return at


def _closed(words: str) -> str | None:
    return _Walk(words).closed()
