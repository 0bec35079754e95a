"""Token counts of the Messages dialect, to and from the canonical ones."""

from __future__ import annotations

from services.domain.wire.model import Usage
from services.domain.wire.reading import count, latest, mapping


class UsageCount:
    """Usage over the events of a stream: cumulative, the last value wins, null says nothing."""

    __slots__ = ("_cache_read", "_cache_write", "_cache_write_1h", "_input", "_output", "_server")

    def __init__(self) -> None:
        self._input: int | None = None
        self._output: int | None = None
        self._cache_read: int | None = None
        self._cache_write: int | None = None
        self._cache_write_1h: int | None = None
        self._server: int | None = None

    def add(self, raw: object) -> Usage | None:
        """Return the usage so far after one ``usage`` member; None while nothing was said."""
        counts = mapping(raw)
        split = mapping(counts.get("cache_creation"))
        server = mapping(counts.get("server_tool_use"))
        self._input = latest(counts.get("input_tokens"), self._input)
        self._output = latest(counts.get("output_tokens"), self._output)
        self._cache_read = latest(counts.get("cache_read_input_tokens"), self._cache_read)
        self._cache_write = latest(counts.get("cache_creation_input_tokens"), self._cache_write)
        self._cache_write_1h = latest(split.get("ephemeral_1h_input_tokens"), self._cache_write_1h)
        calls = [told for value in server.values() if (told := count(value))]
        self._server = sum(calls) if calls else self._server
        if self._input is None and self._output is None:
            return None
        return Usage(
            fresh_input=self._input or 0,
            cache_read=self._cache_read,
            cache_write=self._cache_write,
            cache_write_1h=self._cache_write_1h or 0,
            output=self._output or 0,
            server_tool_calls=self._server or 0,
        )


def usage_member(usage: Usage) -> dict[str, object]:
    """Return the ``usage`` member for a client; input counts only what no cache gave."""
    member: dict[str, object] = {
        "input_tokens": usage.fresh_input,
        "cache_creation_input_tokens": usage.cache_write or 0,
        "cache_read_input_tokens": usage.cache_read or 0,
        "output_tokens": usage.output,
    }
    if usage.cache_write_1h:
        member["cache_creation"] = {
            "ephemeral_5m_input_tokens": max(0, (usage.cache_write or 0) - usage.cache_write_1h),
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        }
    if usage.server_tool_calls:
        member["server_tool_use"] = {"web_search_requests": usage.server_tool_calls}
    return member


def seed_usage(known: Usage | None, estimated_input_tokens: int) -> Usage:
    """Return the usage that opens a stream: the real input when known, else an estimate."""
    if known is not None and (known.fresh_input or known.cache_read or known.cache_write):
        return Usage(
            fresh_input=known.fresh_input,
            cache_read=known.cache_read,
            cache_write=known.cache_write,
            cache_write_1h=known.cache_write_1h,
        )
    return Usage(fresh_input=max(1, estimated_input_tokens))
