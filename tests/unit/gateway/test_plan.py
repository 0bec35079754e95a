from __future__ import annotations

import pytest

from gateway.eligibility import freeze
from gateway.model import PresentedIdentity, ProviderState, Snapshot
from gateway.plan import planned_bindings, requested_model
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialKind, WireFamily
from services.domain.wire.features import Requirement
from tests.unit.gateway.facts import catalog, features, policy, question, row

CATALOG = catalog(row("large", "p1", "p2", "p3"), row("other", "p2"))
LARGE = CATALOG.models["large"]


@pytest.mark.spec("DSP-10")
def test_the_plan_follows_the_catalog_and_leaves_out_what_may_not_serve() -> None:
    limits = policy(excluded_providers=frozenset({"p2"}))
    record = freeze(question("p3", "p1", "p2"), limits, CATALOG)
    bindings = planned_bindings(LARGE, record)
    assert [(each.provider, each.index) for each in bindings] == [("p1", 0), ("p3", 2)]


@pytest.mark.spec("DSP-12", "DSP-13")
@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ("p3", ["p3", "p1", "p2"]),
        ("p1", ["p1", "p2", "p3"]),
        ("p9", ["p1", "p2", "p3"]),
        ("", ["p1", "p2", "p3"]),
    ],
)
def test_the_chosen_provider_leads_and_one_that_is_not_there_changes_nothing(
    first: str, expected: list[str]
) -> None:
    record = freeze(question("p1", "p2", "p3"), policy(), CATALOG)
    bindings = planned_bindings(LARGE, record, first=first)
    assert [each.provider for each in bindings] == expected


@pytest.mark.spec("DSP-13", "DSP-14")
def test_an_excluded_provider_is_not_put_back_by_being_chosen() -> None:
    limits = policy(excluded_providers=frozenset({"p2"}))
    record = freeze(question("p1", "p2"), limits, CATALOG)
    bindings = planned_bindings(LARGE, record, first="p2")
    assert [each.provider for each in bindings] == ["p1"]
    with pytest.raises(RouterError) as nothing:
        planned_bindings(CATALOG.models["other"], record, first="p2")
    assert nothing.value.reason is Reason.NO_ELIGIBLE_PROVIDER


@pytest.mark.spec("CRD-21", "DSP-11")
def test_a_credential_of_the_caller_or_tenant_makes_the_plan_one_binding() -> None:
    record = freeze(question("p1", "p2"), policy(), CATALOG)
    brought = PresentedIdentity("a" * 32, CredentialKind.API_KEY, "p2")
    own = planned_bindings(LARGE, record, presented=(brought,))
    assert [each.provider for each in own] == ["p2"]
    tenant = planned_bindings(LARGE, record, has_tenant_credentials=True)
    assert [each.provider for each in tenant] == ["p1"]


def test_a_brought_credential_of_another_provider_changes_nothing() -> None:
    record = freeze(question("p1", "p2"), policy(), CATALOG)
    brought = PresentedIdentity("a" * 32, CredentialKind.API_KEY, "p9")
    bindings = planned_bindings(LARGE, record, presented=(brought,))
    assert [each.provider for each in bindings] == ["p1", "p2"]


def test_a_named_model_is_found_by_exact_tagged_or_dated_name() -> None:
    for name in ("large", "LARGE", "large[1m]", "large-20260101", " large "):
        assert requested_model(CATALOG, name, "").id == "large"
    assert requested_model(CATALOG, "large", "other").id == "other"


@pytest.mark.spec("POL-35")
def test_an_unknown_name_says_what_is_near() -> None:
    with pytest.raises(RouterError, match="large") as requested:
        requested_model(CATALOG, "larg", "")
    assert requested.value.reason is Reason.MODEL_NOT_FOUND
    with pytest.raises(RouterError) as forced:
        requested_model(CATALOG, "large", "x" * 5000)
    assert forced.value.reason is Reason.FORCED_MODEL_UNKNOWN
    assert len(forced.value.message) < 300


