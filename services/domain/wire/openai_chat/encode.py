"""A canonical request as a chat body. Equal requests give equal bytes, so prefixes stay cached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.forced import with_forced_effort
from services.domain.wire.model import EncodedRequest, UnbuildableError
from services.domain.wire.openai_chat.identity import add_identity, add_quirks
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
    stays with its vendor.

    Raises:
        UnbuildableError: the target cannot express the request.
    """
    request = with_forced_effort(request, target)
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
    add_identity(body, request, target, rendering)
    add_quirks(body, target, rendering, has_tools="tools" in body)
    return EncodedRequest(dump(body), tuple(rendering.transforms))


def _stream_options(request: Request, rendering: Rendering) -> dict[str, object]:
    """Return the options with usage asked for: every stream is metered."""
    native = dict(request.native).get("stream_options") if rendering.is_native else None
    own = mapping(load(native)) if native is not None else {}
    return {**own, "include_usage": True}
