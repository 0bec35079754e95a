"""What a vendor's SDK is to the tests of the matrix: it asks, and tells what it understood."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from tests.unit.domain.wire.recorded.answers import Told

TOOL = "get_weather"
SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
MAX_TOKENS = 256


@dataclass(frozen=True, slots=True)
class Place:
    """Where a talker talks, and how."""

    url: str
    """Without a slash at its end."""
    key: str
    model: str
    is_streamed: bool


class Refused(Exception):  # noqa: N818 - the name of what happened, not of an error of ours
    """What the SDK raised; ``status`` is None for a failure inside a stream."""

    def __init__(self, status: int | None, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Talker(Protocol):
    """One conversation of one SDK, which offers one tool."""

    async def ask(self, words: str, image: str = "") -> Told:
        """Say something, with an image (base64 of a PNG) if given, and return the answer.

        Raises:
            Refused: the SDK raised an error.
        """
        ...

    async def answer(self, result: str) -> Told:
        """Answer every call of the last answer alike, and return what comes of it.

        Raises:
            Refused: the SDK raised an error.
        """
        ...


class OpenTalker(Protocol):
    """Opens a talker at a place."""

    def __call__(self, place: Place) -> AbstractAsyncContextManager[Talker]:
        """Return the talker as a context, whose end closes its connections."""
        ...
