"""Decisions of a generator as plain numbers, so that one generator serves every engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

MOST = 2**16 - 1
"""Largest number of a decision."""


class Choices:
    """Takes decisions from a list of numbers; where the list ends, the first option is taken."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = numbers
        self._at = 0

    def below(self, options: int) -> int:
        """Return a number from 0 to ``options`` - 1."""
        if self._at >= len(self._numbers):
            return 0
        self._at += 1
        return self._numbers[self._at - 1] % options

    def one_of(self, options: Sequence[T]) -> T:
        """Return one of ``options``."""
        return options[self.below(len(options))]
