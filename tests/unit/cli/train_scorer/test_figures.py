"""Stems, folds, figures of merit and fits on data whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.cli.train_scorer.curves import Anchor, fit_curve
from services.cli.train_scorer.means import spherical_means
from services.cli.train_scorer.metrics import interval, recovery, reliability
from services.cli.train_scorer.projection import quantised
from services.cli.train_scorer.tables import FOLDS, fold_of, question_of, stems_of
from services.scorer.model.artifact import Indices
from services.scorer.policy.curve import calibrated, chance, logit, need

QUESTION = "What is the degree of the extension Q(sqrt(2)) over Q?"


@pytest.mark.parametrize(
    "prompt",
    [
        f"{QUESTION}\nA. 0\nB. 4\nC. 2\nD. 6\nAnswer:",
        f"Question: {QUESTION}\n(A) 2\n(B) 4",
        f"Q: What is 1 + 1?\nA: 2\n\nQ: {QUESTION}",
        QUESTION.upper(),
        f"What is 1 + 1?\nA) 1\nB) 2\nAnswer:\nB\n\n{QUESTION}\nA) 2\nB) 4\nAnswer:\n",
    ],
)
def test_the_same_question_has_one_stem_however_it_is_dressed(prompt: str) -> None:
    assert question_of(prompt) == question_of(QUESTION)
    assert fold_of(question_of(prompt)) == fold_of(question_of(QUESTION))


def test_questions_of_every_script_are_told_apart() -> None:
    first, second, third = (
        "\u8bf7\u7528API\u5199\uff01",
        "\u8bf7\u7528API\u8bfb",
        "\u043a\u0430\u043a? ?",
    )
    assert len({question_of(text) for text in (first, second, third, "API")}) == 4
    assert question_of(f"Question: {first}") == question_of(f" {first} ")
    assert question_of("What is a caf\u00e9?") == "what is a caf"


def test_stems_are_starts_unless_many_questions_share_them() -> None:
    long = "x" * 60
    few = [f"{long} {n}" for n in range(5)]
    assert set(stems_of(few)) == {long}
    template = [f"{long} {n}" for n in range(6)]
    assert stems_of(template) == tuple(template)


@given(st.text())
def test_every_question_has_a_fold(question: str) -> None:
    assert 0 <= fold_of(question) < FOLDS


def test_a_perfect_order_recovers_first_what_gains_most() -> None:
    weak, strong = np.array([0.0, 1.0, 0.0, 1.0]), np.array([1.0, 1.0, 1.0, 0.0])
    best = recovery(strong - weak, weak, strong)
    worst = recovery(weak - strong, weak, strong)
    assert best.cpt50 == best.cpt80 == 0.25
    assert best.apgr > 1.0 > 0.5 > worst.apgr


def test_no_order_recovers_half_on_average() -> None:
    source = np.random.default_rng(1)
    strong = (source.random(4_000) < 0.8).astype(np.float64)
    weak = (source.random(4_000) < 0.5).astype(np.float64)
    assert recovery(source.random(4_000), weak, strong).apgr == pytest.approx(0.5, abs=0.05)


def test_an_interval_holds_its_figure_and_repeats() -> None:
    values = np.random.default_rng(2).normal(size=400)

    def mean(rows: Indices) -> float:
        return float(values[rows].mean())

    found = interval(400, 0, mean)
    assert found.low < found.value < found.high
    assert found == interval(400, 0, mean)


def test_honest_chances_are_calibrated_and_bold_ones_are_not() -> None:
    source = np.random.default_rng(3)
    chances = source.random(20_000)
    seen = (source.random(20_000) < chances).astype(np.float64)
    means = np.full(20_000, 0.5)
    honest, bold = reliability(chances, seen, means), reliability(chances**3, seen, means)
    assert honest.calibration_error < 0.02 < bold.calibration_error
    assert honest.brier < honest.base_brier


def test_the_curve_finds_the_skills_that_made_the_outcomes() -> None:
    source = np.random.default_rng(4)
    skills, slope = np.array([0.2, 0.5, 0.9]), 0.25
    needs = source.normal(0.4, 0.3, size=6_000)
    true = 1 / (1 + np.exp((needs[:, None] - skills) / slope))
    scores = (source.random(true.shape) < true).astype(np.float64)
    scores[::2, 1] = np.nan
    found = fit_curve(true, scores, ("a", "b", "c"), Anchor("a", 0.2), Anchor("c", 0.9))
    assert found.skills == pytest.approx(skills, abs=0.04)
    assert found.slope == pytest.approx(slope, abs=0.03)
    asked = [need(found, row) for row in true[:200]]
    assert asked == pytest.approx(needs[:200], abs=0.15)
    assert chance(found, 0.9, 0.4) > chance(found, 0.2, 0.4)
    assert (found.scale, found.shift) == pytest.approx((1.0, 0.0), abs=0.06)


def test_too_cautious_qualities_are_sharpened() -> None:
    source = np.random.default_rng(5)
    true = np.sort(source.random((8_000, 2)), axis=1)
    scores = (source.random(true.shape) < true).astype(np.float64)
    shrunk = 0.5 + (true - 0.5) * 0.5
    found = fit_curve(shrunk, scores, ("a", "b"), Anchor("a", 0.3), Anchor("b", 0.6))
    assert found.scale > 1.5
    gaps = abs(calibrated(found, shrunk) - true).mean(), abs(shrunk - true).mean()
    assert gaps[0] < gaps[1]
    assert np.isfinite(logit(np.array([0.0, 1.0]))).all()


def test_clusters_are_unit_and_the_same_each_time() -> None:
    points = np.random.default_rng(6).normal(size=(200, 5))
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    centroids = spherical_means(unit, 8, 0)
    assert np.linalg.norm(centroids, axis=1) == pytest.approx(np.ones(8))
    assert centroids.tolist() == spherical_means(unit, 8, 0).tolist()


def test_quantised_vectors_point_where_they_pointed() -> None:
    vectors = np.random.default_rng(7).normal(size=(50, 128))
    packed, scales = quantised(vectors)
    restored = packed * scales[:, None].astype(np.float64)
    sizes = np.linalg.norm(vectors, axis=1) * np.linalg.norm(restored, axis=1)
    assert ((vectors * restored).sum(axis=1) / sizes).min() > 0.999
