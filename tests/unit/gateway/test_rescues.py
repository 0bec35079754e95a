from __future__ import annotations

from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.codec.requests import dispatch_request
from gateway.deciding.pinned import Moment
from gateway.eligibility import freeze
from gateway.eligibility.removals import permits
from gateway.ground import Ground
from gateway.model import (
    BindingRef,
    DecisionPath,
    EligibilityAnswer,
    EligibilityRecord,
    PresentedIdentity,
    ProviderState,
    RescueCause,
    Snapshot,
)
from gateway.model.action import Presented
from gateway.model.decision import Candidate, Decision, Score
from gateway.rescues import RescueRules, off_vendor, with_rescues
from gateway.sessions.model import Choice, Session, Strike, Strikes
from gateway.settings import RoutingSettings
from services.domain.catalog import build_catalog
from services.domain.vocab import CredentialKind, WireFamily
from tests.fakes.deciding import binding_of
from tests.unit.gateway.deciding.made import action, record, row
from tests.unit.gateway.facts import policy, question
from tests.unit.gateway.sessions.made import EMPTY, NOW, choice, pinned, use

CATALOG = build_catalog(
    [
        {
            "models": [
                row("big", "top", 5.0, "anthropic"),
                {**row("oss", "mid", 1.0, "acme", "p1"), "fallbacks": ["small"]},
                {**row("wide", "mid", 2.0, "p1"), "context_window": 900_000},
                row("small", "low", 0.1, "p2"),
                row("gpt", "high", 3.0, "openai"),
                row("bare", "low", 0.2, "p3"),
            ]
        }
    ]
)
PROVIDERS = ("anthropic", "acme", "p1", "p2", "openai")
RULES = RescueRules(cyber_model="big")
SIBLING, BASELINE = RescueCause.SIBLING, RescueCause.BASELINE
CYBER, WIDER = RescueCause.CYBER_REFUSAL, RescueCause.LARGER_WINDOW
POOL = ("oss", "gpt", "wide", "small", "bare")


