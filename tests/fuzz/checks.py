"""What must hold for every input: a result or a classified error, in bounded work, well formed."""

from __future__ import annotations

import itertools
import json
import random
import zlib
from typing import TYPE_CHECKING

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.assemble import Assembler
from services.domain.wire.assemble import events_of as told_by
from services.domain.wire.codecs import codec_for
from services.domain.wire.errors import client_error_of
from services.domain.wire.features import features_of
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    BlockState,
    ClientError,
    End,
    ErrorKind,
    Failure,
    Refusal,
    RenderContext,
    Start,
    Target,
    Text,
    Tool,
    UnbuildableError,
    WireError,
)
from services.domain.wire.openai_chat.usage_filter import UsageFrameFilter
from services.domain.wire.requirements import untranslatable
from services.domain.wire.translation import AnswerTranslation
from tests.fuzz.inputs import Kind
from tests.fuzz.seeds import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from services.domain.wire.model import Event, Request, Response
    from tests.fuzz import inputs

FACTS = (
    ModelFacts(),
    ModelFacts(reasoning="always", reasoning_levels=("low", "high"), adaptive_thinking=True),
    ModelFacts(reasoning="optional", reasoning_budget=True, think_tag_reasoning=True),
    ModelFacts(
        structured_output=False,
        tool_use="none",
        image_input=False,
        refused_parameters=frozenset({"temperature", "stop", "max_tokens", "tools", "stream"}),
    ),
)
TOOLS = tuple(
    Tool("function", name, schema=json.dumps(schema).encode())
    for name, schema in (("f", SCHEMA), ("g", {"type": "object"}), ("a.b", SCHEMA))
)
_TOO_LARGE = ClientError(ErrorKind.UPSTREAM, "gone")


def check(target: inputs.Target, data: bytes) -> None:
    """Read ``data`` as ``target`` does, and write what was read in every dialect.

    Raises:
        AssertionError: what was written is malformed, or more than the input can justify.
    """
    _CHECKS[target.kind](target.family, data, random.Random(zlib.crc32(data)))


def _request(family: WireFamily, body: bytes, dice: random.Random) -> None:
    codec = codec_for(family)
    try:
        request = codec.decode_request(body)
    except WireError as error:
        _readable(str(error))
        return
    features = features_of(request, len(body))
    for upstream in WireFamily:
        untranslatable(features.requirements, family, upstream)
        target = _target(upstream, dice)
        for build in _builds(family, body, request, target):
            try:
                encoded = build()
            except (UnbuildableError, WireError) as error:
                _readable(str(error))
                continue
            assert isinstance(_strict(encoded), dict)
            assert len(encoded) <= 40 * len(body) + 20_000
            codec_for(upstream).decode_request(encoded)


def _builds(
    family: WireFamily, body: bytes, request: Request, target: Target
) -> list[Callable[[], bytes]]:
    codec = codec_for(target.family)
    builds: list[Callable[[], bytes]] = [lambda: codec.encode_request(request, target).body]
    if target.family is family:
        builds.append(lambda: codec.splice_request(body, request, target).body)
    return builds


def _target(family: WireFamily, dice: random.Random) -> Target:
    return Target(
        family,
        "acme",
        "routed-model",
        "upstream",
        dice.choice(FACTS),
        max_output_tokens=dice.choice((None, 100, 100_000)),
        is_vendor=dice.random() < 0.5,
        is_model_switched=dice.random() < 0.3,
        affinity_key=dice.choice(("", "key")),
    )


def _answer(family: WireFamily, body: bytes, dice: random.Random) -> None:
    try:
        response = codec_for(family).decode_response(body)
    except WireError as error:
        _readable(str(error))
        return
    events = told_by(response)
    _grammatical(events)
    for client in WireFamily:
        whole = _rendered(client, family, response, dice)
        streamed = _streamed(client, family, events, dice)
        assert whole is None or _said(whole) == _said(streamed)


def _rendered(
    client: WireFamily, upstream: WireFamily, response: Response, dice: random.Random
) -> Response | None:
    """Return what a client reads of an answer that is written for it; None: it cannot read it."""
    where = context(upstream, dice)
    if client is not upstream:
        response = AnswerTranslation(client, where).response(response)
    try:
        written = codec_for(client).encode_response(response, where)
        return codec_for(client).decode_response(written)
    except WireError as error:
        _readable(str(error))
        assert client is WireFamily.OPENAI_RESPONSES or client is WireFamily.GEMINI
        return None


