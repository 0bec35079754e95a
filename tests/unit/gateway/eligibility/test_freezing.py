from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.eligibility import freeze
from gateway.eligibility.removals import model_removal_of, permits, removal_of
from gateway.model import GatewayAliases, Layer, PresentedIdentity, ProviderState, Snapshot
from services.domain.vocab import CredentialKind, WireFamily
from services.domain.wire.features import Requirement
from tests.unit.gateway.facts import catalog, features, policy, question, row

CATALOG = catalog(
    row("both", "p1", "p2"),
    row("first", "p1"),
    row("second", "p2", image_input=False),
    row("nobody", "p9"),
)


def test_only_providers_with_a_credential_serve() -> None:
    record = freeze(question("p1"), policy(), CATALOG)
    assert permits(record, "both", "p1")
    assert removal_of(record, "both", "p2") is Layer.NO_CREDENTIAL
    assert model_removal_of(record, "second") is Layer.NO_CREDENTIAL


def test_without_credentials_the_configured_providers_stand_in() -> None:
    record = freeze(question(snapshot=None), policy(configured_providers=("p2",)), CATALOG)
    assert permits(record, "both", "p2")
    assert not permits(record, "both", "p1")
    assert record.credentials_version == ""


@pytest.mark.spec("POL-8")
def test_operator_lists_remove_models_and_providers() -> None:
    limits = policy(excluded_models=frozenset({"first"}), excluded_providers=frozenset({"p2"}))
    record = freeze(question("p1", "p2"), limits, CATALOG)
    assert model_removal_of(record, "first") is Layer.OPERATOR
    assert removal_of(record, "both", "p2") is Layer.PROVIDER_EXCLUDED
    assert model_removal_of(record, "second") is Layer.PROVIDER_EXCLUDED
    assert permits(record, "both", "p1")


@pytest.mark.spec("POL-10")
def test_no_brought_credential_readmits_an_excluded_provider() -> None:
    identity = PresentedIdentity("a" * 32, CredentialKind.API_KEY, "p2")
    asked = question("p1", presented=(identity,))
    open_record = freeze(asked, policy(), CATALOG)
    assert permits(open_record, "second", "p2")
    closed = freeze(asked, policy(excluded_providers=frozenset({"p2"})), CATALOG)
    assert not permits(closed, "second", "p2")


def test_a_closed_provider_serves_nobody_who_brings_a_credential() -> None:
    limits = policy(closed_to_presented=frozenset({"p1"}))
    assert permits(freeze(question("p1"), limits, CATALOG), "first", "p1")
    brought = freeze(question("p1", "p2", is_credential_brought=True), limits, CATALOG)
    assert not permits(brought, "first", "p1")
    assert permits(brought, "both", "p2")


@pytest.mark.spec("POL-29", "DSP-211")
def test_gateway_mode_serves_what_is_aliased_and_ignores_provider_exclusions() -> None:
    snapshot = Snapshot(
        "v1",
        (ProviderState("p1"), ProviderState("p2")),
        is_gateway_exclusive=True,
        gateway_aliases=(GatewayAliases("p1", "abcd", {"both": "ours"}),),
    )
    asked = question(snapshot=snapshot)
    record = freeze(asked, policy(excluded_providers=frozenset({"p1"})), CATALOG)
    assert permits(record, "both", "p1")
    assert removal_of(record, "both", "p2") is Layer.GATEWAY_MODE
    assert model_removal_of(record, "first") is Layer.GATEWAY_MODE


def test_windows_that_are_too_small_are_a_safety_matter() -> None:
    models = catalog(
        row("small", "p1", window=100),
        row("able", "p1", window=100, extended_context=True),
        row("large", "p1", window=200),
    )
    record = freeze(question("p1", features=features(150)), policy(), models)
    assert model_removal_of(record, "small") is Layer.CONTEXT_WINDOW
    assert record.safety_excluded_models[0].model_id == "small"
    assert permits(record, "large", "p1")
    asked = question("p1", features=features(150), is_long_context_asked=True)
    record = freeze(asked, policy(), models)
    assert [permits(record, name, "p1") for name in ("small", "able", "large")] == [0, 1, 1]


def test_media_that_a_model_cannot_take_remove_it() -> None:
    asked = question("p1", "p2", features=features(requirements=(Requirement.IMAGES,)))
    record = freeze(asked, policy(), CATALOG)
    assert model_removal_of(record, "second") is Layer.REQUIREMENT_INCOMPATIBLE
    assert permits(record, "both", "p2")


