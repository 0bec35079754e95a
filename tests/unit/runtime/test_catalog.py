"""The built-in catalog, and files that extend it."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.domain.catalog import PROVIDER_FAMILIES
from services.domain.vocab import ModelTier, WireFamily
from services.runtime.catalog import load_catalog
from services.runtime.config import ConfigError
from services.runtime.providers import BASE_URLS
from services.runtime.settings import CatalogSettings

VENDORS = ("anthropic", "openai")
"""Who sells a fast tier."""
OPEN_PROVIDERS = frozenset({"openrouter", "fireworks", "together"})

ACME = """
[[models]]
id = "acme-large"
tier = "high"
[[models.bindings]]
provider = "acme"
input_usd_per_mtok = 3.0
output_usd_per_mtok = 15.0
"""


@pytest.mark.spec("SCO-62")
def test_every_built_in_model_has_a_tier_prices_and_a_source(tmp_path: Path) -> None:
    catalog = load_catalog(CatalogSettings(), tmp_path)
    assert len(catalog.models) >= 60
    for model in catalog.models.values():
        assert model.tier != "unknown", model.id
        assert model.source, model.id
        assert model.as_of, model.id
        assert model.version, model.id
        assert model.max_output_tokens, model.id
        for binding in model.bindings:
            assert binding.provider in PROVIDER_FAMILIES, model.id
            price = binding.price
            assert 0 < price.input_usd_per_mtok <= price.output_usd_per_mtok, model.id
            assert (price.cache_read_multiplier or 0) <= 1, model.id
            if price.fast is not None:
                assert binding.provider in VENDORS, model.id
                assert price.fast.output_usd_per_mtok > price.output_usd_per_mtok, model.id
            if price.long_context is not None:
                long = price.long_context
                widest = 1_000_000 if model.facts.extended_context else model.context_window_tokens
                assert long.above_tokens < widest, model.id
                assert long.input_usd_per_mtok > price.input_usd_per_mtok, model.id
        assert len({binding.provider for binding in model.bindings}) == len(model.bindings)


def test_all_built_in_families_and_dialects_have_models_that_are_picked_by_themselves(
    tmp_path: Path,
) -> None:
    catalog = load_catalog(CatalogSettings(), tmp_path)
    automatic = [model for model in catalog.models.values() if model.is_automatic]
    dialects = {
        binding.dialect_at(PROVIDER_FAMILIES[binding.provider])
        for model in automatic
        for binding in model.bindings
    }
    assert dialects == set(WireFamily)
    assert {model.tier for model in automatic} == set(ModelTier) - {ModelTier.UNKNOWN}
    hosts = [{binding.provider for binding in model.bindings} for model in automatic]
    assert sum(len(names & OPEN_PROVIDERS) >= 2 for names in hosts) >= 6
    for model in automatic:
        assert catalog.latest(model.id) is model, model.id


@pytest.mark.spec("SCO-22", "XLT-106")
def test_only_newer_gemini_models_insist_on_signed_calls(tmp_path: Path) -> None:
    models = load_catalog(CatalogSettings(), tmp_path).models.values()
    gemini = [model for model in models if model.family.startswith("gemini")]
    assert len(gemini) >= 10
    for model in models:
        is_newer = model in gemini and model.version >= (3,)
        assert model.facts.signed_tool_history is is_newer, model.id
        assert model.facts.validated_calls is is_newer, model.id
        assert not is_newer or not model.facts.reasoning_budget, model.id


def test_fallbacks_of_built_in_models_are_never_themselves(tmp_path: Path) -> None:
    for model in load_catalog(CatalogSettings(), tmp_path).models.values():
        assert model.id not in model.fallbacks


@pytest.mark.spec("SCO-64")
def test_a_file_of_the_configuration_adds_models_and_changes_the_version(tmp_path: Path) -> None:
    (tmp_path / "acme.toml").write_text(ACME)
    plain = load_catalog(CatalogSettings(), tmp_path)
    extended = load_catalog(CatalogSettings(extend=("acme.toml",)), tmp_path)
    assert "acme-large" in extended.models
    assert "claude-haiku-4-5" in extended.models
    assert extended.version != plain.version


def test_a_bad_entry_is_named_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "acme.toml").write_text(ACME.replace("output_usd", "outptu_usd"))
    with pytest.raises(ConfigError, match=r"acme\.toml: model 'acme-large', .*unknown key"):
        load_catalog(CatalogSettings(extend=("acme.toml",)), tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot be read"):
        load_catalog(CatalogSettings(extend=("gone.toml",)), tmp_path)


def test_a_binding_at_a_provider_that_is_not_there_is_named_with_the_nearest(
    tmp_path: Path,
) -> None:
    (tmp_path / "acme.toml").write_text(ACME)
    extended = CatalogSettings(extend=("acme.toml",))
    assert "acme-large" in load_catalog(extended, tmp_path, providers=("acme", *BASE_URLS)).models
    complaint = r"acme\.toml: model 'acme-large', binding 0: no provider 'acme'; .*'acne'"
    with pytest.raises(ConfigError, match=complaint):
        load_catalog(extended, tmp_path, providers=("acne", *BASE_URLS))
