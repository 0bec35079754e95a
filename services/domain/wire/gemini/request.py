"""A client's request as the canonical one.

The model and whether a stream is wanted stand in the address, not in the body: whoever has the
address puts them into the request (:func:`addressed`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.gemini.contents import Conversation, part_nodes
from services.domain.wire.gemini.knobs import Config, tool_choice
from services.domain.wire.gemini.names import both, child, member, snake
from services.domain.wire.gemini.schema import plain_types
from services.domain.wire.model import Request, SystemBlock, Tool, WireError
from services.domain.wire.reading import mapping, text
from services.domain.wire.recent import scan_request
from services.domain.wire.scanner import scan
from services.domain.wire.subschemas import EMPTY_SCHEMA

if TYPE_CHECKING:
    from services.domain.wire.scanner import Document, Node, Plan

PLAN: Plan = both(
    {
        "contents": {
            "*": {"parts": {"*": {"functionCall": {}, "functionResponse": {"response": {}}}}}
        },
        "systemInstruction": {"parts": {"*": {}}},
        "tools": {"*": {"functionDeclarations": {"*": {}}}},
        "toolConfig": {"functionCallingConfig": {}},
        "generationConfig": {"thinkingConfig": {}},
    }
)
"""What is opened for spans: whatever may be re-emitted or edited on its own."""

_NATIVE = ("systemInstruction", "tools", "toolConfig", "generationConfig")
_NATIVE_KEYS = frozenset([*_NATIVE, *map(snake, _NATIVE)])
_MODEL_PREFIX = "models/"


def addressed(request: Request, path_model: str, *, is_stream: bool) -> Request:
    """Return ``request`` with what its address says: the model's name and the kind of answer."""
    name = path_model.removeprefix(_MODEL_PREFIX) or request.model
    return replace(request, model=name, is_stream=is_stream)


def is_reasoning_wanted(request: Request) -> bool:
    """Return whether a client of this dialect asked to see thoughts."""
    for key, raw in request.native:
        if key in ("generationConfig", "generation_config"):
            config = scan(raw, {}).root.value
            thinking = mapping(member(mapping(config), "thinkingConfig"))
            return member(thinking, "includeThoughts") is True
    return False


def decode_request(body: bytes) -> Request:
    """Return the canonical form of a client body; unknown members are kept as extras.

    The model is that of the body, empty for the usual body that names none.

    Raises:
        WireError: the body is no readable request; names the path.
    """
    document = scan_request(body, PLAN)
    if "contents" in document.duplicates:
        raise WireError("contents", "comes twice")
    root = document.root
    conversation = Conversation()
    for index, node in enumerate(_contents(document)):
        conversation.add(index, node)
    config = Config(child(root, "generationConfig"))
    return Request(
        family=WireFamily.GEMINI,
        model=text(document.value("model")).removeprefix(_MODEL_PREFIX),
        is_stream=False,
        system=system_blocks(child(root, "systemInstruction")),
        turns=tuple(conversation.turns),
        tools=_tools(child(root, "tools")),
        tool_choice=tool_choice(child(root, "toolConfig")),
        limits=config.limits(),
        sampling=config.sampling(),
        reasoning=config.reasoning(),
        output=config.output(),
        extras=tuple(
            (node.key, node.raw)
            for node in root.items
            if node.key not in _NATIVE_KEYS and node.key != "contents"
        ),
        native=tuple((node.key, node.raw) for node in root.items if node.key in _NATIVE_KEYS),
    )


def _contents(document: Document) -> list[Node]:
    node = document.member("contents")
    if node is None or not isinstance(node.value, list):
        raise WireError("contents", "must be a list of contents")
    if not node.items:
        raise WireError("contents", "must not be empty")
    return node.items


def system_blocks(node: Node | None) -> tuple[SystemBlock, ...]:
    """Return the instructions: a string, or the texts of a content whose role says nothing.

    Raises:
        WireError: they are of another type.
    """
    if node is None:
        return ()
    if isinstance(node.value, str):
        return (SystemBlock(node.value, "instructions"),) if node.value else ()
    if not isinstance(node.value, dict):
        raise WireError("systemInstruction", "must be a content")
    return tuple(
        SystemBlock(words, "instructions", raw=part.raw)
        for part in part_nodes(node, "systemInstruction")
        if (words := text(mapping(part.value).get("text")))
    )


def _tools(node: Node | None) -> tuple[Tool, ...]:
    """Return the tools on offer: declared functions, and each of the vendor's own."""
    if node is None:
        return ()
    if not isinstance(node.value, list):
        raise WireError("tools", "must be a list")
    tools: list[Tool] = []
    for at, item in enumerate(node.items):
        if not isinstance(item.value, dict):
            raise WireError(f"tools[{at}]", "must be an object")
        for inner in item.items:
            if inner.key in ("functionDeclarations", "function_declarations"):
                tools += _functions(inner, f"tools[{at}].{inner.key}")
            elif inner.value is not None:
                raw = b'{"' + inner.key.encode("utf-8", "replace") + b'":' + inner.raw + b"}"
                tools.append(Tool("server", inner.key, raw=raw))
    return tuple(tools)


def _functions(node: Node, path: str) -> list[Tool]:
    if node.value is None:
        return []
    if not isinstance(node.value, list):
        raise WireError(path, "must be a list")
    found: list[Tool] = []
    for at, item in enumerate(node.items):
        told = mapping(item.value)
        name = told.get("name")
        if not isinstance(name, str) or not name:
            raise WireError(f"{path}[{at}].name", "must be a string that is not empty")
        schema = child(item, "parametersJsonSchema") or child(item, "parameters")
        is_given = schema is not None and isinstance(schema.value, dict)
        raw = plain_types(schema.raw) if schema is not None and is_given else EMPTY_SCHEMA
        found.append(Tool("function", name, text(told.get("description")), raw, raw=item.raw))
    return found
