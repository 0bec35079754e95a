from __future__ import annotations

from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.deciding.hard_pins import cheapest_binding, fixed_binding
from gateway.deciding.kinds import Choosing, Rules, choosing, hard_pin_of, is_sticky
from gateway.deciding.prompt import MAX_TEXT_BYTES, prompt_of
from gateway.deciding.refusals import refusal_of, unpinnable
from gateway.deciding.summaries import SUMMARY_TOKENS, offer_of, summarizers
from gateway.eligibility import freeze
from gateway.model import Action
from gateway.settings import RoutingSettings
from services.domain.errors import Reason, RouterError
from services.domain.vocab import TurnType, WireFamily
from services.domain.wire.features import Requirement
from services.domain.wire.requirements import RequirementMode
from tests.fakes.deciding import binding_of
from tests.unit.gateway.deciding.made import CATALOG, action, moment, record
from tests.unit.gateway.facts import catalog, features, policy, question, row

PINNING = frozenset({TurnType.MAIN_LOOP, TurnType.TOOL_RESULT})


def _body(*messages: object, **members: object) -> bytes:
    return orjson.dumps({"model": "m", "max_tokens": 9, "messages": list(messages), **members})


def _user(content: object) -> dict[str, object]:
    return {"role": "user", "content": content}


def _assistant(content: object) -> dict[str, object]:
    return {"role": "assistant", "content": content}


@pytest.mark.spec("TRN-29", "TRN-30")
def test_only_conversations_are_pinned() -> None:
    pinning = {kind for kind in TurnType if choosing(kind, Rules()) is Choosing.SCORER_AND_PIN}
    assert pinning == PINNING
    assert choosing(TurnType.PROBE, Rules()) is Choosing.HARD_PIN
    assert choosing(TurnType.CLASSIFIER, Rules()) is Choosing.SCORER


@pytest.mark.spec("TRN-28")
def test_sub_agents_are_pinned_while_that_is_on_or_a_pair_is_set() -> None:
    kind = TurnType.SUB_AGENT_DISPATCH
    off = RoutingSettings(hard_pin_explore=False)
    assert choosing(kind, RoutingSettings().rules) is Choosing.HARD_PIN
    assert choosing(kind, off.rules) is Choosing.SCORER_AND_PIN
    half = RoutingSettings(hard_pin_explore=False, sub_agent_model="small")
    assert choosing(kind, half.rules) is Choosing.SCORER_AND_PIN
    pair = RoutingSettings(sub_agent_model="small", sub_agent_provider="p1", hard_pin_model="large")
    assert hard_pin_of(kind, pair.rules) == ("small", "p1")
    assert hard_pin_of(TurnType.PROBE, pair.rules) == ("large", "anthropic")


def _cheapest(asked: Action) -> str:
    found = cheapest_binding(moment(), asked.features)
    return found.model_id if found is not None else ""


@pytest.mark.spec("TRN-55", "TRN-56")
def test_a_pin_answers_unasked_where_the_settings_say_so() -> None:
    unscored = Rules(is_tool_result_scored=False)
    assert is_sticky(TurnType.TOOL_RESULT, unscored)
    assert not is_sticky(TurnType.MAIN_LOOP, unscored)
    assert not is_sticky(TurnType.TOOL_RESULT, Rules())
    assert is_sticky(TurnType.MAIN_LOOP, Rules(is_planner_on=False))


@pytest.mark.spec("TRN-25")
def test_a_fixed_model_serves_or_nothing_does() -> None:
    assert fixed_binding(("small", "p1"), moment()).model_id == "small"
    for pin in (("small", "acme"), ("gone", "p1")):
        absent = moment(record("p1", excluded_models=frozenset({"small"})))
        with pytest.raises(RouterError) as refused:
            fixed_binding(pin, absent)
        assert refused.value.reason is Reason.NO_ELIGIBLE_PROVIDER


@pytest.mark.spec("TRN-25")
def test_else_the_cheapest_model_serves_and_with_tools_one_that_uses_them() -> None:
    plain = action(_body(_user("hi")))
    assert _cheapest(plain) == "small"
    tool = {"name": "f", "input_schema": {"type": "object"}}
    offered = action(_body(_user("hi"), tools=[tool]))
    assert _cheapest(offered) == "middle"
    assert cheapest_binding(moment(record("p9")), plain.features) is None


@pytest.mark.spec("SCO-4")
def test_the_scorer_judges_what_the_person_wrote() -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": "secret of a tool"}
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    asked = action(_body(_user("one"), _assistant([call]), _user([result]), _user("two")))
    prompt = prompt_of(asked.request)
    assert prompt.text == "one\ntwo"
    assert prompt.first_text == "one"


@pytest.mark.spec("SCO-4")
def test_where_the_person_wrote_nothing_all_text_counts() -> None:
    asked = action(_body(_assistant("I begin"), system="Be brief"))
    assert prompt_of(asked.request).text == "Be brief\nI begin"


