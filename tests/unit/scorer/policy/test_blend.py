"""Blending quality, cost and speed, with the worked example of the rules."""

from __future__ import annotations

import numpy as np
import pytest

from services.scorer.model.artifact import ArtifactKnobs, Axes
from services.scorer.model.question import Eligibility, Features, Knobs, Layer, Question
from services.scorer.policy.blend import blended, preference_bonuses
from services.scorer.policy.costs import Scales, Size, normalised, scales
from services.scorer.policy.deployed import deploy
from services.scorer.policy.heads import Nearby, nearest
from tests.unit.scorer import worlds

QUALITY = [[0.9, 0.6, 0.3], [0.5, 0.7, 0.1]]
MODELS = ("a", "b", "c")
KNOBS = ArtifactKnobs((0.8, 0.4), (0.0, 0.0), is_cost_per_request=False)
CATALOG = worlds.catalog(
    worlds.entry("a", price=(5.0, 0.0)),
    worlds.entry("b", price=(1.0, 0.0)),
    worlds.entry("c", price=(0.2, 0.0)),
)
ARTIFACT = worlds.artifact(QUALITY, MODELS, knobs=KNOBS, temperature=None)
DESK = worlds.desk(ARTIFACT, CATALOG)
HERE = worlds.text(1.0, 1.0)
NEARBY = Nearby(np.array([0, 1]), np.ones(2), np.ones(2))
FLAT = np.ones(3)


def scores(eligibility: Eligibility, factors: dict[str, float] | None = None) -> dict[str, float]:
    question = Question(Features(), eligibility, cost_factors=factors or {})
    decision = worlds.decided(DESK, HERE, question)
    return {c.deployed.model.id: round(c.score, 4) for c in decision.candidates}


@pytest.mark.spec("SCO-25", "SCO-27", "SCO-28", "SCO-29", "SCO-32")
def test_the_worked_example() -> None:
    assert scores(Eligibility()) == {"b": 1.4667, "a": 1.0667, "c": 0.8}
    decision = worlds.decided(DESK, HERE, Question(Features(), Eligibility()))
    assert [c.deployed.model.id for c in decision.candidates] == ["b", "a", "c"]
    assert decision.pick.risk is None


@pytest.mark.spec("SCO-31")
def test_a_preference_is_a_bonus_per_cluster() -> None:
    assert scores(Eligibility(preferred_models=("a",)))["a"] == 1.3667


@pytest.mark.spec("SCO-30")
def test_a_covered_model_gains_what_it_does_not_cost() -> None:
    covered = scores(Eligibility(), {"a": 0.1})
    assert covered == {"a": 2.8667, "b": 1.4667, "c": 0.8}


@pytest.mark.spec("SCO-31")
def test_ranks_skip_models_that_are_not_eligible_and_repeats() -> None:
    bonuses = preference_bonuses(("x", "a", "a", "b", "c", "d"), dict.fromkeys("abcd"))
    assert {m: round(b, 4) for m, b in bonuses.items()} == {
        "a": 0.15,
        "b": 0.0825,
        "c": 0.0454,
        "d": 0.025,
    }


@pytest.mark.spec("SCO-27")
def test_an_exclusion_reshuffles_nobody_else() -> None:
    without = scores(Eligibility(excluded_models={"a": Layer.MODEL_EXCLUDED}))
    assert without == {"b": 1.4667, "c": 0.8}


@pytest.mark.spec("SCO-24")
def test_the_nearest_come_first_and_ties_go_to_the_lower_index() -> None:
    clusters = worlds.artifact([[0.1], [0.2], [0.3]], ("x",), top_p=2).clusters
    assert nearest(clusters, worlds.text(0.5, 0.5, 0.5).unit).ids.tolist() == [0, 1]
    assert nearest(clusters, worlds.text(0.1, 0.5, 0.9).unit).ids.tolist() == [2, 1]


