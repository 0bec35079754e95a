"""A prediction is the mean of the heads that an artifact has, and the curve makes chances of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from services.scorer.model.artifact import LinearHead, PieceHead, Pieces
from services.scorer.model.question import Eligibility, Features, Knobs, Question
from services.scorer.policy.curve import calibrated, chance
from services.scorer.policy.heads import predict
from tests.unit.scorer import worlds

MODELS = ("a", "b")
TABLE = worlds.artifact([[0.2, 0.4]], MODELS, top_p=1)
LINEAR = LinearHead(np.zeros((worlds.WIDTH, 2)), np.array([0.9, 0.1]))
PIECES = PieceHead(
    np.array([[0.3, 0.0], [0.0, 0.3]], dtype=np.float16),
    np.array([1.0, 0.5], dtype=np.float16),
    np.array([0.4, 0.1]),
)
TEXT = replace(worlds.text(1.0), pieces=Pieces(np.array([0]), np.array([1.0])))


def test_every_head_that_is_there_has_the_same_say() -> None:
    assert predict(TABLE, TEXT).quality == pytest.approx([0.2, 0.4])
    two = replace(TABLE, linear=LINEAR)
    assert predict(two, TEXT).quality == pytest.approx([0.55, 0.25])
    three = replace(two, pieces=PIECES)
    assert predict(three, TEXT).quality == pytest.approx([0.6, 0.2], abs=1e-3)


def test_pieces_weigh_by_how_often_and_how_rarely_they_stand_in_texts() -> None:
    once = replace(TEXT, pieces=Pieces(np.array([0, 1]), np.array([1.0, 1.0])))
    often = replace(TEXT, pieces=Pieces(np.array([0, 1]), np.array([1.0, np.e])))
    for text, lengths in ((once, (1.0, 0.5)), (often, (1.0, 1.0))):
        share = np.array(lengths) / np.hypot(*lengths)
        found = 3 * predict(replace(TABLE, linear=LINEAR, pieces=PIECES), text).quality
        assert found - [1.1, 0.5] == pytest.approx([0.4, 0.1] + 0.3 * share, abs=1e-3)


def test_a_prediction_stays_within_what_a_chance_can_be() -> None:
    wild = replace(TABLE, linear=LinearHead(np.zeros((worlds.WIDTH, 2)), np.array([9.0, -9.0])))
    assert predict(wild, TEXT).quality.tolist() == [1.0, 0.0]


def test_without_risk_every_head_has_a_say_in_the_blend() -> None:
    catalog = worlds.catalog(*(worlds.entry(model) for model in MODELS))
    asked = Question(Features(), Eligibility(), Knobs(alpha=1.0))
    picks = [
        worlds.decided(worlds.desk(made, catalog), TEXT, asked).pick.deployed.model.id
        for made in (TABLE, replace(TABLE, linear=LINEAR))
    ]
    assert picks == ["b", "a"]


def test_qualities_are_sharpened_and_shifted_to_chances() -> None:
    even = np.array([0.5, 0.8])
    assert calibrated(worlds.curve(2), even) == pytest.approx(even)
    shifted = replace(worlds.curve(2), shift=1.0)
    assert calibrated(shifted, even)[0] == pytest.approx(1 / (1 + np.exp(-1)))
    sharp = replace(worlds.curve(2), scale=2.0)
    assert calibrated(sharp, even)[1] == pytest.approx(16 / 17)
    assert calibrated(worlds.curve(2), np.array([0.0, 0.001])) == pytest.approx([0.02, 0.02])


def test_the_chance_of_a_hopeless_model_is_a_number() -> None:
    steep = replace(worlds.curve(2), slope=1e-6)
    assert chance(steep, 0.2, 0.9) == pytest.approx(0.0)
    assert chance(steep, 0.9, 0.2) == 1.0
