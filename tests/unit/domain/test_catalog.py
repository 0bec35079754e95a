"""Keys of the catalog that only scoring reads."""

from __future__ import annotations

import pytest

from services.domain.catalog import CatalogError, build_catalog


def entry(**keys: object) -> dict[str, object]:
    binding = {"provider": "acme", "input_usd_per_mtok": 1.0, "output_usd_per_mtok": 2.0}
    return {"models": [{"id": "m", "tier": "mid", "bindings": [binding], **keys}]}


def test_a_model_keeps_its_skill_and_the_model_it_is_scored_as() -> None:
    model = build_catalog([entry(skill=0.7, scored_as="gpt-4-1106")]).models["m"]
    assert (model.skill, model.scored_as) == (0.7, "gpt-4-1106")
    plain = build_catalog([entry()]).models["m"]
    assert (plain.skill, plain.scored_as) == (None, "")


@pytest.mark.parametrize(
    ("key", "value"),
    [("skill", 1.01), ("skill", -0.1), ("skill", True), ("skill", "high"), ("scored_as", "")],
)
def test_a_skill_out_of_range_and_an_empty_name_are_refused(key: str, value: object) -> None:
    with pytest.raises(CatalogError, match=f"model 'm': {key}"):
        build_catalog([entry(**{key: value})])