@pytest.mark.spec("SCO-29")
def test_softmax_weights_sum_to_one_and_favour_the_nearest() -> None:
    clusters = worlds.artifact([[0.1], [0.2], [0.3]], ("x",), top_p=3).clusters
    nearby = nearest(clusters, worlds.text(0.9, 0.5, 0.1).unit)
    assert nearby.weights.sum() == pytest.approx(1.0)
    assert sorted(nearby.weights.tolist(), reverse=True) == nearby.weights.tolist()


@pytest.mark.spec("SCO-28")
def test_the_weight_of_speed_is_shared_where_speed_does_not_differ() -> None:
    quality, cost = np.array(QUALITY), np.array([1.0, 0.5, 0.0])
    flat = blended(quality, NEARBY, Scales(cost, FLAT), (0.4, 0.4), 0.2)
    shared = blended(quality, NEARBY, Scales(cost, FLAT), (0.5, 0.5), 0.0)
    assert flat == pytest.approx(shared)
    only_speed = blended(quality, NEARBY, Scales(cost, FLAT), (0.0, 0.0), 1.0)
    assert only_speed == pytest.approx([1 + 2 / 3, 1.5, 0.0])
    fast_c = blended(quality, NEARBY, Scales(cost, np.array([1.0, 1.0, 0.0])), (0.0, 0.0), 1.0)
    assert fast_c.argmax() == 2


@pytest.mark.spec("SCO-26", "SCO-28")
def test_an_unknown_latency_is_the_slowest() -> None:
    axes = {"a": Axes(0.5, 100.0), "b": Axes(0.5, 50.0), "c": Axes(0.5, None)}
    made = worlds.artifact(QUALITY, MODELS, knobs=KNOBS, axes=axes)
    found = scales(
        deploy(CATALOG, made).models, made, Size(0, 1_000), 0.0, is_verbosity_per_model=False
    )
    assert found.latency.tolist() == [0.0, 1.0, 1.0]


@pytest.mark.spec("SCO-25")
def test_verbosity_scales_output_against_the_median() -> None:
    priced = worlds.catalog(*(worlds.entry(m, price=(0.0, 1.0)) for m in MODELS))
    axes = {"a": Axes(verbosity_tokens=100.0), "b": Axes(verbosity_tokens=300.0), "c": Axes()}
    made = worlds.artifact(QUALITY, MODELS, knobs=KNOBS, axes=axes)
    deployed = deploy(priced, made).models
    found = scales(deployed, made, Size(0, 0), 1.0, is_verbosity_per_model=True)
    assert found.cost == pytest.approx(normalised(np.array([1 / 3, 1.0, 1.0])))
    even = scales(deployed, made, Size(0, 0), 1.0, is_verbosity_per_model=False)
    assert even.cost.tolist() == [0.0, 0.0, 0.0]


def test_cost_is_that_of_the_request_by_default() -> None:
    priced = worlds.catalog(
        worlds.entry("a", price=(10.0, 1.0)), worlds.entry("b", price=(1.0, 10.0))
    )
    made = worlds.artifact([[0.5, 0.5]], ("a", "b"), top_p=1)
    deployed = deploy(priced, made).models
    long_prompt = scales(deployed, made, Size(9_000, 10), 0.0, is_verbosity_per_model=False)
    long_answer = scales(deployed, made, Size(10, 9_000), 0.0, is_verbosity_per_model=False)
    assert long_prompt.cost.tolist() == [1.0, 0.0]
    assert long_answer.cost.tolist() == [0.0, 1.0]


@pytest.mark.spec("SCO-34")
def test_the_dial_finds_where_winners_change() -> None:
    # c wins below 2/11 and a above 10/11, found at the next of 401 points; the last is the end.
    assert list(DESK.breakpoints) == pytest.approx([0.0, 0.1825, 1.0])
    never = worlds.artifact([[0.9, 0.6, 0.95]], MODELS, knobs=KNOBS, top_p=1)
    assert worlds.desk(never, CATALOG).breakpoints == (0.0, 1.0)
    picks = [
        worlds.decided(
            DESK, HERE, Question(Features(), Eligibility(), Knobs(quality_bias=t))
        ).pick.deployed.model.id
        for t in (0.0, 1.0)
    ]
    assert picks == ["c", "a"]
