"""Reads what the fake model needs to know from a request body, whatever its wire API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def objects_in(value: object) -> Iterator[Mapping[str, object]]:
    """Yield the JSON objects of a JSON array; nothing for any other value."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def turns_in(body: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """Yield the messages, input items or contents of a conversation."""
    for member in ("messages", "input", "contents"):
        yield from objects_in(body.get(member))


def last_role(body: Mapping[str, object]) -> str | None:
    """Return the role of the last turn of a conversation, if it has one."""
    role = None
    for turn in turns_in(body):
        role = turn.get("role")
    return role if isinstance(role, str) else None


def offered_tools(body: Mapping[str, object]) -> frozenset[str]:
    """Return the names of the tools that the request offers."""
    names = set()
    for tool in objects_in(body.get("tools")):
        function = tool.get("function")
        declared = [function] if isinstance(function, dict) else [tool]
        for each in (*declared, *objects_in(tool.get("functionDeclarations"))):
            name = each.get("name")
            if isinstance(name, str):
                names.add(name)
    return frozenset(names)


def tool_result_count(body: Mapping[str, object]) -> int:
    """Return how many turns with tool results follow the last one that a person typed."""
    count = 0
    for turn in turns_in(body):
        if _is_result(turn):
            count += 1
        elif turn.get("role") == "user":
            count = 0
    return count


def _is_result(turn: Mapping[str, object]) -> bool:
    if turn.get("role") == "tool" or turn.get("type") == "function_call_output":
        return True
    is_block = any(part.get("type") == "tool_result" for part in objects_in(turn.get("content")))
    return is_block or any("functionResponse" in part for part in objects_in(turn.get("parts")))


def wants_usage(body: Mapping[str, object]) -> bool:
    """Tell whether a Chat Completions stream is to end with a usage chunk."""
    options = body.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True
