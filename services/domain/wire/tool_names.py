"""Names of tools in dialects that allow fewer: an alias for each illegal one, and the way back.

An alias depends only on the names that the client declares, so that whoever reads the answer finds
the same aliases as whoever wrote the request, and so that prompts stay equal from turn to turn.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from services.domain.vocab import WireFamily
from services.domain.wire.model import BlockOpen, ToolResult, ToolUse, Transform, TransformAction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from services.domain.wire.contract import StreamEncoder
    from services.domain.wire.model import (
        Block,
        ClientError,
        Event,
        RenderContext,
        Request,
        Response,
        Tool,
    )

_HASH_LENGTH = 8
_Called = ToolUse | ToolResult


class _Rule(NamedTuple):
    """Which names a dialect allows; the first character may have to be of fewer kinds."""

    illegal: re.Pattern[str]
    illegal_first: re.Pattern[str]
    max_length: int


_WORD = re.compile(r"[^A-Za-z0-9_-]")
_RULES: Mapping[WireFamily, _Rule] = {
    WireFamily.ANTHROPIC: _Rule(_WORD, _WORD, 128),
    WireFamily.OPENAI_CHAT: _Rule(_WORD, _WORD, 64),
    WireFamily.OPENAI_RESPONSES: _Rule(_WORD, _WORD, 64),
    WireFamily.GEMINI: _Rule(re.compile(r"[^A-Za-z0-9_.:-]"), re.compile(r"[^A-Za-z_]"), 64),
}


def aliases_of(tools: Iterable[Tool], family: WireFamily) -> Mapping[str, str]:
    """Return the alias of each declared name that ``family`` does not allow, by name.

    The name in allowed characters; with a digest of it where it had to be cut or where two names
    would be one.
    """
    rule = _RULES[family]
    names = dict.fromkeys(tool.name for tool in tools if tool.kind != "server")
    illegal = [name for name in names if not _is_legal(name, rule)]
    if not illegal:
        return {}
    taken = Counter(_sanitised(name, rule) for name in illegal)
    taken.update(name for name in names if _is_legal(name, rule))
    return {
        name: _alias(name, rule, is_taken=taken[_sanitised(name, rule)] > 1) for name in illegal
    }


def with_legal_names(
    request: Request, declared: Sequence[Tool], family: WireFamily, transforms: list[Transform]
) -> Request:
    """Return ``request`` with names that ``family`` allows: tools, history and choice alike.

    ``declared`` are all tools that the client declared, whatever is left of them here.
    """
    aliases = aliases_of(declared, family)
    rule = _RULES[family]

    def named(name: str) -> str:
        if name in aliases:
            return aliases[name]
        return name if not name or _is_legal(name, rule) else _alias(name, rule, is_taken=True)

    for at, tool in enumerate(request.tools):
        if tool.name in aliases:
            path = f"tools[{at}].name"
            transforms.append(Transform("tool_name_aliased", TransformAction.PROJECTED, path))
    used = [
        block.name for turn in request.turns for block in turn.blocks if isinstance(block, _Called)
    ]
    if not aliases and all(name == named(name) for name in used):
        return request
    choice = request.tool_choice
    return replace(
        request,
        tools=tuple(
            replace(tool, name=aliases[tool.name]) if tool.name in aliases else tool
            for tool in request.tools
        ),
        tool_choice=replace(
            choice, name=named(choice.name), names=tuple(named(name) for name in choice.names)
        ),
        turns=tuple(
            replace(turn, blocks=tuple(_renamed(block, named) for block in turn.blocks))
            for turn in request.turns
        ),
    )


def original_names(context: RenderContext) -> Mapping[str, str]:
    """Return the client's name of each alias in an answer; none in an answer of its own dialect."""
    family = context.upstream_family
    if family is None:
        return {}
    return {alias: name for name, alias in aliases_of(context.tools, family).items()}


def with_original_names(response: Response, names: Mapping[str, str]) -> Response:
    """Return a whole answer with calls of the client's own names."""
    return replace(
        response,
        blocks=tuple(
            replace(block, name=names[block.name])
            if isinstance(block, ToolUse) and block.name in names
            else block
            for block in response.blocks
        ),
    )


class RenamingEncoder:
    """Writes a stream whose calls get the client's own names back."""

    def __init__(self, inner: StreamEncoder, names: Mapping[str, str]) -> None:
        self._inner = inner
        self._names = names

    def feed(self, events: Sequence[Event]) -> bytes:
        """Return the bytes to send for ``events``."""
        return self._inner.feed([self._told(event) for event in events])

    def fail(self, error: ClientError) -> bytes:
        """Return the frames that end a started stream with an error."""
        return self._inner.fail(error)

    def keepalive(self) -> bytes:
        """Return the frame that fits where the stream stands."""
        return self._inner.keepalive()

    def _told(self, event: Event) -> Event:
        if isinstance(event, BlockOpen) and event.name in self._names:
            return replace(event, name=self._names[event.name])
        return event


def _renamed(block: Block, named: Callable[[str], str]) -> Block:
    return replace(block, name=named(block.name)) if isinstance(block, _Called) else block


def _is_legal(name: str, rule: _Rule) -> bool:
    return (
        0 < len(name) <= rule.max_length
        and not rule.illegal.search(name)
        and not rule.illegal_first.match(name)
    )


def _sanitised(name: str, rule: _Rule) -> str:
    words = rule.illegal.sub("_", name)
    return "_" + words if not words or rule.illegal_first.match(words) else words


def _alias(name: str, rule: _Rule, *, is_taken: bool) -> str:
    words = _sanitised(name, rule)
    if not is_taken and len(words) <= rule.max_length:
        return words
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:_HASH_LENGTH]
    return f"{words[: rule.max_length - _HASH_LENGTH - 1]}_{digest}"
