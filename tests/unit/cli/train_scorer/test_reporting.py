"""Plots, baselines, goals and comparisons on data whose answer is known."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.cli.train_scorer.apart import ApartFigures
from services.cli.train_scorer.baselines import tfidf_gain
from services.cli.train_scorer.comparing import Change
from services.cli.train_scorer.corpus import Corpus
from services.cli.train_scorer.goals import GSM8K, MMLU, ROUTERBENCH, UIUC_TEST, goals_of
from services.cli.train_scorer.judging import (
    PairFigures,
    PickFigures,
    measured_columns,
    whole_rows,
)
from services.cli.train_scorer.metrics import Interval, Recovery, accuracies, recovery
from services.cli.train_scorer.plots import Line, Plot, svg
from services.cli.train_scorer.spending import (
    CostFigures,
    guessed_costs,
    height_over,
    judge_spending,
    upper_hull,
)
from services.cli.train_scorer.texts import overlaps
from services.scorer.model.artifact import NO_PIECES, TextVector

SVG = "{http://www.w3.org/2000/svg}"
numbers = st.floats(-1e6, 1e6)


def corpus(prompts: list[str], tables: list[str]) -> Corpus:
    count = len(prompts)
    unit = np.ones((count, 1))
    return Corpus(
        models=("weak", "strong"),
        tables=tuple(tables),
        prompts=tuple(prompts),
        groups=("",) * count,
        stems=tuple(prompts),
        folds=np.arange(count) % 5,
        scores=np.zeros((count, 2)),
        vectors=(TextVector(unit[0], NO_PIECES, 0.0, 0),) * count,
        joint=unit,
        unit=unit,
    )


def pair(table: str, apgr: float) -> PairFigures:
    found = Recovery(apgr, 0.3, 0.6)
    interval = Interval(apgr, apgr - 0.01, apgr + 0.01)
    return PairFigures(table, 9, found, interval, found, None, found, found, 0.4, 0.6, {})


@given(st.lists(st.tuples(numbers, numbers), min_size=1), st.text(max_size=20))
def test_a_plot_is_well_formed_and_stays_inside_its_frame(
    points: list[tuple[float, float]], name: str
) -> None:
    name = "".join(letter for letter in name if letter.isprintable())
    plot = Plot(name, "x & y", "<up>", [Line(name, points), Line("none", ())])
    drawn = svg(plot)
    assert drawn == svg(plot)
    root = ET.fromstring(drawn)  # noqa: S314 - our own bytes
    first = root.findall(f"{SVG}polyline")[0].get("points", "").split()
    assert len(first) == len(points)
    for place in first:
        x, y = map(float, place.split(","))
        assert 64 <= x <= 640 - 176
        assert 36 <= y <= 400 - 48


def test_a_plot_without_points_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        svg(Plot("t", "x", "y", [Line("a", ())]))


def test_word_counts_predict_a_gain_that_words_decide() -> None:
    words = ["prove the theorem", "say hello"]
    prompts = [f"{words[i % 2]} number {i // 2}" for i in range(200)]
    gain = np.array([float(i % 2 == 0) for i in range(200)])
    rows = np.arange(200)
    guessed = tfidf_gain(corpus(prompts, ["t"] * 200), rows, gain)
    assert guessed[gain == 1].min() > guessed[gain == 0].max()


def test_word_counts_never_learn_from_the_fold_they_guess() -> None:
    prompts = [f"word{i % 5}" for i in range(50)]
    rows, gain = np.arange(50), np.array([float(i % 5 == 0) for i in range(50)])
    guessed = tfidf_gain(corpus(prompts, ["t"] * 50), rows, gain)
    assert guessed[gain == 1] == pytest.approx(np.zeros(10), abs=1e-12)


@given(st.lists(st.tuples(numbers, st.booleans(), st.booleans()), min_size=1))
def test_a_curve_of_accuracies_runs_from_always_weak_to_always_strong(
    rows: list[tuple[float, bool, bool]],
) -> None:
    order, weak, strong = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    points = accuracies(order, weak, strong)
    assert points[0] == pytest.approx((0.0, weak.mean()))
    assert points[-1] == pytest.approx((1.0, strong.mean()))
    best = accuracies(strong - weak, weak, strong)
    assert all(a[1] <= b[1] + 1e-12 for a, b in zip(points, best, strict=True))


def test_goals_are_those_of_the_tables_at_hand_and_say_whether_they_are_met() -> None:
    picks = (PickFigures(UIUC_TEST, 9, 0.58, 0.56, 0.7, Interval(0.02, 0.0, 0.04)),)
    goals = goals_of((pair(MMLU, 0.676), pair(GSM8K, 0.605), pair("ours/t", 0.1)), picks)
    met = {(goal.table, goal.measure): goal.is_met for goal in goals}
    assert met == {
        (MMLU, "APGR"): True,
        (MMLU, "CPT50"): False,
        (MMLU, "CPT80"): True,
        (GSM8K, "APGR"): False,
        (GSM8K, "CPT50"): True,
        (GSM8K, "CPT80"): True,
        (UIUC_TEST, "accuracy"): True,
    }


def test_a_step_back_is_an_interval_that_lies_wholly_below_the_limit() -> None:
    change = Change("b-1", "t", 9, "APGR", 0.6, 0.55, Interval(-0.05, -0.09, -0.011))
    assert change.is_worse
    assert not replace(change, difference=Interval(-0.05, -0.09, -0.009)).is_worse


def test_shared_questions_are_counted_by_pairs_of_tables() -> None:
    found = overlaps(corpus(["a", "b", "b", "c"], ["t", "t", "u", "v"]), ["t", "u", "v"])
    assert [(each.first, each.second, each.questions) for each in found] == [("t", "u", 1)]


def test_nothing_to_recover_is_no_number() -> None:
    flat = np.zeros(4)
    assert math.isnan(recovery(flat, flat, flat).apgr)


def test_the_hull_is_what_mixing_by_chance_reaches_at_best() -> None:
    hull = upper_hull([(1.0, 0.5), (4.0, 0.8), (2.0, 0.4), (2.0, 0.6), (9.0, 0.7)])
    assert hull == ((1.0, 0.5), (4.0, 0.8))
    assert height_over([(1.0, 0.6), (4.0, 0.9)], hull) == pytest.approx(0.1)
    assert height_over([(2.0, 0.6)], hull) == pytest.approx(0.0)


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 50)), min_size=1))
def test_no_single_model_lies_above_the_hull(points: list[tuple[int, int]]) -> None:
    found = [(float(usd), accuracy / 50) for usd, accuracy in points]
    hull = upper_hull(found)
    usd, accuracy = zip(*hull, strict=True)
    for point in found:
        assert point[1] <= np.interp(point[0], usd, accuracy) + 1e-9


def test_a_perfect_prediction_buys_what_a_mixture_by_chance_cannot() -> None:
    made = corpus([f"p{i}" for i in range(100)], ["t"] * 100)
    weak = np.arange(100) % 2
    priced = replace(
        made,
        scores=np.stack([weak, np.ones(100)], axis=1).astype(np.float64),
        costs=np.tile([0.001, 0.010], (100, 1)),
    )
    figures = judge_spending(priced, np.arange(100), priced.scores)
    assert figures is not None
    assert figures.singles["weak"] == pytest.approx((1.0, 0.5))
    assert figures.singles["strong"] == pytest.approx((10.0, 1.0))
    assert figures.enough_usd == pytest.approx(5.5)
    assert figures.over_hull > 0.1
    assert judge_spending(made, np.arange(100), made.scores) is None


def test_answers_that_cost_nothing_are_picked_by_quality_alone() -> None:
    made = corpus([f"p{i}" for i in range(20)], ["t"] * 20)
    scores = np.stack([np.zeros(20), np.ones(20)], axis=1)
    figures = judge_spending(
        replace(made, scores=scores, costs=np.zeros((20, 2))), np.arange(20), scores
    )
    assert figures is not None
    assert figures.curve == ((0.0, 1.0),)


def test_heights_by_doublings_count_what_is_cheap_as_much_as_what_is_dear() -> None:
    hull = ((1.0, 0.5), (100.0, 0.5))
    curve = [(1.0, 0.7), (10.0, 0.7), (10.001, 0.5), (100.0, 0.5)]
    assert height_over(curve, hull, is_log=True) == pytest.approx(0.1, abs=0.001)
    assert height_over(curve, hull) == pytest.approx(0.2 / 11, abs=0.001)
    assert height_over([(0.0, 0.7), (0.0, 0.7)], ((0.0, 0.5),), is_log=True) == pytest.approx(0.2)


def test_costs_are_guessed_from_the_length_of_a_prompt() -> None:
    prompts = ["x" * (7 * i % 90) for i in range(100)]
    made = corpus(prompts, ["t"] * 100)
    lengths = np.array([len(prompt) for prompt in prompts], dtype=np.float64)
    costs = np.stack([0.01 + 0.002 * lengths, 0.5 - 0.01 * lengths], axis=1)
    rows = np.arange(100)
    guessed = guessed_costs(replace(made, costs=costs), rows[:50], rows[50:], [0, 1])
    assert guessed == pytest.approx(np.maximum(costs[50:], 0.0))
    assert (guessed[:, 1] == 0).any()


def test_money_buys_what_lies_between_two_turns_of_the_dial() -> None:
    spent = CostFigures("t", 9, ((1.0, 0.5), (3.0, 0.9)), {}, 0.0, 0.0, None)
    assert [spent.accuracy_at(usd) for usd in (0.5, 2.0, 9.0)] == pytest.approx([0.5, 0.7, 0.9])


def test_goals_of_money_are_those_of_the_table_that_is_judged_apart() -> None:
    spent = CostFigures(ROUTERBENCH, 9, ((0.34, 0.81), (1.75, 0.85)), {}, 0.03, 0.02, None)
    apart = ApartFigures(ROUTERBENCH, "", "", 9, spent)
    met = [goal.is_met for goal in goals_of((), (), (apart,))]
    assert met == [True, False, False, True, False]
    assert not goals_of((), (), (replace(apart, table="ours"),))


def test_rows_with_a_blank_are_left_out_of_what_is_judged() -> None:
    made = corpus(["a", "b", "c"], ["t"] * 3)
    gappy = replace(made, scores=np.array([[np.nan, 1.0], [0.0, 1.0], [1.0, 0.0]]))
    rows = np.arange(3)
    assert measured_columns(gappy, rows) == [0, 1]
    assert whole_rows(gappy, rows).tolist() == [1, 2]
