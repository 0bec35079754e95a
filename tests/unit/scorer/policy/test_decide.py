"""Decisions where risk has a price, and by what evidence models are judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.errors import Reason
from services.scorer.model.artifact import Artifact
from services.scorer.model.decision import Decision, Evidence, Refusal
from services.scorer.model.question import Eligibility, Features, Knobs, Layer, Question
from services.scorer.policy.decide import decide
from services.scorer.policy.deployed import TIER_SKILLS, deploy
from services.scorer.policy.heads import predict
from tests.unit.scorer import worlds

CATALOG = worlds.catalog(
    worlds.entry("cheap", tier="low", price=(0.1, 0.4)),
    worlds.entry("dear", tier="top", price=(5.0, 25.0)),
    worlds.entry("lent", price=(1.0, 5.0), scored_as="strong"),
    worlds.entry("own", price=(1.0, 5.0)),
    worlds.entry("stated", tier="low", price=(1.0, 5.0), skill=0.9),
)
MEASURED = ("own", "strong")
CELLS = [[0.2, 0.9], [0.95, 0.97]]
ARTIFACT = worlds.artifact(CELLS, MEASURED, curve=worlds.curve(2), top_p=1)
DESK = worlds.desk(ARTIFACT, CATALOG)
HARD, EASY = worlds.text(1.0), worlds.text(0.0, 1.0)


def ask(**features: int) -> Question:
    return Question(Features(**{"input_tokens": 1_000, **features}), Eligibility())


def by_id(decision: Decision) -> dict[str, float]:
    return {c.deployed.model.id: c.risk or 0.0 for c in decision.candidates}


def test_each_model_is_judged_by_the_best_evidence_there_is() -> None:
    deployed = {model.model.id: model for model in deploy(CATALOG, ARTIFACT).models}
    assert {name: model.evidence for name, model in deployed.items()} == {
        "cheap": Evidence.ESTIMATED,
        "dear": Evidence.ESTIMATED,
        "lent": Evidence.BORROWED,
        "own": Evidence.MEASURED,
        "stated": Evidence.ESTIMATED,
    }
    assert deployed["lent"].scored_as == "strong"
    skills = [deployed[name].skill for name in ("cheap", "dear", "stated")]
    assert skills == [0.32, 0.95, 0.9]


def test_without_a_curve_only_measured_and_borrowed_models_can_serve() -> None:
    plain = deploy(CATALOG, worlds.artifact(CELLS, MEASURED))
    assert [model.model.id for model in plain.models] == ["lent", "own"]
    assert plain.unmeasured == ("cheap", "dear", "stated")
    stray = worlds.catalog(worlds.entry("m", scored_as="nobody"))
    assert deploy(stray, ARTIFACT).unknown_lenders == ("m",)
    assert not deploy(CATALOG, ARTIFACT).unknown_lenders


def test_risk_is_what_quality_leaves() -> None:
    risks = by_id(worlds.decided(DESK, HARD, ask()))
    assert risks["own"] == pytest.approx(0.8)
    assert risks["lent"] == pytest.approx(0.1)


def test_the_pick_has_the_least_cost_and_priced_risk() -> None:
    decision = worlds.decided(DESK, HARD, ask())
    sums = {c.deployed.model.id: c.cost_usd + 0.1 * (c.risk or 0.0) for c in decision.candidates}
    assert decision.pick.deployed.model.id == min(sums, key=sums.__getitem__)
    for candidate in decision.candidates:
        assert candidate.score == pytest.approx(-sums[candidate.deployed.model.id])
    assert decision.pick.cost_usd == pytest.approx((1_000 * 1.0 + 2_000 * 5.0) / 1e6)


@pytest.mark.spec("SCO-25")
@pytest.mark.parametrize(
    "made", [ARTIFACT, worlds.artifact(CELLS, MEASURED, top_p=1)], ids=["risk", "blend"]
)
def test_a_long_prompt_pays_the_rates_of_long_prompts(made: Artifact) -> None:
    steps = {"above_tokens": 200_000, "input_usd_per_mtok": 4.0, "output_usd_per_mtok": 18.0}
    priced = worlds.catalog(
        worlds.entry("own", price=(2.0, 12.0), long_context_price=steps),
        worlds.entry("strong", price=(3.0, 15.0)),
    )
    for tokens, usd, order in (
        (200_000, (200_000 * 2 + 2_000 * 12) / 1e6, ["own", "strong"]),
        (200_001, (200_001 * 4 + 2_000 * 18) / 1e6, ["strong", "own"]),
    ):
        asked = replace(ask(input_tokens=tokens), knobs=Knobs(quality_bias=0.0))
        decision = worlds.decided(worlds.desk(made, priced), HARD, asked)
        assert [each.deployed.model.id for each in decision.candidates] == order
        costs = {each.deployed.model.id: each.cost_usd for each in decision.candidates}
        assert costs["own"] == pytest.approx(usd)


def test_an_output_limit_bounds_the_expected_cost() -> None:
    decision = worlds.decided(DESK, HARD, ask(max_output_tokens=100))
    dear = next(c for c in decision.candidates if c.deployed.model.id == "dear")
    assert dear.cost_usd == pytest.approx((1_000 * 5.0 + 100 * 25.0) / 1e6)


def test_a_covered_model_costs_its_share_and_a_preferred_one_seems_less_risky() -> None:
    covered = Question(Features(1_000), Eligibility(), cost_factors={"dear": 0.0})
    free = worlds.decided(DESK, HARD, covered)
    assert free.pick.deployed.model.id == "dear"
    assert free.pick.cost_usd > 0
    assert free.pick.score == pytest.approx(-0.1 * (free.pick.risk or 0.0))
    liked = Question(Features(1_000), Eligibility(preferred_models=("own",)))
    own = next(
        c for c in worlds.decided(DESK, HARD, liked).candidates if c.deployed.model.id == "own"
    )
    assert own.terms is not None
    assert own.terms.preference_bonus == pytest.approx(0.1 * 0.15)


@pytest.mark.parametrize(
    "cells", [ARTIFACT, worlds.artifact(CELLS, MEASURED)], ids=["risk", "blend"]
)
def test_the_working_is_told_on_demand_and_changes_nothing(cells: Artifact) -> None:
    desk = worlds.desk(cells, CATALOG)
    told = worlds.decided(desk, HARD, ask()).candidates
    untold = worlds.decided(desk, HARD, replace(ask(), is_explained=False)).candidates
    assert all(each.terms for each in told)
    assert not any(each.terms for each in untold)
    assert untold == tuple(replace(each, terms=None) for each in told)


def test_nothing_that_may_serve_is_a_refusal() -> None:
    nobody = Question(Features(), Eligibility(enabled_providers=frozenset()))
    refusal = decide(DESK, predict(ARTIFACT, HARD), nobody)
    assert isinstance(refusal, Refusal)
    assert refusal.reason is Reason.NO_ELIGIBLE_PROVIDER


@pytest.mark.spec("SCO-32")
def test_a_score_that_is_no_number_is_a_refusal() -> None:
    broken = replace(ARTIFACT, curve=worlds.curve(2, weight=float("nan")))
    refusal = decide(worlds.desk(broken, CATALOG), predict(broken, HARD), ask())
    assert isinstance(refusal, Refusal)
    assert refusal.reason is Reason.ROUTING_UNAVAILABLE


def test_a_prompt_unlike_everything_leans_on_the_means() -> None:
    wary = replace(ARTIFACT, far_similarity=0.5)
    far = predict(wary, worlds.text(0.1, 0.0, 0.9))
    assert far.is_far
    assert far.quality == pytest.approx((np.array(CELLS[0]) + wary.means) / 2)
    assert not predict(wary, HARD).is_far


prices = st.floats(0.0, 10.0, allow_nan=False)
places = st.tuples(*[st.floats(-1, 1, allow_nan=False)] * 4)
sizes = st.integers(0, 200_000)


@given(places, sizes, prices, prices)
def test_a_higher_price_of_risk_never_picks_a_riskier_model(
    place: tuple[float, ...], size: int, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    risks = [
        worlds.decided(
            DESK,
            worlds.text(*place),
            Question(Features(size), Eligibility(), Knobs(risk_price_usd=price)),
        ).pick.risk
        or 0.0
        for price in (low, high)
    ]
    assert risks[1] <= risks[0] + 1e-9


@given(places)
def test_more_skill_is_never_riskier_and_risks_are_chances(place: tuple[float, ...]) -> None:
    risks = by_id(worlds.decided(DESK, worlds.text(*place), ask()))
    assert risks["dear"] <= risks["stated"] <= risks["cheap"]
    assert all(0.0 <= risk <= 1.0 for risk in risks.values())


@given(places, sizes, st.sampled_from(["cheap", "dear", "lent", "own", "stated"]))
def test_excluding_a_model_changes_no_other_score(
    place: tuple[float, ...], size: int, out: str
) -> None:
    without = Eligibility(excluded_models={out: Layer.MODEL_EXCLUDED})
    text = worlds.text(*place)
    whole = worlds.decided(DESK, text, Question(Features(size), Eligibility()))
    rest = worlds.decided(DESK, text, Question(Features(size), without))
    kept = [c for c in whole.candidates if c.deployed.model.id != out]
    assert list(rest.candidates) == kept


def test_ties_go_to_the_earlier_name() -> None:
    twins = worlds.catalog(worlds.entry("z"), worlds.entry("m"), worlds.entry("q"))
    decision = worlds.decided(worlds.desk(ARTIFACT, twins), HARD, ask())
    assert [c.deployed.model.id for c in decision.candidates] == ["m", "q", "z"]


prices = st.floats(0.01, 50)


@pytest.mark.spec("SCO-32")
@given(prices, prices, st.floats(0, 1), st.booleans())
def test_of_models_that_are_equally_good_the_dearer_never_wins(
    one: float, other: float, bias: float, has_risk: bool
) -> None:
    rivals = worlds.catalog(
        worlds.entry("a", price=(one, 5 * one), scored_as="own"),
        worlds.entry("b", price=(other, 5 * other), scored_as="own"),
    )
    made = ARTIFACT if has_risk else worlds.artifact(CELLS, MEASURED, top_p=1)
    question = replace(ask(), knobs=Knobs(quality_bias=bias))
    decision = worlds.decided(worlds.desk(made, rivals), HARD, question)
    first, second = decision.candidates
    is_money_moot = first.score == second.score  # the dial stands at its very end
    assert first.cost_usd <= second.cost_usd or is_money_moot
    assert not is_money_moot or bias > 0.99 or one == pytest.approx(other)


@pytest.mark.spec("SCO-32")
def test_of_equals_in_one_family_the_newest_wins() -> None:
    versions = {"s-4": "4", "s-4-5": "4.5", "s-4-10": "4.10", "s-5": "5"}
    family = worlds.catalog(
        worlds.entry("a-first"),
        *(
            worlds.entry(name, family="s", version=versions[name], distinct=True)
            for name in versions
        ),
        worlds.entry("t-last"),
    )
    decision = worlds.decided(worlds.desk(ARTIFACT, family), HARD, ask())
    assert [c.deployed.model.id for c in decision.candidates] == [
        "a-first",
        *("s-5", "s-4-10", "s-4-5", "s-4"),
        "t-last",
    ]


def test_tiers_are_ordered_by_skill() -> None:
    assert list(TIER_SKILLS.values()) == sorted(TIER_SKILLS.values())
