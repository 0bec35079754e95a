"""Token counts of this dialect, to and from the canonical ones.

The prompt count holds what was read from a cache; reasoning stands beside the answer, not in it.
"""

from __future__ import annotations

from services.domain.wire.gemini.names import member
from services.domain.wire.model import Usage
from services.domain.wire.reading import latest, mapping


class UsageCount:
    """Usage over the frames of a stream: the last value wins field by field, null says nothing."""

    __slots__ = ("_answer", "_cached", "_prompt", "_thoughts", "_tools")

    def __init__(self) -> None:
        self._prompt: int | None = None
        self._tools: int | None = None
        self._cached: int | None = None
        self._answer: int | None = None
        self._thoughts: int | None = None

    def add(self, raw: object) -> Usage | None:
        """Return the usage so far after one ``usageMetadata``; None while nothing was said."""
        counts = mapping(raw)
        self._prompt = latest(member(counts, "promptTokenCount"), self._prompt)
        self._tools = latest(member(counts, "toolUsePromptTokenCount"), self._tools)
        self._cached = latest(member(counts, "cachedContentTokenCount"), self._cached)
        self._answer = latest(member(counts, "candidatesTokenCount"), self._answer)
        self._thoughts = latest(member(counts, "thoughtsTokenCount"), self._thoughts)
        return self._so_far()

    def _so_far(self) -> Usage | None:
        if self._prompt is None and self._answer is None and self._thoughts is None:
            return None
        asked = (self._prompt or 0) + (self._tools or 0)
        return Usage(
            fresh_input=max(0, asked - (self._cached or 0)),
            cache_read=self._cached,
            output=(self._answer or 0) + (self._thoughts or 0),
            reasoning=self._thoughts or 0,
        )


def usage_member(usage: Usage) -> dict[str, object]:
    """Return the ``usageMetadata`` for a client; the prompt is fresh + read + written."""
    prompt = usage.fresh_input + (usage.cache_read or 0) + (usage.cache_write or 0)
    counts: dict[str, object] = {"promptTokenCount": prompt}
    if usage.cache_read:
        counts["cachedContentTokenCount"] = usage.cache_read
    counts["candidatesTokenCount"] = max(0, usage.output - usage.reasoning)
    if usage.reasoning:
        counts["thoughtsTokenCount"] = usage.reasoning
    counts["totalTokenCount"] = prompt + usage.output
    return counts
