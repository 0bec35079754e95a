"""A linear head that holds everywhere, and another in each region where the texts say so."""

from __future__ import annotations

import numpy as np
import pytest

from services.cli.train_scorer.linear import fit_linear
from services.scorer.model.artifact import NO_PIECES, Floats, LinearHead, TextVector
from services.scorer.policy.heads import linear_quality

ROWS = 3_000
MEANING = 6
SURFACE = 47


def texts(seed: int, topics: int = 2) -> Floats:
    """Return vectors of texts: a topic, a meaning that varies, and small surface features."""
    source = np.random.default_rng(seed)
    meaning = 0.3 * source.normal(size=(ROWS, MEANING))
    meaning[np.arange(ROWS), source.integers(topics, size=ROWS)] += 2.0
    return np.hstack([meaning, 0.07 * source.normal(size=(ROWS, SURFACE))])


def unit(joint: Floats) -> Floats:
    scaled: Floats = joint / np.linalg.norm(joint, axis=1, keepdims=True)
    return scaled


def predicted(head: LinearHead, joint: Floats, *, is_far: bool = False) -> Floats:
    vectors = (TextVector(row, NO_PIECES, 0.0, 10) for row in joint)
    return np.stack([linear_quality(head, vector, is_far=is_far) for vector in vectors])


def error(head: LinearHead, joint: Floats, wanted: Floats, *, is_far: bool = False) -> float:
    return float(np.abs(predicted(head, joint, is_far=is_far) - wanted).mean())


def wanted_of(joint: Floats) -> Floats:
    """Return outcomes whose slope along one direction turns with the topic."""
    turned = np.where(joint[:, 0] > joint[:, 1], 1.0, -1.0) * joint[:, 5]
    return np.stack([0.5 + turned, 0.5 - turned], axis=1)


def test_a_region_finds_what_holds_in_it_alone() -> None:
    joint, fresh = texts(0), texts(1)[:200]
    head = fit_linear(joint, unit(joint), wanted_of(joint), 0)
    inside, everywhere = (error(head, fresh, wanted_of(fresh), is_far=far) for far in (False, True))
    assert inside < 0.12 < 0.2 < everywhere


def test_where_regions_say_nothing_new_they_change_little() -> None:
    joint, fresh = texts(2), texts(3)[:200]
    linear = 0.5 + 0.4 * joint[:, :1] - 0.2 * joint[:, 5:6]
    head = fit_linear(joint, unit(joint), linear, 0)
    apart = predicted(head, fresh) - predicted(head, fresh, is_far=True)
    assert float(np.abs(apart).max()) < 0.02


def test_surface_features_are_learnt_though_their_share_is_small() -> None:
    joint, fresh = texts(4), texts(5)[:200]
    head = fit_linear(joint, unit(joint), 0.5 + 2.0 * joint[:, -1:], 0)
    assert error(head, fresh, 0.5 + 2.0 * fresh[:, -1:]) < 0.03


def test_a_model_learns_from_the_rows_that_measured_it() -> None:
    joint = texts(6)
    scores = wanted_of(joint)
    scores[: ROWS // 2, 1] = np.nan
    both = fit_linear(joint, unit(joint), scores, 0)
    alone = fit_linear(joint[ROWS // 2 :], unit(joint)[ROWS // 2 :], scores[ROWS // 2 :], 0)
    whole = fit_linear(joint, unit(joint), scores[:, :1], 0)
    assert both.weights[:, 1] == pytest.approx(alone.weights[:, 1])
    assert both.weights[:, 0] == pytest.approx(whole.weights[:, 0])
    assert np.isfinite(both.weights).all()
