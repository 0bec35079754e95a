"""Answers that the router gives itself, in the caller's dialect: to commands, and errors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gateway.answering.headers import JSON_TYPE, base_headers, error_headers, stream_headers
from gateway.ids import new_id
from gateway.model.action import OverflowStyle
from services.domain.vocab import WireFamily
from services.domain.wire.assemble import events_of
from services.domain.wire.codecs import codec_for
from services.domain.wire.errors import status_of
from services.domain.wire.model import (
    ErrorKind,
    RenderContext,
    Response,
    Stop,
    StopReason,
    Text,
    Usage,
)

if TYPE_CHECKING:
    from gateway.model import Action
    from gateway.ports import Reply
    from services.domain.wire.model import ClientError

ROUTER_MODEL = "router"
_OVERFLOW_WORDS = {
    WireFamily.ANTHROPIC: "prompt is too long: ",
    WireFamily.GEMINI: "The input token count exceeds the maximum number of tokens allowed: ",
}
"""What clients of these vendors look for; elsewhere they look for a code."""
_PREFIXES = {"anthropic": "msg_", "openai_chat": "chatcmpl-", "openai_responses": "resp_"}


async def acknowledge(action: Action, reply: Reply, words: str, now_unix_s: float) -> None:
    """Answer an action with ``words``, streamed where the caller wants a stream.

    Raises:
        ClientGoneError: the client does not read.
    """
    request, surface = action.request, action.surface
    context = RenderContext(ROUTER_MODEL, int(now_unix_s), new_id, tools=request.tools)
    answer_id = new_id(_PREFIXES.get(surface.value, ""))
    stop = Stop(StopReason.END_TURN)
    response = Response(answer_id, ROUTER_MODEL, (Text(words),), stop, Usage(0, 0, 0))
    said = (("x-router-decision", "command"), ("x-router-model", ROUTER_MODEL))
    codec = codec_for(surface)
    if not request.is_stream:
        headers = base_headers(surface, action.id)
        headers["content-type"] = JSON_TYPE
        body = codec.encode_response(response, context)
        await reply.whole(200, [*headers.items(), *said], body)
        return
    headers = stream_headers(surface, action.id)
    await reply.begin(200, [*headers.items(), *said])
    await reply.write(codec.stream_encoder(context).feed(events_of(response)))
    await reply.end()


async def refuse(action: Action, reply: Reply, error: ClientError) -> None:
    """Answer with an error in the dialect of the action's caller."""
    is_overflow = error.kind is ErrorKind.CONTEXT_TOO_LARGE
    if is_overflow and action.overflow_style is OverflowStyle.NATIVE:
        error = as_vendors(error, action.surface)
        if action.request.is_stream and action.surface is WireFamily.OPENAI_RESPONSES:
            await _fail_stream(action, reply, error)
            return
    headers = error_headers(action.surface, error)
    body = codec_for(action.surface).encode_error(error)
    await reply.whole(status_of(error, action.surface), headers, body)


def as_vendors(error: ClientError, surface: WireFamily) -> ClientError:
    """Return the error of a conversation that is too large as the dialect's vendor words it."""
    words = f"{_OVERFLOW_WORDS.get(surface, '')}{error.message}"
    return replace(error, message=words, http_status=400)


async def _fail_stream(action: Action, reply: Reply, error: ClientError) -> None:
    """Answer with a stream that says nothing but the error."""
    context = RenderContext(action.request.model, 0, new_id, tools=action.request.tools)
    headers = stream_headers(action.surface, action.id)
    await reply.begin(200, list(headers.items()))
    await reply.write(codec_for(action.surface).stream_encoder(context).fail(error))
    await reply.end()
