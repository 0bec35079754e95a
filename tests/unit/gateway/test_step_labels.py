from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from gateway.model import Action, Caller, InstallationId
from gateway.session_key import session_keys_of
from gateway.step_labels import StepLabels
from gateway.turns import client_of
from services.domain.vocab import TurnType, WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.features import features_of
from services.domain.wire.model import Request
from tests.unit.gateway.happenings import an_action
from tests.unit.gateway.turns import talks, unnamed_talks
from tests.unit.gateway.turns.bodies import (
    assistant,
    decoded,
    messages_body,
    tool_round,
    user,
)
from tests.unit.gateway.turns.talks import Sent, Talk

SESSION = "11111111-2222-3333-4444-555555555555"


def _action(sent: Sent) -> Action:
    request = codec_for(sent.family).decode_request(sent.body)
    client = client_of(sent.headers, sent.family)
    keys = session_keys_of(request, sent.headers, client, "key_1")
    caller = Caller(
        "key_1",
        InstallationId("inst-1"),
        thread_key=keys.thread,
        conversation_key=keys.conversation,
    )
    return replace(
        an_action(),
        surface=sent.family,
        caller=caller,
        request=request,
        features=features_of(request, len(sent.body)),
        turn_type=sent.turn_type,
    )


@pytest.mark.spec("TRN-2")
@pytest.mark.parametrize(
    ("make", "labels"),
    [
        (
            talks.claude_code,
            ["-", "A1_S1", "A1_S1", "A1_S2", "A1_S2", "A1_S2_SA1_S1", "A1_S2_SA2_S1", "A2_S1", "-"],
        ),
        (talks.codex, ["A1_S1", "A1_S2", "A1_S2", "A2_S1", "-", "A2_S1_SA1_S1"]),
        (talks.opencode_chat, ["-", "A1_S1", "A1_S2", "A2_S1", "SA1_S1"]),
        (unnamed_talks.sdk_chat, ["A1_S1", "A1_S2", "A2_S1"]),
    ],
)
def test_every_step_is_called_by_its_place(make: Callable[..., Talk], labels: list[str]) -> None:
    known = StepLabels()
    found = [known.of(_action(sent)) or "-" for sent in make(SESSION).sent]
    assert found == labels


def _sub_agent(thread: bytes, request: Request | None = None) -> Action:
    action = an_action()
    return replace(
        action,
        caller=replace(action.caller, thread_key=thread, conversation_key=b"c"),
        turn_type=TurnType.SUB_AGENT_DISPATCH,
        request=request or action.request,
    )


def _main(turns: int, conversation: bytes = b"c") -> Action:
    action = an_action()
    said = [part for _ in range(turns - 1) for part in (user("go"), assistant("done"))]
    return replace(
        action,
        caller=replace(action.caller, thread_key=conversation, conversation_key=conversation),
        request=decoded(messages_body([*said, user("go")])),
    )


@pytest.mark.spec("TRN-2")
def test_an_agent_keeps_the_place_where_it_was_begun() -> None:
    known = StepLabels()
    assert known.of(_main(2)) == "A2_S1"
    assert known.of(_sub_agent(b"one")) == "A2_S1_SA1_S1"
    assert known.of(_sub_agent(b"two")) == "A2_S1_SA2_S1"
    assert known.of(_main(3)) == "A3_S1"
    later = decoded(messages_body([user("count"), *tool_round(), *tool_round()]))
    assert known.of(_sub_agent(b"one", later)) == "A2_S1_SA1_S3"
    assert known.of(_sub_agent(b"new")) == "A3_S1_SA1_S1"


@pytest.mark.spec("TRN-2")
def test_context_around_a_persons_words_begins_no_turn() -> None:
    said = [user("<reminder>"), user("fix it"), *tool_round("and hurry")]
    for length, label in ((1, "A1_S1"), (2, "A1_S1"), (4, "A1_S2")):
        asked = replace(_main(1), request=decoded(messages_body(said[:length])))
        assert StepLabels().of(asked) == label


def test_a_request_without_words_is_a_first_step() -> None:
    empty = replace(_main(1), request=Request(WireFamily.ANTHROPIC, "m", is_stream=False))
    assert StepLabels().of(empty) == "A1_S1"


def test_what_is_remembered_is_bounded() -> None:
    known = StepLabels(max_conversations=2, max_agents=1)
    known.of(_main(2))
    assert known.of(_sub_agent(b"one")) == "A2_S1_SA1_S1"
    assert known.of(_sub_agent(b"two")) == "A2_S1_SA2_S1"
    for conversation in (b"d", b"e"):
        known.of(_main(1, conversation))
    assert known.of(_sub_agent(b"one")) == "SA1_S1"
