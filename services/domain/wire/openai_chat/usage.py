"""Token counts of this dialect, to and from the canonical ones."""

from __future__ import annotations

from services.domain.wire.model import Usage
from services.domain.wire.reading import latest, mapping


class UsageCount:
    """Usage over the frames of a stream: the last value wins field by field, null says nothing."""

    __slots__ = ("_cached", "_completion", "_prompt", "_reasoning", "_written")

    def __init__(self) -> None:
        self._prompt: int | None = None
        self._completion: int | None = None
        self._cached: int | None = None
        self._written: int | None = None
        self._reasoning: int | None = None

    def add(self, raw: object) -> Usage | None:
        """Return the usage so far after one ``usage`` member; None while nothing was said."""
        counts = mapping(raw)
        prompt = mapping(counts.get("prompt_tokens_details"))
        completion = mapping(counts.get("completion_tokens_details"))
        self._prompt = latest(counts.get("prompt_tokens"), self._prompt)
        self._completion = latest(counts.get("completion_tokens"), self._completion)
        self._cached = latest(counts.get("prompt_cache_hit_tokens"), self._cached)
        self._cached = latest(prompt.get("cached_tokens"), self._cached)
        self._written = latest(prompt.get("cache_creation_tokens"), self._written)
        self._written = latest(prompt.get("cache_write_tokens"), self._written)
        self._reasoning = latest(completion.get("reasoning_tokens"), self._reasoning)
        return self._so_far()

    def _so_far(self) -> Usage | None:
        if self._prompt is None and self._completion is None:
            return None
        cached, written = self._cached or 0, self._written or 0
        return Usage(
            fresh_input=max(0, (self._prompt or 0) - cached - written),
            cache_read=self._cached,
            cache_write=self._written,
            output=self._completion or 0,
            reasoning=self._reasoning or 0,
        )


def usage_member(usage: Usage) -> dict[str, object]:
    """Return the ``usage`` member for a client; input is fresh + read + written."""
    prompt = usage.fresh_input + (usage.cache_read or 0) + (usage.cache_write or 0)
    details: dict[str, object] = {"cached_tokens": usage.cache_read or 0}
    if usage.cache_write:
        details["cache_write_tokens"] = usage.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
        "prompt_tokens_details": details,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
