"""Counts tokens, and plays a prompt cache that knows every prefix it has seen."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from services.embedded.sandbox.prompt import Segment
from services.embedded.sandbox.script import CHARS_PER_TOKEN

MAX_PREFIXES = 4_096
"""Prefixes that are remembered; the one unused for longest goes first."""


@dataclass(frozen=True, slots=True)
class InputTokens:
    """Tokens of a prompt, each counted in one of the three."""

    fresh: int
    cache_read: int
    cache_write: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.fresh + self.cache_read + self.cache_write


class PromptCache:
    """Prefixes seen by this process."""

    def __init__(self) -> None:
        self._seen: OrderedDict[bytes, None] = OrderedDict()

    def count(self, model: str, segments: Sequence[Segment], *, is_automatic: bool) -> InputTokens:
        """Return how a prompt is counted, and remember its prefixes.

        The cacheable prefix ends with the last breakpoint; the whole prompt where caching is
        ``is_automatic``, which reports no writes.
        """
        cacheable = len(segments) if is_automatic else _after_last_breakpoint(segments)
        tokens = [token_count(segment) for segment in segments]
        read = self._longest_seen(_prefixes(model, segments[:cacheable]))
        read_tokens, rest = sum(tokens[:read]), sum(tokens[read:])
        written = 0 if is_automatic else sum(tokens[read:cacheable])
        return InputTokens(rest - written, read_tokens, written)

    def _longest_seen(self, prefixes: list[bytes]) -> int:
        longest = max((n + 1 for n, key in enumerate(prefixes) if key in self._seen), default=0)
        for key in prefixes:
            self._seen[key] = None
            self._seen.move_to_end(key)
        while len(self._seen) > MAX_PREFIXES:
            self._seen.popitem(last=False)
        return longest


def token_count(segment: Segment) -> int:
    """Return the tokens of one segment."""
    return -(-len(segment.content) // CHARS_PER_TOKEN)


def _after_last_breakpoint(segments: Sequence[Segment]) -> int:
    return max((n + 1 for n, segment in enumerate(segments) if segment.is_breakpoint), default=0)


def _prefixes(model: str, segments: Sequence[Segment]) -> list[bytes]:
    digest = hashlib.sha256(model.encode())
    found = []
    for segment in segments:
        digest.update(len(segment.content).to_bytes(8, "big") + segment.content)
        found.append(digest.digest())
    return found