@given(st.text(min_size=1, max_size=6000).filter(str.strip))
def test_the_text_is_cut_at_its_start_between_characters(words: str) -> None:
    text = words * 3
    prompt = prompt_of(action(_body(_user(text))).request)
    assert len(prompt.text.encode()) <= MAX_TEXT_BYTES
    assert text.endswith(prompt.text)
    assert prompt.text_bytes == len(text.encode())


def test_a_summary_is_written_by_the_preferred_model_else_the_cheapest_able_one() -> None:
    assert summarizers(moment(), "large", 10)[0].model_id == "large"
    assert summarizers(moment(), "gone", 10)[0].model_id == "middle"
    assert summarizers(moment(record("acme")), "middle", 10)[0].model_id == "large"
    assert summarizers(moment(), "large", 10**7) == ()


def test_an_offer_keeps_the_last_run_and_costs_the_rest() -> None:
    writer = binding_of(CATALOG, "middle")
    history = [_user("x" * 40_000), _assistant("y" * 40_000), _user("go on")]
    asked = action(_body(*history))
    offer = offer_of(asked, asked.input_tokens, writer, moment())
    assert offer is not None
    assert SUMMARY_TOKENS <= offer.input_tokens < SUMMARY_TOKENS + 50
    assert offer.cost_micros == pytest.approx(20_000 + 5 * SUMMARY_TOKENS, rel=0.05)


def test_a_short_history_is_not_worth_a_summary() -> None:
    writer = binding_of(CATALOG, "middle")
    asked = action(_body(_user("hi"), _assistant("ho"), _user("x" * 40_000)))
    assert offer_of(asked, asked.input_tokens, writer, moment()) is None


def test_the_scorers_refusal_is_told_with_its_cause() -> None:
    said = RouterError(Reason.NO_ELIGIBLE_PROVIDER, "nothing")
    nobody = refusal_of(said, record("p9"), CATALOG)
    assert "[providers.NAME]" in nobody.message
    large = freeze(question("acme", "p1", features=features(10**6)), policy(), CATALOG)
    assert refusal_of(said, large, CATALOG).reason is Reason.CONTEXT_WINDOW_EXCEEDED
    needs = (Requirement.VENDOR_FILE,)
    asked = question("p1", features=features(requirements=needs), family=WireFamily.GEMINI)
    models = catalog(row("m", "p1", tier="low"))
    foreign = freeze(asked, policy(families={"p1": WireFamily.ANTHROPIC}), models)
    told = refusal_of(said, foreign, models, stored="conversation")
    assert told.metadata["field"] == "conversation"
    other = RouterError(Reason.INVALID_ROUTING_KNOBS, "knobs")
    assert refusal_of(other, large, CATALOG) is other


@pytest.mark.spec("TRN-26")
def test_an_action_that_is_not_scored_is_refused_by_the_same_causes() -> None:
    asked = action(_body(_user("hi")))
    nobody = unpinnable(asked, record("p9"), CATALOG)
    assert nobody.reason is Reason.NO_ELIGIBLE_PROVIDER
    assert "[providers.NAME]" in nobody.message
    large = freeze(question("acme", "p1", features=features(10**6)), policy(), CATALOG)
    assert unpinnable(asked, large, CATALOG).reason is Reason.CONTEXT_WINDOW_EXCEEDED
    barred = record(excluded_models=frozenset(CATALOG.models))
    assert unpinnable(asked, barred, CATALOG).reason is Reason.ROUTING_UNAVAILABLE
    gateways = replace(record("p9"), is_gateway_exclusive=True)
    told = unpinnable(asked, gateways, CATALOG)
    assert told.reason is Reason.GATEWAY_SERVES_NO_DEPLOYED_MODEL


@pytest.mark.spec("XLT-219")
def test_what_only_an_absent_provider_could_carry_may_be_asked_again() -> None:
    said = RouterError(Reason.NO_ELIGIBLE_PROVIDER, "nothing")
    needs = features(requirements=(Requirement.CITATIONS,))
    asked = question("p1", features=needs, family=WireFamily.ANTHROPIC)
    families = {"p1": WireFamily.OPENAI_CHAT, "p9": WireFamily.ANTHROPIC}
    strict = policy(families=families, requirements=RequirementMode.ENFORCE)
    models = catalog(row("m", "p1", tier="low"), row("n", "p9", tier="low"))
    told = refusal_of(said, freeze(asked, strict, models), models)
    assert told.reason is Reason.TRANSLATION_PROVIDER_UNAVAILABLE
    assert told.retry_after_s == 1.0
    alone = catalog(row("m", "p1", tier="low"))
    told = refusal_of(said, freeze(asked, strict, alone), alone)
    assert told.reason is Reason.TRANSLATION_INTRINSICALLY_INCOMPATIBLE
