"""Builders that the tests of the Responses codec share: events and targets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.model import Target
from services.domain.wire.openai_responses import CODEC
from tests.unit.domain.wire.contexts import context

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.domain.wire.model import EncodedRequest, Event, Request, Tool

Json = dict[str, object]

NAMESPACE: Json = {
    "type": "namespace",
    "name": "crm",
    "description": "Customers.",
    "tools": [{"type": "function", "name": "find", "parameters": {"type": "object"}}],
}
CUSTOM: Json = {
    "type": "custom",
    "name": "patch",
    "description": "Edits files.",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: WORD"},
}


def body(**members: object) -> bytes:
    """Return a client body; ``input`` is a short text unless it is given."""
    return json.dumps({"model": "m", "input": "hi", **members}).encode()


def request(**members: object) -> Request:
    """Return the decoded form of :func:`body`."""
    return CODEC.decode_request(body(**members))


def said(role: str, *texts: str) -> Json:
    """Return a message item."""
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": words} for words in texts]
    return {"type": "message", "role": role, "content": content}


def call(call_id: str, name: str = "f", arguments: str = "{}", **extra: object) -> Json:
    """Return a call item."""
    known = {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}
    return {**known, **extra}


def result(call_id: str, output: object = "done") -> Json:
    """Return the item with a call's output."""
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def thought(state: str = "", *summary: str, item_id: str = "rs_1") -> Json:
    """Return a reasoning item."""
    parts = [{"type": "summary_text", "text": words} for words in summary]
    item: Json = {"type": "reasoning", "id": item_id, "summary": parts}
    return {**item, "encrypted_content": state} if state else item


def event(kind: str, **members: object) -> bytes:
    """Return one upstream event as it travels."""
    name = f"response.{kind}"
    told = json.dumps({"type": name, **members}, ensure_ascii=False)
    return f"event: {name}\ndata: {told}\n\n".encode()


def answer(status: str = "completed", *output: Mapping[str, object], **members: object) -> Json:
    """Return an upstream's answer object."""
    return {
        "id": "resp_up",
        "object": "response",
        "status": status,
        "model": "upstream-model",
        "output": list(output),
        **members,
    }


def terminal(*output: Mapping[str, object], status: str = "completed", **members: object) -> bytes:
    """Return the last event of a stream."""
    return event(status, response=answer(status, *output, **members))


CREATED = event("created", response=answer("in_progress"))


def decoded(*chunks: bytes) -> list[Event]:
    """Return all events of a stream that came in these pieces."""
    decoder = CODEC.stream_decoder()
    events = [told for chunk in chunks for told in decoder.feed(chunk)]
    return [*events, *decoder.finish()]


def frames_of(raw: bytes) -> list[Json]:
    """Return the data of all frames; each must be named like its type."""
    found: list[Json] = []
    for part in raw.split(b"\n\n"):
        if part:
            name, _, data = part.partition(b"\n")
            told = json.loads(data.removeprefix(b"data: "))
            assert name == b"event: " + told["type"].encode()
            found.append(told)
    return found


def encoded(events: Sequence[Event], tools: tuple[Tool, ...] = ()) -> list[Json]:
    """Return the frames that a client gets for ``events``."""
    return frames_of(CODEC.stream_encoder(context(tools)).feed(events))


def target(
    facts: ModelFacts | None = None,
    *,
    is_vendor: bool = False,
    max_output_tokens: int | None = None,
    is_model_switched: bool = False,
    affinity_key: str = "",
) -> Target:
    """Return a Responses target."""
    return Target(
        family=WireFamily.OPENAI_RESPONSES,
        provider="openai" if is_vendor else "compat",
        model_id="routed-model",
        upstream_id="upstream-model",
        facts=facts or ModelFacts(),
        max_output_tokens=max_output_tokens,
        is_vendor=is_vendor,
        is_model_switched=is_model_switched,
        affinity_key=affinity_key,
    )


def sent(encoded_request: EncodedRequest) -> Json:
    """Return the members of an encoded body."""
    told: Json = json.loads(encoded_request.body)
    return told


def codes(encoded_request: EncodedRequest) -> list[str]:
    """Return the codes of the recorded transforms."""
    return [transform.code for transform in encoded_request.transforms]
