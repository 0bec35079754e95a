"""What a model costs and how fast it is, as far as that is known of itself."""

from __future__ import annotations

import pytest

from services.scorer.model.artifact import Axes
from services.scorer.policy.costs import Scales, Size, scales
from services.scorer.policy.deployed import deploy
from tests.unit.scorer import worlds

MODELS = ("a", "b", "c")


def found(axes: dict[str, Axes], *entries: dict[str, object], verbosity: bool = False) -> Scales:
    made = worlds.artifact([[0.5, 0.5, 0.5]], MODELS, axes=axes, top_p=1)
    deployed = deploy(worlds.catalog(*entries), made).models
    return scales(deployed, made, Size(100, 100), 0.0, is_verbosity_per_model=verbosity)


@pytest.mark.spec("SCO-26")
def test_the_speed_of_a_lender_says_nothing_of_who_borrows() -> None:
    axes = {"a": Axes(0.5, 100.0), "b": Axes(9.0, 1.0)}
    lent = found(axes, worlds.entry("a"), worlds.entry("b"), worlds.entry("d", scored_as="a"))
    assert lent.latency.tolist() == [0.0, 1.0, 1.0]


@pytest.mark.spec("SCO-26")
def test_a_speed_of_0_is_none() -> None:
    axes = {"a": Axes(0.5, 100.0), "b": Axes(0.5, 50.0), "c": Axes(0.0, 0.0)}
    assert found(axes, *map(worlds.entry, MODELS)).latency.tolist() == [0.0, 1.0, 1.0]


@pytest.mark.spec("SCO-25")
def test_answers_of_no_length_scale_nothing() -> None:
    entries = [worlds.entry(model, price=(0.0, 1.0)) for model in MODELS]
    axes = {"a": Axes(verbosity_tokens=0.0), "b": Axes(verbosity_tokens=0.0)}
    assert found(axes, *entries, verbosity=True).cost.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.spec("SCO-27")
def test_a_models_place_among_costs_is_that_of_its_first_binding() -> None:
    dear = {"input_usd_per_mtok": 9.0, "output_usd_per_mtok": 9.0}
    entry = worlds.entry("a")
    bindings = entry["bindings"]
    assert isinstance(bindings, list)
    twice = {**entry, "bindings": [*bindings, {"provider": "other", **dear}]}
    priced = found({}, twice, worlds.entry("b", price=(3.0, 4.0)))
    assert priced.cost.tolist() == [0.0, 1.0]
