"""What plain upstreams of every dialect need."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.wire.reading import text
from tests.unit.domain.wire.recorded.requests import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Json = Mapping[str, object]


class Calls:
    """Names for the ids of calls."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def new(self, call_id: object, name: object, arguments: str) -> Entry:
        """Return a call; no id comes twice."""
        assert text(call_id)
        assert call_id not in self._names
        self._names[text(call_id)] = f"c{len(self._names) + 1}"
        told = sorted_json(arguments)
        name_of = self._names[text(call_id)]
        return Entry("assistant", "call", call=name_of, name=text(name), arguments=told)

    def result(self, call_id: object, words: str, *, is_error: bool) -> Entry:
        """Return a result; its call must have come before."""
        return Entry("user", "result", words, self._names[text(call_id)], is_error=is_error)


def sorted_json(source: str) -> str:
    """Return JSON in one form."""
    return json.dumps(json.loads(source), ensure_ascii=False, sort_keys=True)


def schema_of(value: object) -> str:
    """Return a schema as JSON in one form, its root type in lower case."""
    return sorted_json(json.dumps(value).replace('"OBJECT"', '"object"'))


def lines(words: Iterable[object]) -> str:
    """Return texts as lines of one."""
    return "\n".join(text(each) for each in words)


def said(role: str, words: object) -> Entry:
    """Return a text, which must not be blank."""
    assert text(words).strip(), "an empty text"
    return Entry(role, "text", text(words))


def data_of(url: object) -> str:
    """Return what a data URL holds."""
    head, _, data = text(url).partition(";base64,")
    assert head.startswith("data:")
    return data


def number_of(value: object) -> float | None:
    """Return a number; None where there is none."""
    return float(value) if isinstance(value, int | float) else None
