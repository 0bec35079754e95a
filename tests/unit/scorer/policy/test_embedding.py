"""What texts become: their tail, their surface, their vector."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.scorer.model.artifact import NO_PIECES
from services.scorer.policy.embedding import Spread, counted, meaning, spread_of, tail
from services.scorer.policy.heads import piece_weights
from services.scorer.policy.surface import COUNT, features
from tests.fakes import scorer_bundle as tiny


@pytest.mark.spec("SCO-5")
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("abcd", "abcd"),
        ("0123abcd", "abcd"),
        ("00éabc", "abc"),
        ("0éab", "éab"),
        ("a\ud800b", "a?b"),
    ],
)
def test_only_the_last_bytes_are_read_from_a_character_on(text: str, kept: str) -> None:
    assert tail(text, 4) == kept


@pytest.mark.spec("SCO-5")
@given(st.text(), st.integers(1, 40))
def test_a_tail_is_whole_characters_and_no_longer_than_allowed(text: str, most: int) -> None:
    cut = tail(text, most)
    assert text.endswith(cut)
    assert len(cut.encode()) <= most
    longer = text[len(text) - len(cut) - 1 :]
    assert cut == text or len(longer.encode()) > most


@given(st.text())
def test_every_text_has_finite_features(text: str) -> None:
    found = features(text)
    assert found.shape == (COUNT,)
    assert np.isfinite(found).all()


@given(st.text())
def test_a_text_has_one_vector_of_bounded_length(text: str) -> None:
    embedder = tiny.embedder()
    vector = embedder.embed(text)
    assert vector.joint.tolist() == embedder.embed(text).joint.tolist()
    assert np.linalg.norm(vector.joint[: tiny.WIDTH]) <= 1 + 1e-9
    assert np.linalg.norm(vector.joint[tiny.WIDTH :]) <= 2 + 1e-9
    assert 0.0 <= vector.unknown_share <= 1.0


@pytest.mark.spec("SCO-6")
def test_meaning_is_the_mean_of_known_pieces_at_unit_length() -> None:
    tables = tiny.tables()
    pieces, _ = counted({1: 1, 2: 2, 3: 1}, unknown_id=0)
    rows = tables.vectors[[1, 2, 3, 2]].astype(np.float64) * 0.01
    expected = rows.mean(axis=0) / np.linalg.norm(rows.mean(axis=0))
    assert meaning(tables, pieces) == pytest.approx(expected, abs=1e-3)
    assert meaning(tables, NO_PIECES).tolist() == [0.0] * tiny.WIDTH


@pytest.mark.parametrize(("feature", "share"), [(99.0, 4.0), (3.0, 1.0), (-99.0, -4.0)])
def test_surface_features_weigh_half_a_meaning_and_no_outlier_more_than_four_times_that(
    feature: float, share: float
) -> None:
    spread = Spread(np.full(COUNT, 1.0), np.full(COUNT, 2.0))
    found = spread_of(spread, np.full(COUNT, feature))
    assert np.linalg.norm(found) == pytest.approx(0.5 * abs(share))
    assert math.copysign(1.0, found[0]) == math.copysign(1.0, share)


def test_unknown_words_are_counted_and_left_out() -> None:
    vector = tiny.embedder().embed("prove zebra the quark")
    assert vector.unknown_share == 0.5
    assert vector.pieces.ids.tolist() == [1, 2]


def test_repeats_weigh_by_the_logarithm_of_their_count() -> None:
    pieces, unknown_share = counted({3: 2, 0: 1, 5: 1}, unknown_id=0)
    assert unknown_share == 0.25
    assert (pieces.ids.tolist(), pieces.counts.tolist()) == ([3, 5], [2.0, 1.0])
    values = piece_weights(pieces, np.ones(9, np.float16))
    assert values[0] / values[1] == pytest.approx(1 + np.log(2))
    assert np.linalg.norm(values) == pytest.approx(1.0)


@given(st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("aB1 \t=∑²²İ"))))
def test_kinds_of_characters_are_counted_alike_in_every_alphabet(text: str) -> None:
    kinds = (str.isupper, str.isdigit, str.isspace, "+-*/=<>^∑√∫≤≥≠×÷±∞π∈∀∃".__contains__)
    size = max(len(text), 1)
    assert features(text)[8:12].tolist() == [sum(map(kind, text)) / size for kind in kinds]


@given(st.lists(st.sampled_from(["if", "not", "If", "def", "neither", "straße", "x"]), min_size=1))
def test_a_word_counts_in_each_of_its_groups_as_often_as_it_comes(words: list[str]) -> None:
    shares = features(" ".join(words))[36:39].tolist()
    lowered = [word.lower() for word in words]
    groups = (("def",), ("not", "neither"), ("if",))
    assert shares == [sum(map(group.__contains__, lowered)) / len(words) for group in groups]
