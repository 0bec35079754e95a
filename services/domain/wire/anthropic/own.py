"""A Messages request as a body again after the product rewrote its history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.wire.instructions import by_message, by_turns_before
from services.domain.wire.model import Refusal
from services.domain.wire.reading import dump

if TYPE_CHECKING:
    from services.domain.wire.model import Request


def encode_own(request: Request) -> bytes:
    """Return a Messages request as a body again, each part as its client wrote it."""
    body: dict[str, object] = {"model": request.model}
    if request.limits.max_output_tokens is not None:
        body["max_tokens"] = request.limits.max_output_tokens
    leading = [block for block in request.system if block.origin != "in_array"]
    if leading:
        body["system"] = _content([block.raw for block in leading])
    if request.tools:
        body["tools"] = [orjson.Fragment(tool.raw) for tool in request.tools]
    body["messages"] = _own_messages(request)
    sampling = request.sampling
    knobs = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
    }
    body |= {key: value for key, value in knobs.items() if value is not None}
    if request.limits.stop:
        body["stop_sequences"] = list(request.limits.stop)
    if request.is_stream:
        body["stream"] = True
    for key, raw in (*request.native, *request.extras):
        body[key] = orjson.Fragment(raw)
    return dump(body)


def _own_messages(request: Request) -> list[dict[str, object]]:
    messages: list[dict[str, object]] = []
    in_array = by_turns_before(block for block in request.system if block.origin == "in_array")
    for index in range(len(request.turns) + 1):
        for blocks in by_message(in_array.get(index, ())):
            raws = [block.raw for block in blocks]
            messages.append({"role": "system", "content": _content(raws)})
        if index < len(request.turns):
            turn = request.turns[index]
            raws = [block.raw for block in turn.blocks if not isinstance(block, Refusal)]
            extras = {key: orjson.Fragment(raw) for key, raw in turn.extras}
            messages.append({"role": turn.role.value, "content": _content(raws), **extras})
    return messages


def _content(raws: list[bytes]) -> object:
    """Return content as it was written: a bare string when it was one, else an array."""
    if len(raws) == 1 and raws[0].startswith(b'"'):
        return orjson.Fragment(raws[0])
    return [orjson.Fragment(raw) for raw in raws]
