"""What a subscription pays for costs its share, by how much of the plan is used."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.codec.deciding import score_request
from gateway.eligibility import freeze
from gateway.eligibility.subsidies import LEAST_FACTOR, cost_factors, factor_of
from gateway.model import PresentedIdentity, ProviderState, Snapshot
from gateway.model.decision import Prompt
from gateway.policy import policy_of
from gateway.settings import RoutingSettings
from services.domain.vocab import CredentialKind
from services.runtime.settings import CommonSettings
from tests.unit.gateway import facts
from tests.unit.gateway.deciding.made import action

CLAUDE, CODEX, KEY = (
    CredentialKind.CLAUDE_OAUTH,
    CredentialKind.CODEX_OAUTH,
    CredentialKind.API_KEY,
)
CATALOG = facts.catalog(
    facts.row("covered", "p1", "p2", family="opus"),
    facts.row("elsewhere", "p2", "p1"),
    facts.row("sibling", "p1", family="sonnet"),
)
BODY = orjson.dumps({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]})


def plan(**changes: object) -> PresentedIdentity:
    made = PresentedIdentity("h", CLAUDE, "p1", used_ratio=0.5)
    return replace(made, **changes)  # type: ignore[arg-type]  # fields by name


def pool(*kinds: CredentialKind, **changes: object) -> ProviderState:
    return replace(ProviderState("p1", kinds=kinds), **changes)  # type: ignore[arg-type]  # by name


@pytest.mark.spec("SCO-65")
@pytest.mark.parametrize(
    ("used", "factor"), [(0.5, 0.2875), (0.9, 0.8195), (1.0, 1.0), (None, 0.05), (1.7, 1.0)]
)
def test_the_factor_grows_with_the_share_used(used: float | None, factor: float) -> None:
    assert factor_of(used) == pytest.approx(factor)


@pytest.mark.spec("SCO-65")
@given(st.floats(0, 1), st.floats(0, 1))
def test_more_use_never_makes_a_model_cheaper(first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert LEAST_FACTOR <= factor_of(low) <= factor_of(high) <= 1.0


@pytest.mark.spec("SCO-65")
def test_a_plan_covers_the_models_of_its_vendor() -> None:
    found = dict(cost_factors(CATALOG, [plan()], []))
    assert found == {"covered": factor_of(0.5), "sibling": factor_of(0.5)}
    assert dict(cost_factors(CATALOG, [plan(covered_models=("sibling",))], [])).keys() == {
        "sibling"
    }
    for other in (plan(kind=KEY), plan(is_exhausted=True), plan(provider="p3")):
        assert cost_factors(CATALOG, [other], []) == ()


@pytest.mark.spec("SCO-65")
def test_a_codex_plan_covers_what_the_catalog_says_it_does() -> None:
    price = {"input_usd_per_mtok": 1.0, "output_usd_per_mtok": 1.0}
    bindings = [{"provider": "p1", "codex_plan": True, **price}]
    inside: dict[str, object] = {"id": "inside", "bindings": bindings}
    catalog = facts.catalog(facts.row("outside", "p1"), inside)
    for brought, pools in (([plan(kind=CODEX)], []), ([], [pool(CODEX)])):
        assert dict(cost_factors(catalog, brought, pools)).keys() == {"inside"}


@pytest.mark.spec("SCO-65")
def test_a_pool_covers_only_where_all_its_keys_belong_to_plans() -> None:
    used = pool(CLAUDE, headroom_ratio=0.1, family_headrooms=(("opus", 0.5),))
    assert dict(cost_factors(CATALOG, [], [used])) == {
        "covered": factor_of(0.5),
        "sibling": factor_of(0.9),
    }
    assert dict(cost_factors(CATALOG, [], [pool(CLAUDE)]))["covered"] == LEAST_FACTOR
    assert cost_factors(CATALOG, [], [pool(CLAUDE, KEY)]) == ()
    assert cost_factors(CATALOG, [], [pool()]) == ()
    assert cost_factors(CATALOG, [], [pool(CODEX)]) == ()


@pytest.mark.spec("SCO-65")
def test_the_callers_own_plan_goes_before_the_pool() -> None:
    found = dict(cost_factors(CATALOG, [plan(used_ratio=0.9)], [pool(CLAUDE)]))
    assert found["covered"] == factor_of(0.9)


@pytest.mark.spec("SCO-65")
def test_the_scorer_is_told_what_is_covered() -> None:
    snapshot = Snapshot("v1", (pool(CLAUDE, headroom_ratio=0.5),))
    record = freeze(facts.question(snapshot=snapshot), facts.policy(), CATALOG)
    asked = score_request(action(BODY), record, Prompt("text", "first", 4), "cluster")
    assert dict(asked.cost_factors) == {"covered": factor_of(0.5), "sibling": factor_of(0.5)}
    off = freeze(facts.question(snapshot=snapshot), facts.policy(is_subsidised=False), CATALOG)
    assert off.cost_factors == ()
    bare = freeze(facts.question("p1"), facts.policy(), CATALOG)
    assert not score_request(action(BODY), bare, Prompt("", "", 0), "cluster").cost_factors


@pytest.mark.spec("SCO-65")
@pytest.mark.parametrize("is_on", [True, False])
def test_a_deployment_may_switch_it_off(is_on: bool) -> None:
    routing = RoutingSettings(subsidies=is_on)
    assert policy_of(routing, CommonSettings(), CATALOG).is_subsidised is is_on
