"""A canonical request as a chat body. Equal requests give equal bytes, so prefixes stay cached."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.vocab import WireFamily
from services.domain.wire.model import EncodedRequest, TransformAction, UnbuildableError
from services.domain.wire.openai_chat.messages import encode_messages
from services.domain.wire.openai_chat.parameters import parameter_members
from services.domain.wire.openai_chat.refusals import is_refused
from services.domain.wire.openai_chat.render import Rendering
from services.domain.wire.openai_chat.toolset import tool_members
from services.domain.wire.reading import dump, load, mapping

if TYPE_CHECKING:
    from services.domain.wire.model import Request, Target


def encode_request(request: Request, target: Target) -> EncodedRequest:
    """Return ``request`` as a body for ``target``, with a record of every lossy step.

    A request of this dialect keeps its own members; of a foreign one, whatever is not canonical
    and whoever the user is stays with its vendor.

    Raises:
        UnbuildableError: the target cannot express the request.
    """
    rendering = Rendering(is_native=request.family is WireFamily.OPENAI_CHAT)
    body: dict[str, object] = {"model": target.upstream_id}
    body["messages"] = encode_messages(request, target, rendering)
    if not body["messages"]:
        raise UnbuildableError("messages", "nothing is left to send")
    body |= tool_members(request, rendering)
    body |= parameter_members(request, target, rendering)
    if request.is_stream:
        body["stream"] = True
        if not is_refused("stream_options", None, target):
            body["stream_options"] = _stream_options(request, rendering)
    _add_identity(body, request, target, rendering)
    return EncodedRequest(dump(body), tuple(rendering.transforms))


def _stream_options(request: Request, rendering: Rendering) -> dict[str, object]:
    """Return the options with usage asked for: every stream is metered."""
    native = dict(request.native).get("stream_options") if rendering.is_native else None
    own = mapping(load(native)) if native is not None else {}
    return {**own, "include_usage": True}


def _add_identity(
    body: dict[str, object], request: Request, target: Target, rendering: Rendering
) -> None:
    """Add who asks and what only the client's own dialect knows; foreign ones are recorded."""
    if not rendering.is_native:
        if request.user:
            rendering.note("user", TransformAction.DROPPED, "user")
        for key, _ in request.extras:
            rendering.note("unknown_field", TransformAction.DROPPED, key)
    else:
        if request.user:
            body["user"] = request.user
        for key, raw in request.extras:
            if is_refused(key, None, target):
                rendering.note("refused_parameter", TransformAction.DROPPED, key)
            else:
                body[key] = orjson.Fragment(raw)
    if target.is_vendor and target.affinity_key and "prompt_cache_key" not in body:
        body["prompt_cache_key"] = target.affinity_key
