"""Regular expressions of foreign schemas, matched in bounded time or not at all.

The matcher of the standard library tries alternatives one after another and cannot be
interrupted. So its work is bounded beforehand: by the repeats and choices of the pattern and by
the length of the text. What might take longer says nothing of a text.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

MAX_STEPS = 1_000_000
"""Steps that one match may take in the worst case: some ten milliseconds."""
MAX_CHARACTERS = 4096
"""Longest pattern: to read one takes longer the longer it is, 3 s per million characters."""

_QUANTIFIER = re.compile(r"[*+?]|\{\d*(?:,\d*)?\}")
_PLAIN_GROUPS = ("(?:", "(?P<")


class Bounded(NamedTuple):
    """A pattern with the measure of its work: ``factor`` times the length to ``degree``."""

    pattern: re.Pattern[str]
    degree: int
    factor: int

    def is_affordable(self, subject: str) -> bool:
        """Return whether a search in ``subject`` stays within the bound."""
        steps: int = max(1, len(subject)) ** self.degree * self.factor
        return steps <= MAX_STEPS


def is_match(pattern: str, subject: str) -> bool | None:
    """Return whether ``pattern`` is found in ``subject``; None: that cannot be said in time."""
    bounded = _bounded(pattern) if len(pattern) <= MAX_CHARACTERS else None
    if bounded is None or not bounded.is_affordable(subject):
        return None
    return bounded.pattern.search(subject) is not None


@functools.lru_cache(maxsize=256)
def _bounded(pattern: str) -> Bounded | None:
    """Return the pattern with its measure; None where it has none, or cannot be read."""
    reader = _Reader(pattern)
    if not reader.is_bounded():
        return None
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return None
    is_anchored = pattern.startswith("^") and "|" not in pattern
    return Bounded(compiled, reader.repeats + (not is_anchored), reader.factor)


class _Reader:
    """Reads the structure of a pattern: its repeats, its choices, and how they are nested."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self.repeats = 0
        self.factor = 1
        self._choices = [False]
        self._bars = [0]

    def is_bounded(self) -> bool:
        """Return whether no choice stands inside a repeat; counts what stands outside."""
        at = 0
        is_choosy = False
        while at < len(self._pattern):
            char = self._pattern[at]
            quantifier = _QUANTIFIER.match(self._pattern, at)
            if quantifier is not None:
                if not self._repeat(quantifier[0], is_choosy=is_choosy):
                    return False
                at, is_choosy = quantifier.end(), True
                continue
            is_choosy = False
            if char == "(":
                start = self._group(at)
                if start is None:
                    return False
                at = start
                continue
            if char == ")":
                if len(self._choices) == 1:
                    return False
                is_choosy = self._choices.pop()
                self.factor *= self._bars.pop() + 1
                self._choices[-1] |= is_choosy
            elif char == "|":
                self._bars[-1] += 1
                self._choices[-1] = True
            end = self._atom(at, char)
            if end is None:
                return False
            at = end
        self.factor *= self._bars[0] + 1
        return True

    def _repeat(self, quantifier: str, *, is_choosy: bool) -> bool:
        low, is_range, high = quantifier.strip("{}").partition(",")
        is_exact = quantifier[0] == "{" and (not is_range or low == high)
        if quantifier == "?":
            self.factor *= 2
        elif is_choosy:
            return False
        elif not is_exact:
            self.repeats += 1
        self._choices[-1] |= not is_exact
        return True

    def _group(self, at: int) -> int | None:
        """Return where the inside of a group begins; None for groups of unknown cost."""
        rest = self._pattern[at : at + 4]
        start = at + 1
        if rest.startswith("(?"):
            plain = next((each for each in _PLAIN_GROUPS if rest.startswith(each)), None)
            if plain is None:
                return None
            start = at + 3 if plain == "(?:" else self._pattern.find(">", at) + 1
            if start == 0:
                return None
        self._choices.append(False)
        self._bars.append(0)
        return start

    def _atom(self, at: int, char: str) -> int | None:
        """Return the end of the atom at ``at``; None for a reference back."""
        if char == "\\":
            following = self._pattern[at + 1 : at + 2]
            return None if following in "123456789k" else at + 2
        if char != "[":
            return at + 1
        end = at + 2 if self._pattern[at + 1 : at + 2] == "^" else at + 1
        end += self._pattern[end : end + 1] == "]"
        while end < len(self._pattern) and self._pattern[end] != "]":
            end += 2 if self._pattern[end] == "\\" else 1
        return end + 1
