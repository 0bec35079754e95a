"""What the tests of the matrix share: targets, and the way of an answer through it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.catalog import ModelFacts
from services.domain.wire.assemble import Assembler
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import Target
from services.domain.wire.translation import AnswerTranslation
from tests.unit.domain.wire.contexts import context

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from services.domain.vocab import WireFamily
    from services.domain.wire.model import Event, Response


def target(family: WireFamily) -> Target:
    """Return a target whose catalog entry says nothing special."""
    facts = ModelFacts(reasoning="optional")
    return Target(family, "acme", "routed-model", "upstream-model", facts)


def events_of(upstream: WireFamily, chunks: Iterable[bytes]) -> list[Event]:
    """Return what an upstream's stream says when it comes in these pieces."""
    decoder = codec_for(upstream).stream_decoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events + decoder.finish()


class StreamWay:
    """The way of one stream from its upstream to its client."""

    def __init__(self, client: WireFamily, upstream: WireFamily) -> None:
        self._decoder = codec_for(upstream).stream_decoder()
        told = context()
        self._translation = None if client is upstream else AnswerTranslation(client, told)
        self._encoder = codec_for(client).stream_encoder(told)

    def feed(self, data: bytes) -> bytes:
        """Return what the client gets for what the upstream sent."""
        return self.tell(self._decoder.feed(data))

    def finish(self) -> bytes:
        """Return what the client gets when the upstream has ended."""
        return self.tell(self._decoder.finish())

    def tell(self, events: Sequence[Event]) -> bytes:
        """Return what the client gets for these events."""
        if self._translation is not None:
            events = self._translation.feed(events)
        return self._encoder.feed(events)


def streamed(client: WireFamily, upstream: WireFamily, *chunks: bytes) -> bytes:
    """Return the stream that a client gets for an upstream's in these pieces."""
    way = StreamWay(client, upstream)
    return b"".join([*map(way.feed, chunks), way.finish()])


def whole(client: WireFamily, upstream: WireFamily, response: Response) -> bytes:
    """Return the body that a client gets."""
    told = context()
    if client is not upstream:
        response = AnswerTranslation(client, told).response(response)
    return codec_for(client).encode_response(response, told)


def assembled(events: Sequence[Event]) -> Response:
    """Return the answer that a stream's events add up to."""
    assembler = Assembler()
    assembler.feed(events)
    assert assembler.response is not None
    return assembler.response
