"""A canonical request as a body. Equal requests give equal bytes, so prefixes stay cached."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.vocab import WireFamily
from services.domain.wire.forced import with_forced_effort
from services.domain.wire.model import EncodedRequest, Text, UnbuildableError
from services.domain.wire.openai_chat.identity import add_identity, add_quirks
from services.domain.wire.openai_chat.render import Rendering
from services.domain.wire.openai_responses.history import foreign_instructions, foreign_items
from services.domain.wire.openai_responses.own import own_items
from services.domain.wire.openai_responses.parameters import parameter_members
from services.domain.wire.openai_responses.request import STORED_MEMBERS
from services.domain.wire.openai_responses.toolset import tool_members
from services.domain.wire.reading import dump, load

if TYPE_CHECKING:
    from services.domain.wire.model import Request, Target


def encode_request(request: Request, target: Target) -> EncodedRequest:
    """Return ``request`` as a body for ``target``, with a record of every lossy step.

    A request of this dialect keeps its own members. Of a foreign one nothing is stored upstream,
    and its answer is always a stream: a Codex plan's backend gives no other.

    Raises:
        UnbuildableError: the target cannot express the request.
    """
    request = with_forced_effort(request, target)
    rendering = Rendering(is_native=request.family is WireFamily.OPENAI_RESPONSES)
    body: dict[str, object] = {"model": target.upstream_id}
    if rendering.is_native:
        _add_own_conversation(body, request, rendering)
    else:
        if instructions := foreign_instructions(request, rendering):
            body["instructions"] = instructions
        body["input"] = foreign_items(request, target, rendering)
        if not body["input"]:
            raise UnbuildableError("input", "nothing is left to send")
    body |= tool_members(request, rendering)
    body |= parameter_members(request, target, rendering)
    if request.is_stream or not rendering.is_native:
        body["stream"] = True
    add_identity(body, request, target, rendering)
    add_quirks(body, target, rendering, has_tools="tools" in body)
    return EncodedRequest(dump(body), tuple(rendering.transforms))


def _add_own_conversation(body: dict[str, object], request: Request, rendering: Rendering) -> None:
    native = dict(request.native)
    words = "\n".join(b.text for b in request.system if b.origin == "instructions")
    if "instructions" in native and (load(native["instructions"]) or "") == words:
        body["instructions"] = orjson.Fragment(native["instructions"])
    elif words:
        body["instructions"] = words
    blocks = request.turns[0].blocks if len(request.turns) == 1 else ()
    plain = blocks[0].text if len(blocks) == 1 and isinstance(blocks[0], Text) else None
    if "input" in native and plain is not None and load(native["input"]) == plain:
        body["input"] = orjson.Fragment(native["input"])
        return
    items = own_items(request, rendering)
    is_stored = any(key in STORED_MEMBERS for key, _ in request.extras)
    if items or not is_stored:
        body["input"] = items
