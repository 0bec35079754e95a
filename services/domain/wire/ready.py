"""A request of another dialect made ready for its target, before any encoder sees it.

What only the client's own vendor may see or can run is taken out here, once for all dialects: tools
of the client and of its vendor, who the user is, and names that the target's dialect refuses.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import replace
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.client_tools import removable
from services.domain.wire.forced import with_forced_effort
from services.domain.wire.model import (
    SystemBlock,
    ToolChoice,
    ToolUse,
    Transform,
    TransformAction,
    UnbuildableError,
)
from services.domain.wire.pairing import without_repeats
from services.domain.wire.reading import is_object
from services.domain.wire.tool_names import with_legal_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Request, Target, Tool

MANY_TOOLS = 128
"""Number of tools that a chat upstream takes, unless its catalog facts say more."""

_GUIDANCE: Mapping[str, str] = {
    "exact_edits": (
        "A tool that replaces text in a file finds it by comparing: repeat the text to replace"
        " exactly as it stands there, with every blank, tab and line break."
    ),
    "edit_tools": (
        "Where a change was asked for, make it with the tools that change files, rather than"
        " describing it."
    ),
}
_CHOICES = frozenset(["tool_choice", "toolConfig", "tool_config"])
_ONE_AT_A_TIME = b'{"type":"auto","disable_parallel_tool_use":true}'
_OPENAI = frozenset([WireFamily.OPENAI_CHAT, WireFamily.OPENAI_RESPONSES])


def ready_for(request: Request, target: Target) -> tuple[Request, list[Transform]]:
    """Return a foreign request as ``target`` may see it, and the record of what was done.

    Raises:
        UnbuildableError: the answer must call a tool that only another vendor runs.
    """
    transforms: list[Transform] = []
    declared = request.tools
    request = replace(request, turns=without_repeats(request.turns, transforms))
    request = with_forced_effort(request, target)
    request = _with_offered_tools(request, target, transforms)
    request = _with_guidance(request, target, transforms)
    request, loosened = with_possible_choice(request, target)
    transforms += loosened
    request = with_legal_names(request, declared, target.family, transforms)
    return _with_hidden_user(request, target, transforms), transforms


def _with_offered_tools(request: Request, target: Target, transforms: list[Transform]) -> Request:
    """Leave out what the target cannot or shall not be offered; a chosen tool never is."""
    chosen = {request.tool_choice.name, *request.tool_choice.names} - {""}
    removed = _removable(request, target)
    kept: list[tuple[int, Tool]] = []
    for at, tool in enumerate(request.tools):
        path = f"tools[{at}]"
        if tool.kind == "server":
            if tool.name in chosen:
                raise UnbuildableError(path, "the chosen tool runs at another vendor")
            transforms.append(Transform("server_tool", TransformAction.DROPPED, path))
        elif tool.name in removed and tool.name not in chosen:
            transforms.append(Transform("client_only_tool", TransformAction.DROPPED, path))
        else:
            kept.append((at, tool))
    is_call_due = request.tool_choice.mode == "required" or request.tool_choice.is_call_required
    if request.tools and not kept and is_call_due:
        raise UnbuildableError("tool_choice", "no tool is left that the target could call")
    if len(kept) > MANY_TOOLS and _is_limited(target):
        kept = _cut(kept, request, chosen, transforms)
    if len(kept) == len(request.tools):
        return request
    choice = request.tool_choice if kept else ToolChoice()
    return replace(request, tools=tuple(tool for _, tool in kept), tool_choice=choice)


def _removable(request: Request, target: Target) -> frozenset[str]:
    if request.family is not WireFamily.ANTHROPIC or not target.rules.removed_tools:
        return frozenset()
    declared = frozenset(tool.name for tool in request.tools)
    return removable(declared, target.rules.removed_tools)


def _is_limited(target: Target) -> bool:
    return target.family is WireFamily.OPENAI_CHAT and not target.facts.many_tools


def _cut(
    tools: list[tuple[int, Tool]],
    request: Request,
    chosen: set[str],
    transforms: list[Transform],
) -> list[tuple[int, Tool]]:
    """Return as many tools as fit: the chosen, those that the history calls, then the first."""
    called = {b.name for turn in request.turns for b in turn.blocks if isinstance(b, ToolUse)}
    ranked = sorted(tools, key=lambda row: (row[1].name not in chosen, row[1].name not in called))
    dropped = {at for at, _ in ranked[MANY_TOOLS:]}
    transforms += [
        Transform("too_many_tools", TransformAction.DROPPED, f"tools[{at}]")
        for at in sorted(dropped)
    ]
    return [row for row in tools if row[0] not in dropped]


def with_possible_choice(request: Request, target: Target) -> tuple[Request, list[Transform]]:
    """Return a request that lets a target choose which refuses to be forced to call a tool."""
    choice = request.tool_choice
    if not request.tools or not target.refuses(choice):
        return request, []
    free = ToolChoice("auto", parallel=choice.parallel)
    if choice.mode == "allowed":
        free = replace(choice, is_call_required=False)
    native = tuple(member for member in request.native if member[0] not in _CHOICES)
    if request.family is WireFamily.ANTHROPIC and choice.parallel is False:
        native = (*native, ("tool_choice", _ONE_AT_A_TIME))
    done = [Transform("forced_choice_refused", TransformAction.PROJECTED, "tool_choice")]
    return replace(request, tool_choice=free, native=native), done


def _with_guidance(request: Request, target: Target, transforms: list[Transform]) -> Request:
    """Add the line about tools that the endpoint asks for behind the leading instructions."""
    line = _GUIDANCE.get(target.quirks.tool_guidance)
    if line is None or not request.tools:
        return request
    transforms.append(Transform("tool_guidance", TransformAction.SYNTHESISED, "system"))
    leading = [block for block in request.system if not block.after_turn]
    later = [block for block in request.system if block.after_turn]
    return replace(request, system=(*leading, SystemBlock(line), *later))


def _with_hidden_user(request: Request, target: Target, transforms: list[Transform]) -> Request:
    """Hide who the user is from another vendor; a bundle of identities never leaves its own."""
    if not request.user or (target.is_vendor and {request.family, target.family} == _OPENAI):
        return request
    has_member = target.family is not WireFamily.GEMINI
    if not target.rules.user_hash_key or not has_member or is_object(request.user):
        transforms.append(Transform("user", TransformAction.DROPPED, "user"))
        return replace(request, user="")
    transforms.append(Transform("user_hashed", TransformAction.PROJECTED, "user"))
    return replace(request, user=hashed_user(request.user, target.rules.user_hash_key))


def hashed_user(user: str, key: bytes) -> str:
    """Return the name under which another vendor knows ``user``: the same for the same key."""
    digest = hmac.new(key, user.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
    return f"user_{digest[:32]}"
