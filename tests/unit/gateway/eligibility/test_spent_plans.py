"""Plans that were seen to have nothing left are not asked while another key may pay."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.codec.eligibility import eligibility_record
from gateway.eligibility import freeze
from gateway.eligibility.spent_plans import has_paying_key, without_spent_plans
from gateway.model import EligibilityAnswer, Presented, PresentedIdentity, ProviderState, Snapshot
from gateway.sessions.model import Issued
from services.domain.vocab import CredentialKind, WireFamily
from tests.unit.gateway.facts import catalog, policy, question, row

CODEX, CLAUDE = CredentialKind.CODEX_OAUTH, CredentialKind.CLAUDE_OAUTH
KEY, GATEWAY = CredentialKind.API_KEY, CredentialKind.GATEWAY
BROUGHT = Presented("token", WireFamily.OPENAI_RESPONSES)
PLAN = PresentedIdentity("h1", CODEX, "openai", is_exhausted=True)


def known(*states: ProviderState, plans: tuple[PresentedIdentity, ...]) -> EligibilityAnswer:
    return EligibilityAnswer(Snapshot("v1", states), tuple((BROUGHT, plan) for plan in plans))


PAID = ProviderState("openai", owners=("operator",), kinds=(KEY,))


@pytest.mark.spec("DSP-83", "DSP-93")
def test_a_spent_plan_is_left_out_and_named_where_a_key_may_pay() -> None:
    answer = without_spent_plans(known(PAID, plans=(PLAN,)), None)
    assert answer.identities == ()
    assert answer.suppressed_plans == (CODEX,)


@pytest.mark.spec("DSP-83")
@pytest.mark.parametrize(
    "state",
    [
        ProviderState("openai"),
        ProviderState("openai", owners=("caller",), kinds=(KEY,)),
        ProviderState("openai", owners=("operator",), kinds=(CODEX,)),
        ProviderState("anthropic", owners=("operator",), kinds=(KEY,)),
    ],
    ids=["none", "the-callers", "a-plan", "elsewhere"],
)
def test_it_is_kept_where_nothing_else_may_pay(state: ProviderState) -> None:
    asked = known(state, plans=(PLAN,))
    assert without_spent_plans(asked, None) == asked


@pytest.mark.spec("DSP-83", "DSP-91")
def test_other_plans_and_those_with_something_left_are_untouched() -> None:
    claude = PresentedIdentity("h2", CLAUDE, "anthropic")
    left = replace(PLAN, is_exhausted=False)
    assert without_spent_plans(known(PAID, plans=(PLAN, claude)), None).identities == (claude,)
    assert without_spent_plans(known(PAID, plans=(left,)), None).identities == (left,)


@pytest.mark.parametrize(
    ("issuer", "is_kept"),
    [
        (Issued("a", "m", "openai"), True),
        (Issued("a", "m", "openai", "stored-1"), False),
        (Issued("a", "m", "elsewhere"), False),
    ],
)
def test_the_account_that_may_hold_the_conversation_is_asked(
    issuer: Issued, *, is_kept: bool
) -> None:
    assert bool(without_spent_plans(known(PAID, plans=(PLAN,)), issuer).identities) is is_kept


def test_nothing_is_left_out_while_nobody_knows_what_else_there_is() -> None:
    away = EligibilityAnswer(None, ((BROUGHT, PLAN),))
    assert without_spent_plans(away, None) == away


@given(st.lists(st.sampled_from([PAID, ProviderState("openai")])), st.lists(st.booleans()))
def test_never_is_a_caller_left_with_nothing_to_pay(
    states: list[ProviderState], spent: list[bool]
) -> None:
    plans = tuple(replace(PLAN, is_exhausted=each) for each in spent)
    before = known(*states, plans=plans)
    after = without_spent_plans(before, None)
    assert bool(after.identities) or not plans or has_paying_key(states, "openai")


@pytest.mark.spec("DSP-83")
def test_the_record_tells_every_stage() -> None:
    asked = question("openai", suppressed_plans=(CODEX,))
    record = freeze(asked, policy(), catalog(row("m", "openai")))
    (told,) = eligibility_record(record).suppressed_plans
    assert (told.kind, told.owner) == (3, 3)
    plain = freeze(question("openai"), policy(), catalog(row("m", "openai")))
    assert not eligibility_record(plain).suppressed_plans
    assert plain.record_id != record.record_id
