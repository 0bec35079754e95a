"""How strictly the needs of a request count."""

from __future__ import annotations

import pytest

from gateway.eligibility import Policy, Question, freeze
from gateway.eligibility.removals import model_removal_of, permits
from gateway.model import Layer
from services.domain.catalog import Catalog, build_catalog
from services.domain.vocab import WireFamily
from services.domain.wire.features import Requirement
from services.domain.wire.requirements import RequirementMode
from tests.unit.gateway import facts

PRICES = {"input_usd_per_mtok": 1.0, "output_usd_per_mtok": 1.0}
FAMILIES = {
    "own": WireFamily.ANTHROPIC,
    "other": WireFamily.OPENAI_CHAT,
    "third": WireFamily.OPENAI_RESPONSES,
}
OFF, SHADOW, ENFORCE = RequirementMode.OFF, RequirementMode.SHADOW, RequirementMode.ENFORCE
NEED = Requirement


def world(**providers: dict[str, object]) -> Catalog:
    """Return a catalog of one model per provider, named after it."""
    rows = [
        {"id": name, "bindings": [{"provider": name, **PRICES}], **keys}
        for name, keys in providers.items()
    ]
    return build_catalog([{"models": rows}])


CATALOG = world(own={}, other={})


def asked(
    *needs: Requirement, providers: tuple[str, ...] = ("own", "other"), **more: object
) -> Question:
    """Return a Messages question with those needs."""
    return facts.question(
        *providers,
        features=facts.features(requirements=needs),
        family=WireFamily.ANTHROPIC,
        **more,
    )


def house(mode: RequirementMode, **more: object) -> Policy:
    """Return a policy that counts needs as ``mode`` says."""
    return facts.policy(requirements=mode, families=FAMILIES, **more)


def left(question: Question, policy: Policy, catalog: Catalog = CATALOG) -> set[str]:
    """Return the models that may serve."""
    record = freeze(question, policy, catalog)
    return {name for name in catalog.models if permits(record, name, name)}


@pytest.mark.spec("XLT-219")
@pytest.mark.parametrize("need", [NEED.NATIVE_ONLY, NEED.VIDEO, NEED.AUDIO, NEED.VENDOR_FILE])
def test_what_would_be_lost_counts_unless_all_is_off(need: Requirement) -> None:
    catalog = world(own={}, other={"audio_input": False})
    assert left(asked(need), house(SHADOW), catalog) == {"own"}
    assert left(asked(need), house(ENFORCE), catalog) == {"own"}
    assert left(asked(need), house(OFF), catalog) == {"own", "other"}


@pytest.mark.spec("XLT-217", "XLT-219", "XLT-83")
@pytest.mark.parametrize("need", [NEED.SERVER_TOOLS, NEED.MANY_TOOLS, NEED.CITATIONS])
def test_what_is_met_by_halves_counts_where_it_is_enforced(need: Requirement) -> None:
    assert left(asked(need), house(SHADOW)) == {"own", "other"}
    assert left(asked(need), house(ENFORCE)) == {"own"}


@pytest.mark.spec("XLT-85", "XLT-83")
@pytest.mark.parametrize("need", [NEED.SERVER_TOOLS, NEED.MANY_TOOLS])
def test_tools_are_let_go_where_nothing_native_may_serve(need: Requirement) -> None:
    alone = asked(need, providers=("other",))
    assert left(alone, house(ENFORCE)) == {"other"}
    forced = asked(need, forced_model="other")
    assert left(forced, house(ENFORCE)) == {"own", "other"}
    named = asked(need)
    object.__setattr__(named.features, "requested_model", "other")
    assert left(named, house(ENFORCE, is_name_binding=True)) == {"own", "other"}
    assert left(named, house(ENFORCE)) == {"own"}


@pytest.mark.spec("XLT-218", "XLT-219")
def test_other_needs_are_never_let_go() -> None:
    weak = world(other={"structured_output": False}, own={"structured_output": False})
    assert left(asked(NEED.STRUCTURED_OUTPUT), house(ENFORCE), weak) == set()
    assert left(asked(NEED.STRUCTURED_OUTPUT), house(SHADOW), weak) == {"own", "other"}
    both = asked(NEED.SERVER_TOOLS, NEED.STRUCTURED_OUTPUT, providers=("other",))
    assert left(both, house(ENFORCE), weak) == set()


@pytest.mark.spec("XLT-219")
def test_a_model_that_could_but_is_not_configured_is_told_apart() -> None:
    question = asked(NEED.CITATIONS, providers=("other",))
    record = freeze(question, house(ENFORCE), CATALOG)
    assert model_removal_of(record, "own") is Layer.REQUIREMENT_UNAVAILABLE
    assert model_removal_of(record, "other") is Layer.REQUIREMENT_INCOMPATIBLE
    nobody = freeze(question, house(ENFORCE), world(other={}, third={}))
    assert model_removal_of(nobody, "third") is Layer.NO_CREDENTIAL


@pytest.mark.spec("XLT-216")
@pytest.mark.parametrize("mode", RequirementMode)
def test_reasoning_state_never_removes_a_model(mode: RequirementMode) -> None:
    assert left(asked(NEED.REASONING_STATE), house(mode)) == {"own", "other"}
