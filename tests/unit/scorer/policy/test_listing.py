"""Deployed models, listed by name or speed with the binding that would serve each."""

from __future__ import annotations

import pytest

from services.scorer.model.artifact import Axes
from services.scorer.model.question import CandidateOrder, Eligibility, Features, Layer
from services.scorer.policy.deployed import deploy
from services.scorer.policy.listing import Listed, listed
from tests.unit.scorer import worlds

CATALOG = worlds.catalog(
    worlds.entry("a", price=(3.0, 9.0), providers=("p1", "p2")),
    worlds.entry("b", price=(2.0, 9.0)),
    worlds.entry("c", price=(1.0, 9.0), scored_as="a"),
)


def rows(
    order: CandidateOrder,
    axes: dict[str, Axes] | None = None,
    eligibility: Eligibility | None = None,
) -> tuple[Listed, ...]:
    made = worlds.artifact([[0.5, 0.5]], ("a", "b"), axes=axes, top_p=1)
    deployment = deploy(CATALOG, made)
    asked = eligibility or Eligibility()
    found = listed(made, deployment, Features(), asked, order, is_eligible_only=False)
    assert isinstance(found, tuple)
    return found


def names(found: tuple[Listed, ...]) -> list[str]:
    return [row.deployed.model.id for row in found]


@pytest.mark.spec("SCO-39")
def test_the_fastest_come_first_and_those_without_a_figure_last() -> None:
    axes = {"a": Axes(tokens_per_s=5.0), "b": Axes(tokens_per_s=50.0)}
    assert names(rows(CandidateOrder.SPEED, axes)) == ["b", "a", "c"]
    assert names(rows(CandidateOrder.MODEL, axes)) == ["a", "b", "c"]


@pytest.mark.spec("SCO-39")
def test_without_any_figure_the_cheapest_come_first() -> None:
    assert names(rows(CandidateOrder.SPEED)) == ["c", "b", "a"]


def test_a_row_has_the_binding_that_would_serve() -> None:
    blocked = Eligibility(excluded_bindings={("a", "p1"): Layer.CONTEXT_WINDOW})
    assert [row.binding.provider for row in rows(CandidateOrder.MODEL)] == ["p1", "acme", "acme"]
    first, *_ = rows(CandidateOrder.MODEL, eligibility=blocked)
    assert (first.binding.provider, first.dropped) == ("p2", None)
    gone = Eligibility(excluded_models={"a": Layer.OPERATOR})
    first, *_ = rows(CandidateOrder.MODEL, eligibility=gone)
    assert first.binding.provider == "p1"
    assert first.dropped is not None
