from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from gateway.answering.translating import decoded, learn, translated, translation_for
from gateway.answering.writers import Translated
from gateway.model import BindingRef, Head
from gateway.restoring import restored, with_restored
from services.domain.vocab import WireFamily
from services.domain.wire.assemble import events_of
from services.domain.wire.codecs import codec_for
from services.domain.wire.features import Requirement
from services.domain.wire.model import RenderContext, Response, Stop, StopReason, ToolUse, WireError
from services.domain.wire.state.kept import Kept
from tests.unit.domain.wire.state_cases import A, Client, G, O, R, answer_of, context
from tests.unit.gateway.happenings import an_action


class Notes:
    """Takes note of what it is told to keep."""

    def __init__(self) -> None:
        self.kept: list[Kept] = []

    def keep(self, states: Sequence[Kept]) -> None:
        """Take note."""
        self.kept += states


def streamed_head(family: WireFamily) -> Head:
    """Return the head of a stream of a dialect."""
    return Head(BindingRef("m", "p1", "m", 0), family, 200, (), is_stream=True)


def foreign(family: WireFamily = G) -> RenderContext:
    """Return the context of an answer of another dialect."""
    return replace(context(), upstream_family=family)


@pytest.mark.parametrize("family", [A, O, R, G])
async def test_a_long_stream_that_is_wanted_whole_lets_others_have_their_turn(
    family: WireFamily,
) -> None:
    answer = answer_of(family, "payload")
    stream = codec_for(family).stream_encoder(context()).feed(events_of(answer))
    pieces = [stream[start : start + 40] for start in range(0, len(stream), 40)]
    reading = asyncio.ensure_future(decoded(streamed_head(family), pieces))
    turns = 0
    while not reading.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns >= len(pieces) > 3
    assert (await reading) == codec_for(family).decode_response(stream, is_stream=True)


async def test_a_stream_that_breaks_off_is_no_answer() -> None:
    stream = codec_for(O).stream_encoder(context()).feed(events_of(answer_of(O, "payload")))
    with pytest.raises(WireError, match="did not end well"):
        await decoded(streamed_head(O), [stream[: len(stream) // 2]])


@pytest.mark.spec("XLT-181")
def test_what_is_learned_is_told_once() -> None:
    notes = Notes()
    translation = translation_for(O, foreign())
    assert translation is not None
    translation.response(answer_of(G, "payload"))
    learn(translation, notes)
    learn(translation, notes)
    assert [each.state.payload for each in notes.kept] == ["payload"]
    learn(None, notes)
    assert len(notes.kept) == 1


@pytest.mark.spec("XLT-42")
def test_answers_of_the_clients_own_dialect_are_left_alone() -> None:
    notes = Notes()
    call = ToolUse("c", "find", b'{"q":7,"odd":1}')
    answer = Response("i", "m", (call,), Stop(StopReason.TOOL_USE), None)
    assert translated(answer, G, context(), notes) is answer
    assert translated(answer, O, foreign(), notes) is not answer


@pytest.mark.spec("XLT-125", "XLT-181")
def test_a_translated_stream_knows_its_state_when_it_has_ended() -> None:
    source = codec_for(G).encode_response(answer_of(G, "payload"), context())
    writer = Translated(codec_for(G), codec_for(A), foreign())
    told = writer.feed(b"data: " + source + b"\n\n") + writer.finish()
    assert writer.translation is not None
    assert [each.state.payload for each in writer.translation.kept] == ["payload"]
    assert b"payload" not in told


@pytest.mark.spec("XLT-156", "XLT-181")
def test_state_from_the_session_makes_an_action_whole() -> None:
    client = Client(O)
    kept = client.hear(answer_of(G, "payload")).kept
    client.change(lambda call_id: call_id[:40])
    request = client.request()
    needs = (Requirement.MANY_TOOLS, Requirement.SIGNED_TOOL_HISTORY)
    plain = an_action()
    features = replace(plain.features, requirements=needs)
    action = replace(plain, request=request, features=features)
    assert restored(action, ()) is action
    assert with_restored(action, ()) is action
    whole = restored(action, kept)
    assert whole.features.requirements == (Requirement.MANY_TOOLS,)
    assert whole.request is request
    assert [each.state.payload for each in whole.restored] == ["payload"]
    assert with_restored(action, whole.restored) == whole