@pytest.mark.spec("DSP-160", "DSP-20", "POL-40")
@pytest.mark.parametrize(
    ("asked", "limits", "reason", "fix"),
    [
        (question("p9"), policy(), Reason.NO_ELIGIBLE_PROVIDER, "[providers.p1]"),
        (
            question("p1", features=features(5000)),
            policy(),
            Reason.CONTEXT_WINDOW_EXCEEDED,
            "shorten",
        ),
        (
            question("p1"),
            policy(excluded_models=frozenset({"large"})),
            Reason.NO_ELIGIBLE_PROVIDER,
            "excluded_models",
        ),
        (
            question("p1", forced_model="large"),
            policy(excluded_models=frozenset({"large"})),
            Reason.FORCED_MODEL_EXCLUDED,
            "excluded_models",
        ),
        (
            question("p1", "p2"),
            policy(excluded_providers=frozenset({"p1", "p2"})),
            Reason.NO_ELIGIBLE_PROVIDER,
            "excluded_providers",
        ),
        (
            question(
                snapshot=Snapshot("v", (ProviderState("p1"),), refused=(("p1", "large"),)),
            ),
            policy(),
            Reason.NO_ELIGIBLE_PROVIDER,
            "correct the alias",
        ),
    ],
)
def test_a_model_that_nothing_serves_names_layer_and_fix(
    asked: object, limits: object, reason: Reason, fix: str
) -> None:
    record = freeze(asked, limits, CATALOG)  # type: ignore[arg-type]  # values of parametrize
    with pytest.raises(RouterError) as caught:
        planned_bindings(LARGE, record)
    assert caught.value.reason is reason
    assert fix in caught.value.message


@pytest.mark.spec("XLT-99")
def test_more_answers_than_any_target_gives_are_a_400_that_names_n() -> None:
    needs = (Requirement.MULTI_CANDIDATE,)
    asked = question("p1", features=features(requirements=needs), family=WireFamily.OPENAI_CHAT)
    record = freeze(asked, policy(families={"p1": WireFamily.ANTHROPIC}), CATALOG)
    with pytest.raises(RouterError) as caught:
        planned_bindings(LARGE, record, needs=needs)
    assert caught.value.reason is Reason.TRANSLATION_INTRINSICALLY_INCOMPATIBLE
    assert caught.value.metadata["field"] == "n"


@pytest.mark.spec("XLT-78")
def test_state_that_another_api_stores_is_a_400_that_names_its_member() -> None:
    needs = (Requirement.NATIVE_ONLY, Requirement.VENDOR_FILE)
    asked = question(
        "p1", features=features(requirements=needs), family=WireFamily.OPENAI_RESPONSES
    )
    record = freeze(asked, policy(families={"p1": WireFamily.OPENAI_CHAT}), CATALOG)
    with pytest.raises(RouterError) as caught:
        planned_bindings(LARGE, record, needs=needs, stored="previous_response_id")
    assert caught.value.reason is Reason.TRANSLATION_INTRINSICALLY_INCOMPATIBLE
    assert caught.value.metadata["field"] == "previous_response_id"
    assert "previous_response_id" in caught.value.message
    own = freeze(asked, policy(families={"p1": WireFamily.OPENAI_RESPONSES}), CATALOG)
    assert planned_bindings(LARGE, own, needs=needs, stored="previous_response_id")
    chat, more = {"p1": WireFamily.OPENAI_CHAT}, {"p1": (WireFamily.OPENAI_RESPONSES,)}
    both = freeze(asked, policy(families=chat, more_families=more), CATALOG)
    assert planned_bindings(LARGE, both, needs=needs, stored="previous_response_id")


def test_media_that_no_binding_takes_is_a_400_of_its_own() -> None:
    models = catalog(row("blind", "p1", image_input=False))
    asked = question("p1", features=features(requirements=(Requirement.IMAGES,)))
    record = freeze(asked, policy(), models)
    with pytest.raises(RouterError) as caught:
        planned_bindings(models.models["blind"], record)
    assert caught.value.reason is Reason.TRANSLATION_INTRINSICALLY_INCOMPATIBLE
