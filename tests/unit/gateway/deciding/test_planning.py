from __future__ import annotations

from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.codec.deciding import plan_request
from gateway.deciding.planning import binding_at, plan_question, prompt_tokens
from gateway.sessions.model import CacheState, TokenCounts
from gateway.sessions.risks import record_risks
from gateway.sessions.usage import record_use
from services.domain.vocab import ModelTier
from tests.unit.gateway.deciding.made import CATALOG, action, moment, record, score, scored
from tests.unit.gateway.sessions.made import NOW, choice, pinned, use

PINNED = pinned()
SERVED = record_use(PINNED, use(), "cluster")
BODY = orjson.dumps({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]})
counts = st.integers(0, 2**20)


@pytest.mark.spec("PLN-15")
@given(counts, counts, counts)
def test_the_warm_prefix_is_what_was_read_and_written_within_the_prompt(
    read: int, written: int, prompt: int
) -> None:
    tokens = TokenCounts(fresh=5, cache_read=read, cache_write=written, output=7)
    session = record_use(PINNED, use(tokens=tokens), "cluster")
    question = plan_question(scored(session, score("middle"), prompt), choice(), moment(), None)
    assert question.prefix_tokens == min(read + written, prompt)
    assert question.input_tokens == prompt
    assert question.output_tokens == 7


@pytest.mark.spec("PLN-15")
def test_after_a_cut_nothing_is_warm_and_that_is_known() -> None:
    cut = replace(SERVED, history_epoch=1)
    question = plan_question(scored(cut, score("middle")), choice(), moment(), None)
    assert question.prefix_tokens == 0
    assert question.pin_cache is CacheState.BROKEN


@pytest.mark.spec("PLN-16")
def test_a_pin_that_served_nothing_has_an_unknown_prefix() -> None:
    question = plan_question(scored(PINNED, score("middle")), choice(), moment(), None)
    assert question.prefix_tokens is None
    assert not question.has_completed_action


def test_a_side_has_the_risk_of_this_prompt_and_the_sessions_mean() -> None:
    found = score("middle", "large", middle=0.2, large=0.05)
    session = record_risks(SERVED, "act_0", {"middle": 0.6, "large": 0.05})
    session = record_risks(session, "act_1", found.risks)
    question = plan_question(scored(session, found), choice(), moment(), None)
    assert (question.pin.risk, question.fresh.risk) == (0.05, 0.2)
    assert question.fresh.mean_risk == pytest.approx(0.4)
    assert question.pin.mean_risk == pytest.approx(0.05)
    assert (question.pin.tier, question.fresh.tier) == (ModelTier.TOP, ModelTier.MID)


def test_a_side_that_the_scorer_says_nothing_of_has_no_risk() -> None:
    question = plan_question(scored(SERVED, score("middle", middle=0.2)), choice(), moment(), None)
    assert question.pin.risk is None
    assert question.pin.mean_risk is None
    assert question.available_models == ("large", "middle")


@pytest.mark.spec("SCO-65")
def test_the_planner_is_told_what_a_subscription_covers_of_both_sides() -> None:
    factors = (("large", 0.05), ("middle", 0.2), ("small", 0.5))
    found = replace(record(), cost_factors=factors)
    question = plan_question(scored(SERVED, score("middle")), choice(), moment(found), None)
    assert question.cost_factors == factors[:2]
    asked = plan_request(action(BODY), question)
    assert dict(asked.cost_factors) == {"large": 0.05, "middle": 0.2}


def test_prices_are_those_of_every_binding_primary_first() -> None:
    question = plan_question(scored(SERVED, score("middle")), choice(provider="p1"), moment(), None)
    assert [(each.model_id, each.provider) for each in question.prices] == [
        ("large", "acme"),
        ("large", "p1"),
        ("middle", "p1"),
    ]
    assert question.pin.binding.provider == "p1"


def test_a_prompt_is_at_least_what_was_last_counted_of_it() -> None:
    assert prompt_tokens(SERVED, 10) == 39_000
    assert prompt_tokens(SERVED, 50_000) == 50_000
    assert prompt_tokens(replace(SERVED, history_epoch=1), 10) == 10
    assert prompt_tokens(PINNED, 10) == 10


def test_a_binding_that_is_gone_gives_way_to_the_primary_one() -> None:
    assert binding_at(CATALOG.models["large"], "p1").index == 1
    assert binding_at(CATALOG.models["large"], "nowhere").provider == "acme"


def test_time_passes_for_the_cache() -> None:
    question = plan_question(
        scored(SERVED, score("middle")), choice(), moment(now_unix_s=NOW + 300), None
    )
    assert question.pin_cache is CacheState.COLD


def test_the_planner_prices_risk_as_the_scorer_did() -> None:
    found = replace(score("middle", middle=0.2), risk_price_micros=250_000)
    question = plan_question(scored(SERVED, found), choice(), moment(), None)
    assert question.risk_price_micros == 250_000
    unpriced = plan_question(scored(SERVED, score("middle")), choice(), moment(), None)
    assert unpriced.risk_price_micros is None
