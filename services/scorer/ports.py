"""What the scorer needs from outside: something that turns a text into a vector."""

from __future__ import annotations

from typing import Protocol

from services.scorer.model.artifact import TextVector


class Embedder(Protocol):
    """Turns texts into vectors, the same in serving as in training."""

    @property
    def dimensions(self) -> int:
        """Length of its joint vectors."""
        ...

    @property
    def vocabulary(self) -> int:
        """Number of word pieces that its piece ids count."""
        ...

    @property
    def is_slow(self) -> bool:
        """Whether a text takes more than a millisecond or two, so that threads must carry it."""
        ...

    def embed(self, text: str) -> TextVector:
        """Return the vector of ``text``; an empty text has one too.

        Raises:
            EmbedderError: it failed; only slow ones can.
        """
        ...
