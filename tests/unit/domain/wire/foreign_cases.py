"""Requests of one dialect for targets of another, for what all dialects do alike."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import (
    HouseRules,
    Request,
    Role,
    Target,
    Text,
    Tool,
    ToolResult,
    ToolUse,
    Turn,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, object]
FAMILIES = tuple(WireFamily)
PAIRS = [(source, to) for source in FAMILIES for to in FAMILIES if source is not to]


def target(family: WireFamily, facts: ModelFacts | None = None, **fields: object) -> Target:
    """Return a target of ``family`` that refuses nothing unless its facts say so."""
    of_house = {key: fields.pop(key) for key in tuple(fields) if key in HouseRules.__slots__}
    rules = HouseRules()
    for name, value in of_house.items():
        object.__setattr__(rules, name, value)
    made = Target(family, "acme", "m", "up-m", facts or ModelFacts(), rules=rules)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def request(source: WireFamily, **fields: object) -> Request:
    """Return a request that says hi in ``source``, with other members as named."""
    made = Request(source, "m", is_stream=False, turns=(Turn(Role.USER, (Text("hi"),), 0),))
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def asked_with_call(source: WireFamily, name: str, **fields: object) -> Request:
    """Return a request whose history calls the tool ``name`` and answers it."""
    turns = (
        Turn(Role.USER, (Text("hi"),), 0),
        Turn(Role.ASSISTANT, (ToolUse("c1", name, b"{}"),), 1),
        Turn(Role.USER, (ToolResult("c1", (Text("ok"),), name=name),), 2),
    )
    return request(source, turns=turns, **fields)


def encoded(asked: Request, to: Target) -> tuple[Json, list[str]]:
    """Return the body that ``to`` gets, and the codes of what was done."""
    sent = codec_for(to.family).encode_request(asked, to)
    return json.loads(sent.body), [transform.code for transform in sent.transforms]


def functions(*names: str) -> tuple[Tool, ...]:
    """Return function tools of those names."""
    return tuple(Tool("function", name) for name in names)


def tool_names(body: Mapping[str, object]) -> list[str]:
    """Return the names of the declared tools of a body of any dialect."""
    names: list[str] = []
    tools = body.get("tools", [])
    assert isinstance(tools, list)
    for tool in tools:
        rows = tool.get("functionDeclarations") or [tool.get("function") or tool]
        names += [row["name"] for row in rows]
    return names