@pytest.mark.spec("XLT-99", "XLT-215")
@pytest.mark.parametrize(
    "need", [Requirement.MULTI_CANDIDATE, Requirement.AUDIO, Requirement.VENDOR_FILE]
)
def test_what_a_dialect_cannot_express_removes_its_bindings(need: Requirement) -> None:
    limits = policy(families={"p1": WireFamily.ANTHROPIC, "p2": WireFamily.OPENAI_CHAT})
    asked = question(
        "p1", "p2", features=features(requirements=(need,)), family=WireFamily.OPENAI_CHAT
    )
    record = freeze(asked, limits, CATALOG)
    assert removal_of(record, "both", "p1") is Layer.REQUIREMENT_INCOMPATIBLE
    assert permits(record, "both", "p2")
    assert model_removal_of(record, "first") is Layer.REQUIREMENT_INCOMPATIBLE
    native = question(
        "p1", "p2", features=features(requirements=(need,)), family=WireFamily.ANTHROPIC
    )
    assert permits(freeze(native, limits, CATALOG), "both", "p1")


def test_a_refusing_endpoint_loses_the_binding_alone() -> None:
    snapshot = Snapshot("v", (ProviderState("p1"), ProviderState("p2")), refused=(("p1", "both"),))
    record = freeze(question(snapshot=snapshot), policy(), CATALOG)
    assert removal_of(record, "both", "p1") is Layer.ENDPOINT_REFUSED
    assert permits(record, "both", "p2")


@pytest.mark.spec("POL-37")
def test_equal_records_have_equal_ids_whenever_they_are_frozen() -> None:
    one = freeze(question("p1", "p2"), policy(), CATALOG)
    two = freeze(question("p1", "p2", now_unix_s=2_000.0), policy(), CATALOG)
    other = freeze(question("p1"), policy(), CATALOG)
    assert one.record_id == two.record_id
    assert len(one.record_id) == 32
    assert other.record_id != one.record_id
    assert two.create_unix_s == 2_000.0


models = st.sets(st.sampled_from(["both", "first", "second", "nobody"]))
providers = st.sets(st.sampled_from(["p1", "p2", "p9"]))
PAIRS = [("both", "p1"), ("both", "p2"), ("first", "p1"), ("second", "p2"), ("nobody", "p9")]


@pytest.mark.spec("POL-43")
@given(models, models, providers, providers)
def test_more_exclusions_never_admit_anything(
    some: set[str], more: set[str], keyed: set[str], excluded: set[str]
) -> None:
    asked = question(*sorted(keyed))
    base = policy(excluded_models=frozenset(some))
    wide = replace(
        base,
        excluded_models=frozenset(some | more),
        excluded_providers=frozenset(excluded),
    )
    before, after = freeze(asked, base, CATALOG), freeze(asked, wide, CATALOG)
    for model_id, provider in PAIRS:
        assert permits(before, model_id, provider) or not permits(after, model_id, provider)
        if permits(after, model_id, provider):
            assert provider in keyed - excluded
            assert model_id not in some | more


@pytest.mark.spec("POL-44")
@given(models, providers, providers)
def test_every_removed_model_names_one_layer(
    excluded: set[str], keyed: set[str], closed: set[str]
) -> None:
    limits = policy(excluded_models=frozenset(excluded), excluded_providers=frozenset(closed))
    record = freeze(question(*sorted(keyed)), limits, CATALOG)
    named = [
        item.model_id
        for items in (
            record.excluded_models,
            record.safety_excluded_models,
            record.requirement_excluded_models,
        )
        for item in items
    ]
    assert len(named) == len(set(named))
    for model in CATALOG.models.values():
        is_served = any(permits(record, model.id, each.provider) for each in model.bindings)
        assert is_served == (model.id not in named)


@pytest.mark.spec("DSP-95")
@pytest.mark.parametrize(
    ("kinds", "is_served"),
    [
        ((CredentialKind.CODEX_OAUTH,), False),
        ((CredentialKind.CODEX_OAUTH, CredentialKind.API_KEY), True),
        ((CredentialKind.API_KEY,), True),
        ((), True),
    ],
)
def test_a_codex_plan_alone_serves_what_it_covers_and_nothing_else(
    kinds: tuple[CredentialKind, ...], *, is_served: bool
) -> None:
    covered, other = row("covered", "p1"), row("other", "p1", "p2")
    bindings = covered["bindings"]
    assert isinstance(bindings, list)
    bindings[0]["codex_plan"] = True
    models = catalog(covered, other)
    states = (ProviderState("p1", kinds=kinds), ProviderState("p2"))
    record = freeze(question(snapshot=Snapshot("v1", states)), policy(), models)
    assert permits(record, "covered", "p1")
    assert permits(record, "other", "p2")
    assert permits(record, "other", "p1") is is_served
    alone = freeze(question(snapshot=Snapshot("v1", states[:1])), policy(), models)
    assert permits(alone, "other", "p1") is is_served
    expected = None if is_served else Layer.NO_CREDENTIAL
    assert model_removal_of(alone, "other") is expected
