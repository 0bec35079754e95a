"""Filters: hard ones refuse, soft ones never empty the pool."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.errors import Reason
from services.scorer.model.decision import Dropped, Filter, FilterReport, Pool
from services.scorer.model.question import Eligibility, Features, GatewayAliases, Layer
from services.scorer.policy.deployed import deploy
from services.scorer.policy.filters import filtered
from tests.unit.scorer import worlds

CATALOG = worlds.catalog(
    worlds.entry("a", providers=("p1", "p2")),
    worlds.entry("b", providers=("p2",), tool_use="low"),
    worlds.entry("c", providers=("p3",), agentic="low", image_input=False),
    worlds.entry("untiered", tier="unknown"),
)
DEPLOYED = deploy(CATALOG, worlds.artifact([[0.5]], ("x",), curve=worlds.curve(1), top_p=1)).models
TOOLS, IMAGES = Features(tool_count=2), Features(image_count=1)


def run(eligibility: Eligibility, features: Features | None = None) -> Pool:
    return filtered(DEPLOYED, features or Features(), eligibility)


def left(pool: Pool) -> dict[str, str]:
    return {model: binding.provider for model, binding in pool.bindings.items()}


@pytest.mark.spec("SCO-58", "SCO-17", "SCO-2")
def test_an_absent_provider_set_is_unrestricted_and_the_first_binding_serves() -> None:
    pool = run(Eligibility())
    assert left(pool) == {"a": "p1", "b": "p2", "c": "p3"}
    assert (pool.dropped, pool.refusal) == ((), None)


def test_the_next_binding_serves_where_the_first_may_not() -> None:
    enabled = Eligibility(enabled_providers=frozenset({"p2"}))
    assert left(run(enabled)) == {"a": "p2", "b": "p2"}
    excluded = Eligibility(excluded_providers={"p1": Layer.PROVIDER_EXCLUDED})
    assert left(run(excluded))["a"] == "p2"
    single = Eligibility(excluded_bindings={("a", "p1"): Layer.CONTEXT_WINDOW})
    assert left(run(single))["a"] == "p2"


def test_a_model_whose_every_binding_is_excluded_is_dropped_with_that_layer() -> None:
    pool = run(Eligibility(excluded_bindings={("c", "p3"): Layer.CONTEXT_WINDOW}))
    assert pool.dropped == (Dropped("c", Filter.EXCLUDED, Layer.CONTEXT_WINDOW),)


@pytest.mark.spec("SCO-2")
def test_an_empty_provider_set_serves_nothing() -> None:
    refusal = run(Eligibility(enabled_providers=frozenset())).refusal
    assert refusal is not None
    assert refusal.reason is Reason.NO_ELIGIBLE_PROVIDER


def test_gateways_come_after_the_catalog_and_alone_in_exclusive_mode() -> None:
    gateways = (
        GatewayAliases("p1", {"a": "never-twice"}),
        GatewayAliases("gw", {"a": "a-there", "b": ""}),
    )
    beside = run(Eligibility(gateways=gateways, excluded_models={"b": Layer.OPERATOR}))
    assert left(beside)["a"] == "p1"
    blocked = Eligibility(
        gateways=gateways, excluded_providers={"p1": Layer.OPERATOR, "p2": Layer.OPERATOR}
    )
    binding = run(blocked).bindings["a"]
    assert (binding.provider, binding.upstream_id, binding.index) == ("gw", "a-there", 2)
    assert binding.input_usd_per_mtok == 1.0
    alone = run(Eligibility(gateways=gateways[1:], is_gateway_exclusive=True))
    assert left(alone) == {"a": "gw", "b": "gw"}
    assert alone.dropped == (Dropped("c", Filter.PROVIDER, Layer.GATEWAY_MODE),)
    assert alone.bindings["b"].upstream_id == "b"
    off = {"gw": Layer.OPERATOR}
    unmoved = Eligibility(gateways=gateways, is_gateway_exclusive=True, excluded_providers=off)
    assert left(run(unmoved))["b"] == "gw"
    refusal = run(Eligibility(is_gateway_exclusive=True)).refusal
    assert refusal is not None
    assert refusal.reason is Reason.GATEWAY_SERVES_NO_DEPLOYED_MODEL


def test_a_gateway_is_one_binding_where_its_provider_is_permitted() -> None:
    twice = (GatewayAliases("gw", {"c": "first"}), GatewayAliases("gw", {"c": "second"}))
    others = (GatewayAliases("p3", {"c": "again"}), GatewayAliases("off", {"c": "off"}))
    last = GatewayAliases("last", {"c": "last"})
    record = Eligibility(
        gateways=(*others, *twice, last),
        excluded_bindings={("c", "p3"): Layer.OPERATOR},
        excluded_providers={"off": Layer.OPERATOR},
    )
    binding = run(record).bindings["c"]
    assert (binding.provider, binding.upstream_id, binding.index) == ("gw", "first", 1)
    without = replace(record, excluded_bindings={("c", n): Layer.OPERATOR for n in ("p3", "gw")})
    binding = run(without).bindings["c"]
    assert (binding.provider, binding.upstream_id, binding.index) == ("last", "last", 2)


@pytest.mark.spec("POL-9")
def test_the_allow_list_is_named_only_when_it_is_set() -> None:
    everything = dict.fromkeys("abc", Layer.ALLOWLIST)
    for has_list, reason in (
        (True, Reason.ALLOWLIST_EMPTIES_POOL),
        (False, Reason.NO_ELIGIBLE_PROVIDER),
    ):
        refusal = run(Eligibility(excluded_models=everything, has_allow_list=has_list)).refusal
        assert refusal is not None
        assert (refusal.reason, refusal.layers) == (reason, ("allowlist",))


def test_requirements_that_nobody_can_carry_are_told_apart() -> None:
    never = dict.fromkeys("abc", Layer.REQUIREMENT_INCOMPATIBLE)
    refusal = run(Eligibility(requirement_models=never)).refusal
    assert refusal is not None
    assert refusal.reason is Reason.TRANSLATION_INTRINSICALLY_INCOMPATIBLE
    later = {**never, "b": Layer.REQUIREMENT_UNAVAILABLE}
    refusal = run(Eligibility(requirement_models=later)).refusal
    assert refusal is not None
    assert refusal.reason is Reason.TRANSLATION_PROVIDER_UNAVAILABLE


def test_safety_exclusions_are_hard() -> None:
    pool = run(Eligibility(safety_models={"a": Layer.SATURATED}))
    assert pool.dropped == (Dropped("a", Filter.EXCLUDED, Layer.SATURATED),)


@pytest.mark.spec("SCO-20")
def test_soft_filters_are_judged_one_by_one() -> None:
    pool = run(Eligibility(), TOOLS)
    assert left(pool) == {"a": "p1"}
    assert pool.reports[-2:] == (
        FilterReport(Filter.TOOL_USE, 3, 2),
        FilterReport(Filter.AGENTIC, 2, 1),
    )
    without_a = Eligibility(excluded_models={"a": Layer.MODEL_EXCLUDED})
    both_poor = run(without_a, TOOLS)
    assert left(both_poor) == {"c": "p3"}
    assert both_poor.reports[-1] == FilterReport(Filter.AGENTIC, 1, 1, is_skipped=True)
    assert left(run(Eligibility(), IMAGES)) == {"a": "p1", "b": "p2"}


@pytest.mark.spec("POL-15", "POL-16")
def test_automatic_exclusions_yield_as_a_whole_and_spare_the_forced_model() -> None:
    soft = Eligibility(automatic_models={"a": Layer.DEMOTION, "b": Layer.COOLDOWN})
    assert left(run(soft)) == {"c": "p3"}
    assert left(run(replace(soft, forced_model="a"))) == {"a": "p1", "c": "p3"}
    everything = Eligibility(automatic_models=dict.fromkeys("abc", Layer.AUTOMATIC))
    pool = run(everything)
    assert set(pool.bindings) == set("abc")
    assert pool.reports[-1].is_skipped


layers = st.sampled_from(list(Layer))
names = st.sampled_from(["a", "b", "c", "stranger"])
models = st.dictionaries(names, layers)
records = st.builds(
    Eligibility,
    enabled_providers=st.none() | st.frozensets(st.sampled_from(["p1", "p2", "p3"])),
    excluded_providers=st.dictionaries(st.sampled_from(["p1", "p2", "p3"]), layers),
    has_allow_list=st.booleans(),
    excluded_models=models,
    automatic_models=models,
    safety_models=models,
    requirement_models=models,
    forced_model=names,
)
requests = st.builds(Features, tool_count=st.integers(0, 2), image_count=st.integers(0, 2))


@given(records, requests)
def test_soft_filters_never_starve_a_request(eligibility: Eligibility, features: Features) -> None:
    hard = filtered(DEPLOYED, Features(), replace(eligibility, automatic_models={}))
    pool = filtered(DEPLOYED, features, eligibility)
    assert (pool.refusal is None) == (hard.refusal is None) == bool(pool.bindings)


@given(records, requests)
def test_every_model_is_left_or_dropped_once(eligibility: Eligibility, features: Features) -> None:
    pool = filtered(DEPLOYED, features, eligibility)
    dropped = [drop.model_id for drop in pool.dropped]
    assert sorted([*pool.bindings, *dropped]) == ["a", "b", "c"]


@pytest.mark.spec("SCO-1")
@given(records, requests)
def test_whatever_serves_is_permitted(eligibility: Eligibility, features: Features) -> None:
    for model, binding in filtered(DEPLOYED, features, eligibility).bindings.items():
        hard = (
            eligibility.excluded_models,
            eligibility.safety_models,
            eligibility.requirement_models,
        )
        assert not any(model in layer for layer in hard)
        assert binding.provider not in eligibility.excluded_providers
        assert eligibility.enabled_providers is None or (
            binding.provider in eligibility.enabled_providers
        )