def decided(
    model: str,
    *pool: str,
    found: EligibilityRecord | None = None,
    named: str = "big",
    known: Session = EMPTY,
    rules: RescueRules = RULES,
    path: DecisionPath = DecisionPath.SCORED,
    forced: bool = False,
    answer: EligibilityAnswer | None = None,
    pair: str = "",
) -> Decision:
    """Return a decision for `model` with what may rescue it; `pool` is what was scored."""
    found = found or record(*PROVIDERS, catalog=CATALOG)
    body = {"model": named, "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
    asked = action(orjson.dumps(body))
    if forced:
        asked = replace(asked, caller=replace(asked.caller, forced_model=model))
    ground = Ground(asked, answer or EligibilityAnswer(None), found)
    decision = ground.decision(CATALOG.models[model], path, "reason")
    if pool:
        rows = (Candidate(binding_of(CATALOG, n), CATALOG.models[n].tier, 1.0) for n in pool)
        decision = replace(decision, score=Score(tuple(rows), "reason"))
    if pair:
        provider = decision.plan.bindings[0].provider
        decision = replace(decision, pin=choice(model, provider, paired_model_id=pair))
    moment = Moment(CATALOG, found, "cluster", NOW)
    return with_rescues(decision, ground, known, moment, rules)


def targets(decision: Decision, cause: RescueCause) -> list[str]:
    return [row.bindings[0].model_id for row in decision.plan.rescues if row.cause is cause]


@pytest.mark.spec("DSP-111")
def test_siblings_are_the_scored_pool_without_what_failed_and_what_may_not_serve() -> None:
    decision = decided("oss", *POOL)
    assert targets(decision, SIBLING) == ["gpt", "wide", "small"]
    others = [row.is_other_provider for row in decision.plan.rescues if row.cause is SIBLING]
    assert others == [True, False, True]


@given(
    st.permutations(POOL),
    st.sets(st.sampled_from(POOL)),
    st.sets(st.sampled_from(PROVIDERS), min_size=1),
)
def test_no_target_escapes_the_eligibility_record(
    pool: list[str], excluded: set[str], providers: set[str]
) -> None:
    if not providers & {"acme", "p1"} or "oss" in excluded:
        return
    found = record(*sorted(providers), catalog=CATALOG, excluded_models=frozenset(excluded))
    decision = decided("oss", *pool, found=found, pair="small")
    for rescue in decision.plan.rescues:
        for binding in rescue.bindings:
            assert permits(found, binding.model_id, binding.provider)


@pytest.mark.spec("DSP-254")
def test_struck_models_are_never_offered_and_cooling_ones_say_until_when() -> None:
    strikes = Strikes(
        models=(Strike("gpt", "failed"), Strike("wide", "rate_limited", NOW + 9), Strike("x", "y"))
    )
    decision = decided("oss", *POOL, known=replace(EMPTY, strikes=strikes))
    ends = {
        row.bindings[0].model_id: row.cooldown_end_unix_s
        for row in decision.plan.rescues
        if row.cause is SIBLING
    }
    assert ends == {"wide": NOW + 9, "small": None}


@pytest.mark.spec("DSP-111")
def test_models_that_cannot_stand_in_take_no_place_from_those_that_can() -> None:
    strikes = Strikes(models=tuple(Strike(name, "failed") for name in ("big", "gpt", "wide")))
    decision = decided(
        "oss", "big", "gpt", "wide", "bare", "small", known=replace(EMPTY, strikes=strikes)
    )
    assert targets(decision, SIBLING) == ["small"]


def test_no_more_models_stand_in_than_are_worth_a_try() -> None:
    everywhere = record(*PROVIDERS, "p3", catalog=CATALOG)
    decision = decided("bare", "oss", "gpt", "wide", "small", "big", found=everywhere)
    assert targets(decision, SIBLING) == ["oss", "gpt", "wide", "small"]


@pytest.mark.spec("DSP-256")
def test_a_provider_that_overloads_disabled_is_tried_last() -> None:
    strikes = Strikes(disabled_providers=("acme",))
    decision = decided("oss", known=replace(EMPTY, strikes=strikes))
    assert [row.provider for row in decision.plan.bindings] == ["p1", "acme"]


def test_where_nothing_was_scored_the_operators_fallbacks_stand_in() -> None:
    for path, forced in ((DecisionPath.REQUESTED, False), (DecisionPath.FORCED, True)):
        decision = decided("oss", named="oss", path=path, forced=forced)
        assert targets(decision, SIBLING) == ["small"]
    assert not targets(decided("wide", named="wide", path=DecisionPath.REQUESTED), SIBLING)


def test_a_session_without_a_score_falls_back_on_what_it_knows() -> None:
    known = pinned(made=Choice("wide", "p1", "cluster", paired_model_id="small"))
    known = replace(known, uses=(use("gpt", "openai"),))
    decision = decided("wide", known=known, path=DecisionPath.STICKY)
    assert targets(decision, SIBLING) == ["small", "gpt"]
    cheapest = decided("small", path=DecisionPath.HARD_PIN)
    assert targets(cheapest, SIBLING) == ["oss", "wide", "gpt", "big"]


@pytest.mark.spec("DSP-70")
def test_the_baseline_is_the_named_model_at_its_own_vendor() -> None:
    assert targets(decided("oss", *POOL), BASELINE) == ["big"]
    assert not targets(decided("oss", *POOL, named="oss"), BASELINE)
    assert not targets(decided("wide", *POOL, named="oss", forced=True), BASELINE)
    default = replace(RULES, baseline_model="gpt")
    assert targets(decided("oss", named="nobody-knows", rules=default), BASELINE) == ["gpt"]
    assert not targets(decided("oss", named="nobody-knows"), BASELINE)


@pytest.mark.spec("DSP-104")
def test_a_cyber_refusal_goes_to_the_runner_up_of_another_vendor_then_to_the_setting() -> None:
    decision = decided("gpt", *POOL, pair="small")
    assert targets(decision, CYBER) == ["small", "big"]
    assert decision.plan.is_cyber_retry_enabled
    assert off_vendor(decision) == BindingRef("small", "p2", "small", 0, 200_000)
    assert targets(decided("gpt", *POOL, pair="gpt"), CYBER) == ["big"]
    assert not targets(decided("oss", *POOL, pair="small"), CYBER)
    assert not targets(decided("gpt", *POOL, rules=replace(RULES, is_cyber_on=False)), CYBER)
    assert not targets(decided("gpt", path=DecisionPath.HARD_PIN), CYBER)
    assert not targets(decided("gpt", path=DecisionPath.FORCED, forced=True), CYBER)


def test_only_larger_windows_are_offered_as_such() -> None:
    assert targets(decided("oss", *POOL), WIDER) == ["wide"]
    assert not targets(decided("wide", *POOL), WIDER)


@pytest.mark.spec("DSP-112")
def test_another_purse_is_never_used_for_who_pays_himself() -> None:
    snapshot = Snapshot(
        "v", tuple(ProviderState(name) for name in PROVIDERS), has_tenant_credentials=True
    )
    assert not decided("oss", *POOL, answer=EligibilityAnswer(snapshot)).plan.rescues


@pytest.mark.spec("DSP-80", "DSP-92")
@pytest.mark.parametrize(
    ("kinds", "owners", "expected"),
    [
        ((CredentialKind.API_KEY,), ("operator",), [RescueCause.CLAUDE_PLAN]),
        ((CredentialKind.CLAUDE_OAUTH,), ("operator",), []),
        ((CredentialKind.API_KEY,), ("caller",), []),
    ],
)
def test_a_callers_plan_is_rescued_by_a_paid_key_of_somebody_else(
    kinds: tuple[CredentialKind, ...], owners: tuple[str, ...], expected: list[RescueCause]
) -> None:
    identity = PresentedIdentity("h", CredentialKind.CLAUDE_OAUTH, "anthropic")
    snapshot = Snapshot("v", (ProviderState("anthropic", owners=owners, kinds=kinds),))
    asked = question(snapshot=snapshot, presented=(identity,), is_credential_brought=True)
    found = freeze(asked, policy(), CATALOG)
    answer = EligibilityAnswer(snapshot, ((Presented("token", WireFamily.ANTHROPIC), identity),))
    decision = decided("big", *POOL, found=found, answer=answer)
    assert [row.cause for row in decision.plan.rescues] == expected


def test_rescues_can_be_switched_off() -> None:
    off = RescueRules(is_sibling_on=False, is_cyber_on=False)
    causes = {row.cause for row in decided("gpt", *POOL, named="gpt", rules=off).plan.rescues}
    assert causes == {WIDER}


@pytest.mark.spec("DSP-251", "DSP-252")
@pytest.mark.parametrize("is_on", [True, False])
def test_what_is_held_against_models_is_a_setting_that_goes_with_the_plan(is_on: bool) -> None:
    settings = RoutingSettings(transient_failure=is_on, overload_strikes=is_on)
    plan = decided("oss", *POOL, rules=settings.rescue_rules).plan
    assert (plan.is_transient_cooling_enabled, plan.is_overload_struck) == (is_on, is_on)
    body = {"model": "oss", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
    found = record(*PROVIDERS, catalog=CATALOG)
    order = dispatch_request(action(orjson.dumps(body)), found, plan, None, "v")
    flags = order.plan.flags
    assert (flags.is_transient_cooling_enabled, flags.is_overload_struck) == (is_on, is_on)
