"""Token counts of this dialect, to and from the canonical ones."""

from __future__ import annotations

from services.domain.wire.model import Usage
from services.domain.wire.reading import count, mapping


def usage_of(raw: object) -> Usage | None:
    """Return the usage that a ``usage`` member tells; None when it tells nothing."""
    counts = mapping(raw)
    told, said = count(counts.get("input_tokens")), count(counts.get("output_tokens"))
    if told is None and said is None:
        return None
    inner = mapping(counts.get("input_tokens_details"))
    read, written = count(inner.get("cached_tokens")), count(inner.get("cache_write_tokens"))
    outer = mapping(counts.get("output_tokens_details"))
    return Usage(
        fresh_input=max(0, (told or 0) - (read or 0) - (written or 0)),
        cache_read=read,
        cache_write=written,
        output=said or 0,
        reasoning=count(outer.get("reasoning_tokens")) or 0,
    )


def usage_member(usage: Usage) -> dict[str, object]:
    """Return the ``usage`` member for a client; input is fresh + read + written."""
    told = usage.fresh_input + (usage.cache_read or 0) + (usage.cache_write or 0)
    details = {"cached_tokens": usage.cache_read or 0, "cache_write_tokens": usage.cache_write or 0}
    return {
        "input_tokens": told,
        "input_tokens_details": details,
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": told + usage.output,
    }
