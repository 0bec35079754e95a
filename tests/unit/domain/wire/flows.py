"""What an upstream is sent and what a client is shown, from one dialect to another."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.assemble import events_of
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import Target, UpstreamError
from services.domain.wire.reading import mapping, rows
from services.domain.wire.translation import AnswerTranslation
from tests.unit.domain.wire.contexts import context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.model import EncodedRequest, Event

A, O = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT  # noqa: E741 - the names of the matrix
R, G = WireFamily.OPENAI_RESPONSES, WireFamily.GEMINI

Json = Mapping[str, object]


def target(
    family: WireFamily, facts: ModelFacts | None = None, *, is_vendor: bool = False
) -> Target:
    """Return a target of ``family``."""
    return Target(family, "acme", "routed-model", "up", facts or ModelFacts(), is_vendor=is_vendor)


def built(client: WireFamily, body: Json, place: Target) -> EncodedRequest:
    """Return the body for ``place`` of a client's request, as an attempt builds it."""
    raw = json.dumps({"model": "m", **body}).encode()
    request = codec_for(client).decode_request(raw)
    codec = codec_for(place.family)
    if place.family is client:
        return codec.splice_request(raw, request, place)
    return codec.encode_request(request, place)


def sent(
    client: WireFamily,
    body: Json,
    upstream: WireFamily,
    facts: ModelFacts | None = None,
    *,
    is_vendor: bool = False,
) -> dict[str, object]:
    """Return what an upstream is sent for a client's request."""
    place = target(upstream, facts, is_vendor=is_vendor)
    told: dict[str, object] = json.loads(built(client, body, place).body)
    return told


def decoded(upstream: WireFamily, stream: bytes | Sequence[bytes]) -> list[Event]:
    """Return the events of an upstream's stream."""
    decoder = codec_for(upstream).stream_decoder()
    chunks = [stream] if isinstance(stream, bytes) else stream
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events + decoder.finish()


def streamed(
    upstream: WireFamily,
    stream: bytes | Sequence[bytes],
    client: WireFamily,
    *,
    is_usage_wanted: bool = True,
) -> bytes:
    """Return the bytes that a client is sent for an upstream's stream."""
    where = context(upstream=upstream, is_usage_wanted=is_usage_wanted)
    translation = AnswerTranslation(client, where)
    encoder = codec_for(client).stream_encoder(where)
    return encoder.feed(translation.feed(decoded(upstream, stream)))


def shown(
    upstream: WireFamily,
    stream: bytes | Sequence[bytes],
    client: WireFamily,
    *,
    is_usage_wanted: bool = True,
) -> list[dict[str, object]]:
    """Return the frames that a client is sent; an end mark is ``{"done": True}``."""
    return frames_of(streamed(upstream, stream, client, is_usage_wanted=is_usage_wanted))


def frames_of(raw: bytes) -> list[dict[str, object]]:
    """Return the data of each frame; an end mark is ``{"done": True}``."""
    frames: list[dict[str, object]] = []
    for part in raw.split(b"\n\n"):
        data = part[part.find(b"data: ") + 6 :] if b"data: " in part else b""
        if data:
            frames.append({"done": True} if data == b"[DONE]" else json.loads(data))
    return frames


def answered(upstream: WireFamily, body: Json, client: WireFamily) -> dict[str, object]:
    """Return the whole answer that a client is sent for an upstream's whole answer."""
    where = context(upstream=upstream)
    whole = codec_for(upstream).decode_response(json.dumps(body).encode())
    response = AnswerTranslation(client, where).response(whole)
    told: dict[str, object] = json.loads(codec_for(client).encode_response(response, where))
    return told


def told_whole(upstream: WireFamily, body: Json, client: WireFamily) -> list[dict[str, object]]:
    """Return the frames for a client that streams where the upstream answered whole."""
    whole = codec_for(upstream).decode_response(json.dumps(body).encode())
    return frames_of(
        codec_for(client).stream_encoder(context(upstream=upstream)).feed(events_of(whole))
    )


def failure_of(events: Sequence[Event]) -> UpstreamError | None:
    """Return the error that a stream ended in; None when it ended well."""
    return getattr(events[-1], "error", None)


def at(value: object, *path: str | int) -> object:
    """Return what stands at a path of a JSON value; None where nothing does."""
    for step in path:
        if isinstance(step, str):
            value = mapping(value).get(step)
        else:
            found = rows(value)
            value = found[step] if -len(found) <= step < len(found) else None
    return value


def kinds(value: object) -> list[object]:
    """Return the ``type`` of each object of an array."""
    return [mapping(row).get("type") for row in rows(value)]


def deltas(frames: Sequence[Json], kind: str, member: str, index: int | None = None) -> str:
    """Return the joined text of the Messages deltas of one kind, of one block or of all."""
    return "".join(
        str(at(frame, "delta", member))
        for frame in frames
        if at(frame, "delta", "type") == kind and index in (None, frame.get("index"))
    )


def opened(frames: Sequence[Json]) -> list[object]:
    """Return the blocks as a Messages stream opens them."""
    return [
        frame.get("content_block") for frame in frames if frame["type"] == "content_block_start"
    ]


def said(frames: Sequence[Json], member: str = "content") -> str:
    """Return the joined text of one member of a chat stream's deltas."""
    words = [at(frame, "choices", 0, "delta", member) for frame in frames]
    return "".join(word for word in words if isinstance(word, str))


def calls(frames: Sequence[Json]) -> dict[object, dict[str, str]]:
    """Return id, name and arguments of a chat stream's calls by index."""
    found: dict[object, dict[str, str]] = {}
    for frame in frames:
        for row in rows(at(frame, "choices", 0, "delta", "tool_calls")):
            fragment = mapping(row)
            call = found.setdefault(fragment.get("index"), {"id": "", "name": "", "arguments": ""})
            call["id"] += str(fragment.get("id") or "")
            for key in ("name", "arguments"):
                call[key] += str(at(fragment, "function", key) or "")
    return found


def finishes(frames: Sequence[Json]) -> list[object]:
    """Return the finish reasons of a chat stream."""
    found = [at(frame, "choices", 0, "finish_reason") for frame in frames]
    return [finish for finish in found if finish is not None]
