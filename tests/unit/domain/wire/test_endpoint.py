"""Which of OpenAI's dialects a turn is asked in."""

from __future__ import annotations

import itertools

import pytest

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.endpoint import Host, endpoint_for
from services.domain.wire.model import Limits, Media, Role, Sampling, Turn
from tests.unit.domain.wire.foreign_cases import functions, request

CHAT, RESPONSES = WireFamily.OPENAI_CHAT, WireFamily.OPENAI_RESPONSES
PLAIN, REASONING = ModelFacts(), ModelFacts(reasoning="always")
TOOLS = functions("f")
STOP = Limits(stop=("END",))
AUDIO = (Turn(Role.USER, (Media("audio", media_type="audio/wav", data="eA=="),), 0),)


@pytest.mark.spec("XLT-126")
@pytest.mark.parametrize(
    ("members", "facts", "expected"),
    [
        ({}, PLAIN, RESPONSES),
        ({"limits": STOP}, PLAIN, CHAT),
        ({"limits": STOP}, REASONING, RESPONSES),
        ({"sampling": Sampling(seed=1)}, PLAIN, CHAT),
        ({"sampling": Sampling(temperature=0.1)}, PLAIN, RESPONSES),
        ({"sampling": Sampling(presence_penalty=0.5)}, REASONING, RESPONSES),
        ({"turns": AUDIO}, PLAIN, CHAT),
        ({"limits": Limits(n=2)}, REASONING, CHAT),
        ({"limits": Limits(n=1)}, PLAIN, RESPONSES),
        ({"tools": TOOLS}, REASONING, RESPONSES),
    ],
)
def test_openai_itself_is_asked_on_responses_unless_a_turn_cannot_be_said_there(
    members: dict[str, object], facts: ModelFacts, expected: WireFamily
) -> None:
    for family in (WireFamily.ANTHROPIC, CHAT, WireFamily.GEMINI):
        assert endpoint_for(request(family, **members), facts, Host.OPENAI) is expected


@pytest.mark.spec("XLT-126")
@pytest.mark.parametrize("host", [Host.GATEWAY, Host.OPENAI])
def test_the_narrow_rule_promotes_reasoning_with_functions_only(host: Host) -> None:
    for facts, tools in itertools.product((PLAIN, REASONING), ((), TOOLS)):
        found = endpoint_for(request(CHAT, tools=tools), facts, host, is_broad=False)
        is_promoted = facts is REASONING and bool(tools)
        assert found is (RESPONSES if is_promoted else CHAT)
    assert endpoint_for(request(CHAT), PLAIN, Host.GATEWAY) is CHAT


@pytest.mark.spec("XLT-126")
def test_a_refusal_and_another_host_stay_on_chat() -> None:
    asked = request(CHAT, tools=TOOLS)
    for host in (Host.OPENAI, Host.GATEWAY):
        assert endpoint_for(asked, REASONING, host, is_responses_refused=True) is CHAT
    assert endpoint_for(asked, REASONING, Host.COMPATIBLE) is CHAT
