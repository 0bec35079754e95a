"""In which of OpenAI's dialects an attempt is made."""

from __future__ import annotations

import pytest

from services.dispatch.policy.dialect import Speaker, dialect_for, host_of, is_in_codex_plan
from services.domain.catalog import ModelFacts
from services.domain.vocab import CredentialKind, WireFamily
from services.domain.wire.endpoint import Host
from services.domain.wire.model import Limits, Sampling, Tool
from tests.unit.domain.wire.foreign_cases import FAMILIES, functions, request

CHAT, RESPONSES = WireFamily.OPENAI_CHAT, WireFamily.OPENAI_RESPONSES
KEY, GATEWAY = CredentialKind.API_KEY, CredentialKind.GATEWAY
PLAIN, REASONING = ModelFacts(), ModelFacts(reasoning="always")
OPENAI = Speaker(RESPONSES, Host.OPENAI, is_dual=True)
STORED = (("previous_response_id", b'"resp_1"'),)
SEARCH = (Tool("server", "web_search"),)


def asked(source: WireFamily, speaker: Speaker, *, refused: bool = False, **facts: object) -> str:
    found = dialect_for(request(source, **facts), PLAIN, speaker, is_responses_refused=refused)
    return found.value


@pytest.mark.spec("DSP-220", "DSP-222", "DSP-223", "XLT-126")
def test_openai_is_asked_on_responses_unless_chat_alone_can_say_it() -> None:
    for source in FAMILIES:
        assert asked(source, OPENAI) == RESPONSES.value
        if source is not RESPONSES:  # which has no such member
            assert asked(source, OPENAI, limits=Limits(stop=("END",))) == CHAT.value
        narrow = Speaker(RESPONSES, Host.OPENAI, is_dual=True, is_broad=False)
        assert asked(source, narrow) == CHAT.value
    for key in ("prediction", "modalities", "audio", "web_search_options"):
        assert asked(CHAT, OPENAI, extras=((key, b"{}"),)) == CHAT.value
        assert asked(CHAT, OPENAI, extras=((key, b"null"),)) == RESPONSES.value
    assert asked(CHAT, OPENAI, sampling=Sampling(logprobs=True)) == CHAT.value


@pytest.mark.spec("DSP-221")
def test_a_gateway_is_asked_on_responses_only_for_reasoning_with_functions() -> None:
    gateway = Speaker(CHAT, Host.GATEWAY)
    tools = functions("f")
    for facts, offered, expected in (
        (REASONING, tools, RESPONSES),
        (REASONING, (), CHAT),
        (PLAIN, tools, CHAT),
    ):
        told = request(CHAT, tools=offered)
        assert dialect_for(told, facts, gateway, is_responses_refused=False) is expected
        assert dialect_for(told, facts, gateway, is_responses_refused=True) is CHAT


@pytest.mark.spec("DSP-221", "XLT-126")
def test_others_speak_what_they_are_configured_to() -> None:
    for family in FAMILIES:
        for source in FAMILIES:
            assert asked(source, Speaker(family)) == family.value
    assert asked(CHAT, Speaker(RESPONSES), refused=True) == CHAT.value


@pytest.mark.spec("DSP-224")
def test_what_leans_on_stored_state_goes_where_it_is_kept_even_after_a_refusal() -> None:
    speakers = (
        OPENAI,
        Speaker(CHAT, is_dual=True),
        Speaker(CHAT, Host.GATEWAY),
        Speaker(RESPONSES),
    )
    for speaker in speakers:
        for refused in (False, True):
            assert asked(RESPONSES, speaker, refused=refused, extras=STORED) == RESPONSES.value
            assert asked(RESPONSES, speaker, refused=refused, tools=SEARCH) == RESPONSES.value
    assert asked(RESPONSES, Speaker(CHAT), extras=STORED) == CHAT.value
    assert asked(RESPONSES, Speaker(CHAT, is_dual=True)) == CHAT.value


@pytest.mark.spec("DSP-95")
def test_a_codex_plan_is_asked_on_responses_only() -> None:
    plan = Speaker(CHAT, is_codex_plan=True)
    for source in FAMILIES:
        assert asked(source, plan, refused=True, limits=Limits(stop=("END",))) == RESPONSES.value


def test_openai_elsewhere_is_openai_for_the_models_that_say_so() -> None:
    for wanted, is_original, expected in (
        (CHAT, True, Host.OPENAI),
        (RESPONSES, False, Host.OPENAI),
        (CHAT, False, Host.COMPATIBLE),
    ):
        found = host_of(CHAT, wanted, KEY, is_dual=True, is_original=is_original)
        assert found is expected
    assert host_of(CHAT, CHAT, GATEWAY, is_dual=True, is_original=True) is Host.GATEWAY
    assert (
        host_of(RESPONSES, RESPONSES, GATEWAY, is_dual=False, is_original=True) is Host.COMPATIBLE
    )
    assert host_of(CHAT, RESPONSES, KEY, is_dual=False, is_original=True) is Host.COMPATIBLE


@pytest.mark.spec("DSP-95")
def test_a_codex_plan_covers_no_binding_that_the_catalog_does_not_know() -> None:
    assert not is_in_codex_plan(None)
