"""Which layer removed a model: the first of the first list that names it, however many lists."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway.eligibility import freeze
from gateway.eligibility.removals import MOST_KEPT, model_removal_of
from gateway.model import EligibilityRecord, Layer, ModelExclusion
from services.domain.copying import replace
from tests.unit.gateway.facts import catalog, policy, question, row

RECORD = freeze(question("p1"), policy(), catalog(row("large", "p1")))
NAMES = ("one", "two", "three")

exclusions = st.lists(
    st.builds(ModelExclusion, st.sampled_from(NAMES), st.sampled_from(Layer)), max_size=5
).map(tuple)


def first_of(record: EligibilityRecord, name: str) -> Layer | None:
    every = (
        *record.excluded_models,
        *record.safety_excluded_models,
        *record.requirement_excluded_models,
    )
    return next((each.layer for each in every if each.model_id == name), None)


@given(exclusions, exclusions, exclusions)
def test_the_first_layer_that_names_a_model_counts(
    own: tuple[ModelExclusion, ...],
    safety: tuple[ModelExclusion, ...],
    needs: tuple[ModelExclusion, ...],
) -> None:
    record = replace(
        RECORD,
        excluded_models=own,
        safety_excluded_models=safety,
        requirement_excluded_models=needs,
    )
    assert [model_removal_of(record, name) for name in NAMES] == [
        first_of(record, name) for name in NAMES
    ]


def test_more_lists_than_are_kept_are_told_apart() -> None:
    layers = (Layer.OPERATOR, Layer.NO_CREDENTIAL)
    records = [
        replace(RECORD, excluded_models=(ModelExclusion(f"m{at}", layers[at % 2]),))
        for at in range(MOST_KEPT + 10)
    ]
    for _ in range(2):
        found = [model_removal_of(record, f"m{at}") for at, record in enumerate(records)]
        assert found == [layers[at % 2] for at in range(len(records))]
        assert model_removal_of(records[0], "m1") is None
