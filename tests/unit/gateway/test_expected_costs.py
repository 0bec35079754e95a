from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from gateway.explaining.costs import EXPECTED_OUTPUT_TOKENS, expected_costs
from gateway.model import Plan
from gateway.model.decision import Decision, DecisionPath
from services.domain.catalog import build_catalog
from tests.fakes.deciding import binding_of
from tests.unit.gateway.deciding.made import CATALOG, action, record, score


def body(**members: object) -> bytes:
    asked = {"model": "large", "messages": [{"role": "user", "content": "Hello"}], **members}
    return orjson.dumps(asked)


def decided(model_id: str) -> Decision:
    plan = Plan(bindings=(binding_of(CATALOG, model_id),))
    return Decision(record(), plan, "cluster", DecisionPath.SCORED)


@pytest.mark.parametrize(
    ("limit", "output"),
    [(None, EXPECTED_OUTPUT_TOKENS), (100, 100), (64_000, EXPECTED_OUTPUT_TOKENS)],
)
def test_what_was_asked_for_is_priced_with_the_answer_that_the_client_allows(
    limit: int | None, output: int
) -> None:
    asked = action(body() if limit is None else body(max_tokens=limit))
    costs = expected_costs(asked, decided("middle"), CATALOG)
    assert costs.requested == asked.input_tokens * 5 + output * 25
    assert costs.served == asked.input_tokens + output * 5


def test_a_scored_model_has_the_scorers_figure() -> None:
    found = score("middle", "large")
    known = replace(found.candidates[0], expected_cost_micros=7)
    decision = replace(decided("middle"), score=replace(found, candidates=(known,)))
    assert expected_costs(action(body(max_tokens=1)), decision, CATALOG).served == 7


def test_a_model_that_nobody_knows_has_no_price() -> None:
    catalog = build_catalog([{"models": []}])
    costs = expected_costs(action(body()), decided("middle"), catalog)
    assert (costs.served, costs.requested) == (None, None)