def _stream(family: WireFamily, stream: bytes, dice: random.Random) -> None:
    chunks = _cuts(stream, dice)
    events = _decoded(family, chunks)
    _grammatical(events)
    assert _joined(events) == _joined(_decoded(family, [stream]))
    for client in WireFamily:
        _streamed(client, family, events, dice)
    observer = codec_for(family).observer()
    kept = UsageFrameFilter()
    passed = []
    for chunk in chunks:
        observer.feed(chunk)
        passed.append(kept.feed(chunk))
    observer.finish()
    assert len(b"".join([*passed, kept.finish()])) <= len(stream)


def _decoded(family: WireFamily, chunks: Sequence[bytes]) -> list[Event]:
    decoder = codec_for(family).stream_decoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events + decoder.finish()


def _cuts(stream: bytes, dice: random.Random) -> list[bytes]:
    places = sorted({dice.randrange(len(stream) + 1) for _ in range(dice.randrange(12))})
    return [stream[a:b] for a, b in itertools.pairwise([0, *places, len(stream)])]


def _grammatical(events: Sequence[Event]) -> None:
    """One start, blocks one after another, and exactly one end or failure, last."""
    last = events[-1] if events else None
    assert isinstance(last, End | Failure)
    assert sum(isinstance(event, End | Failure) for event in events) == 1
    assert sum(isinstance(event, Start) for event in events) <= 1
    opened = -1
    is_open = False
    for event in events:
        match event:
            case BlockOpen(index=index):
                assert not is_open
                assert index == opened + 1
                opened, is_open = index, True
            case BlockDelta(index=index) | BlockState(index=index):
                assert is_open
                assert index == opened
            case BlockClose(index=index):
                assert is_open
                assert index == opened
                is_open = False
            case _:
                pass
    assert not is_open or isinstance(last, Failure)


def _joined(events: Sequence[Event]) -> tuple[Response | None, Failure | None]:
    assembler = Assembler()
    assembler.feed(events)
    return assembler.response, assembler.failure


def _streamed(
    client: WireFamily, upstream: WireFamily, events: Sequence[Event], dice: random.Random
) -> Response | None:
    """Return what a client reads of events that are written for it; None: they tell a failure."""
    where = context(upstream, dice)
    told = list(events)
    if client is not upstream:
        told = AnswerTranslation(client, where).feed(events)
        _grammatical(told)
    encoder = codec_for(client).stream_encoder(where)
    sent = b"".join([encoder.feed([event]) for event in told])
    assert not encoder.fail(_TOO_LARGE)
    assert len(sent) <= 2_000 * len(told) + 20 * len(repr(told))
    read = _decoded(client, [sent])
    _grammatical(read)
    broken = codec_for(client).stream_encoder(where)
    head = broken.feed(told[: dice.randrange(len(told))])
    heard = _decoded(client, [head + broken.fail(_TOO_LARGE)])
    _grammatical(heard)
    assert isinstance(heard[-1], Failure)
    return _joined(read)[0]


def _said(response: Response | None) -> tuple[object, ...] | None:
    """What is the same of an answer whether a client gets it whole or streamed."""
    if response is None:
        return None
    words = ["".join(b.text for b in response.blocks if isinstance(b, k)) for k in (Text, Refusal)]
    return *[each.strip() for each in words], response.stop.reason, response.usage


def _error(family: WireFamily, body: bytes, dice: random.Random) -> None:
    error = codec_for(family).decode_error(dice.choice((200, 400, 429, 500, 529)), body)
    for client in WireFamily:
        told = client_error_of(error, is_same_family=client is family)
        assert isinstance(_strict(codec_for(client).encode_error(told)), dict)
        frame = codec_for(client).encode_stream_error(told)
        assert isinstance(_decoded(client, [frame])[-1], Failure)


def _strict(body: bytes) -> object:
    """Return the value of JSON that any reader takes: UTF-8, no NaN, no half pairs."""
    value: object = json.loads(body.decode(), parse_constant=_refused)
    return value


def _refused(name: str) -> object:
    raise AssertionError(f"{name} was written")


def _readable(words: str) -> None:
    words.encode()


def context(upstream: WireFamily, dice: random.Random) -> RenderContext:
    """Return a context with a fixed clock, counted ids and, at times, tools to check calls by."""
    numbers = itertools.count(1)
    return RenderContext(
        model_id="routed-model",
        created_unix_s=1_700_000_000,
        new_id=lambda prefix: f"{prefix}{next(numbers)}",
        estimated_input_tokens=11,
        tools=TOOLS if dice.random() < 0.1 else (),
        upstream_family=upstream,
    )


_CHECKS: Mapping[Kind, Callable[[WireFamily, bytes, random.Random], None]] = {
    Kind.REQUEST: _request,
    Kind.ANSWER: _answer,
    Kind.STREAM: _stream,
    Kind.ERROR: _error,
}
