"""Knobs in force: precedence, mapping, floors, hashes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.errors import InvalidRequestError, Reason
from services.scorer.model.artifact import ArtifactKnobs
from services.scorer.model.question import Knobs
from services.scorer.policy.knobs import (
    dial_factor,
    effective,
    interpolated,
    is_extreme,
    knobs_hash,
)
from tests.unit.scorer import worlds

POINTS = (0.0, 0.2, 0.45, 0.9, 1.0)
PLAIN = worlds.artifact(
    [[0.5], [0.6]], ("x",), knobs=ArtifactKnobs((0.8, 0.4), (0.0, 0.5), speed_weight=0.1)
)
RISKY = worlds.artifact([[0.5], [0.6]], ("x",), curve=worlds.curve(1))
shares = st.floats(0, 1)


@pytest.mark.spec("SCO-34")
@pytest.mark.parametrize(("dial", "alpha"), [(0.1, 0.08), (0.25, 0.2), (0.5, 0.45), (0.6, 0.63)])
def test_the_dial_is_linear_between_breakpoints(dial: float, alpha: float) -> None:
    assert interpolated(POINTS, dial) == pytest.approx(alpha)
    assert interpolated((), dial) == dial


@given(shares, shares)
def test_the_dial_never_turns_back(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert interpolated(POINTS, low) <= interpolated(POINTS, high) + 1e-12
    assert dial_factor(low) <= dial_factor(high)


@pytest.mark.spec("SCO-34", "SCO-35")
def test_the_dial_beats_alpha_and_is_floored_while_a_raw_alpha_is_not() -> None:
    both = effective(Knobs(alpha=0.9, quality_bias=0.25, speed_weight=0), PLAIN, POINTS, 0.1)
    assert both.alpha == (0.2, 0.5)
    raw = effective(Knobs(alpha=0.3), PLAIN, POINTS, 0.1)
    assert raw.alpha == (0.3, 0.3)
    assert effective(Knobs(), PLAIN, POINTS, 0.1).alpha == (0.8, 0.4)


@pytest.mark.spec("SCO-34", "SCO-35")
def test_the_dial_leaves_an_artifacts_own_weight_of_speed_its_room() -> None:
    assert effective(Knobs(quality_bias=1), PLAIN, POINTS, 0.1).alpha == (0.9, 0.9)
    floored = worlds.artifact(
        [[0.5]], ("x",), knobs=ArtifactKnobs((0.4,), (1.0,), speed_weight=0.6)
    )
    assert effective(Knobs(quality_bias=0), floored, (), 0.1).alpha == (0.4,)
    with pytest.raises(InvalidRequestError):
        effective(Knobs(quality_bias=1, speed_weight=0.1), PLAIN, POINTS, 0.1)


def test_alpha_and_speed_are_at_most_1_together() -> None:
    effective(Knobs(alpha=0.9, speed_weight=0.1 + 1e-10), PLAIN, POINTS, 0.1)
    with pytest.raises(InvalidRequestError) as caught:
        effective(Knobs(speed_weight=0.3), PLAIN, POINTS, 0.1)
    assert caught.value.reason is Reason.INVALID_ROUTING_KNOBS


@pytest.mark.spec("SCO-37")
def test_equal_knobs_have_equal_hashes() -> None:
    default = effective(Knobs(), PLAIN, POINTS, 0.1)
    spelled = effective(Knobs(speed_weight=0.1, expected_output_tokens=2_000), PLAIN, POINTS, 0.7)
    assert default == spelled
    assert len(default.hash) == 16
    assert default.hash != effective(Knobs(alpha=0.5), PLAIN, POINTS, 0.1).hash
    assert default.hash != effective(Knobs(is_verbosity_per_model=True), PLAIN, POINTS, 0.1).hash
    hashes = [
        knobs_hash.__wrapped__((zero,), zero, zero, 0, False, zero) for zero in (0.0, -0.0, 0)
    ]
    assert len(set(hashes)) == 1


@pytest.mark.spec("SCO-36")
@pytest.mark.parametrize(
    ("asked", "is_told"),
    [
        (Knobs(), False),
        (Knobs(output_cost_ratio=10), False),
        (Knobs(alpha=0.9, speed_weight=0.0), False),
        (Knobs(alpha=0.91, speed_weight=0.0), True),
        (Knobs(alpha=0.85, speed_weight=0.1), False),
        (Knobs(alpha=0.85, speed_weight=0.11), True),
        (Knobs(quality_bias=0.95, speed_weight=0.0), True),
    ],
)
def test_only_extremes_that_a_caller_asks_for_are_told(asked: Knobs, is_told: bool) -> None:
    loud = worlds.artifact([[0.5]], ("x",), knobs=ArtifactKnobs((0.95,), (0.0,)), top_p=1)
    assert not is_extreme(Knobs(), effective(Knobs(), loud, POINTS, 0.1))
    assert is_extreme(asked, effective(asked, PLAIN, POINTS, 0.1)) is is_told


@pytest.mark.spec("SCO-36")
@pytest.mark.parametrize(("bias", "is_told"), [(None, False), (0.9, False), (0.91, True)])
def test_where_risk_has_a_price_only_the_dial_is_extreme(bias: float | None, is_told: bool) -> None:
    asked = Knobs(alpha=1.0, quality_bias=bias)
    assert is_extreme(asked, effective(asked, RISKY, (), 0.1)) is is_told


def test_where_risk_has_a_price_the_dial_scales_it() -> None:
    assert effective(Knobs(), RISKY, (), 0.1).risk_price_usd == 0.1
    assert effective(Knobs(risk_price_usd=0.5), RISKY, (), 0.1).risk_price_usd == 0.5
    middle = effective(Knobs(quality_bias=0.5), RISKY, (), 0.1)
    assert middle.risk_price_usd == pytest.approx(0.1)
    assert middle.alpha == ()
    assert effective(Knobs(quality_bias=0), RISKY, (), 0.1).risk_price_usd == 0
    assert effective(Knobs(quality_bias=1), RISKY, (), 0.1).risk_price_usd == pytest.approx(1e5)
