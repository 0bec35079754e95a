"""What selection asks of the catalog in force, also of one that took over."""

from __future__ import annotations

import pytest

from services.credentials.build.models import beyond_codex_in, family_in
from services.domain.catalog import Catalog, build_catalog
from services.runtime.reloading import Current


def catalog(*, is_covered: bool) -> Catalog:
    price = {"input_usd_per_mtok": 1.0, "output_usd_per_mtok": 1.0}
    bindings = [
        {"provider": "openai", "codex_plan": is_covered, **price},
        {"provider": "openrouter", **price},
    ]
    model = {"id": "m", "family": "f", "bindings": bindings}
    return build_catalog([{"models": [model]}])


@pytest.mark.spec("CRD-113")
def test_what_plans_cover_is_what_the_catalog_in_force_says() -> None:
    current = Current(catalog(is_covered=False))
    is_beyond = beyond_codex_in(current)
    assert is_beyond("m")
    assert not is_beyond("unknown")
    current.catalog = catalog(is_covered=True)
    assert not is_beyond("m")


def test_a_model_without_a_family_is_one_of_its_own() -> None:
    family_of = family_in(Current(catalog(is_covered=True)))
    assert (family_of("m"), family_of("unknown")) == ("f", "unknown")
