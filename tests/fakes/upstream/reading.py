"""Reads what the fake model needs to know from a request body, whatever its wire API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def objects_in(value: object) -> Iterator[Mapping[str, object]]:
    """Yield the JSON objects of a JSON array; nothing for any other value."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def offered_tools(body: Mapping[str, object]) -> frozenset[str]:
    """Return the names of the tools that the request offers."""
    names = set()
    for tool in objects_in(body.get("tools")):
        function = tool.get("function")
        name = function.get("name") if isinstance(function, dict) else tool.get("name")
        if isinstance(name, str):
            names.add(name)
    return frozenset(names)


def tool_result_count(body: Mapping[str, object]) -> int:
    """Return how many messages with tool results follow the last one that a person typed."""
    count = 0
    for message in objects_in(body.get("messages")):
        role = message.get("role")
        parts = objects_in(message.get("content"))
        if role == "tool" or any(part.get("type") == "tool_result" for part in parts):
            count += 1
        elif role == "user":
            count = 0
    return count


def wants_usage(body: Mapping[str, object]) -> bool:
    """Tell whether a Chat Completions stream is to end with a usage chunk."""
    options = body.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True
