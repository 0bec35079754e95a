from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.deciding.passthrough import covered_classifier, covered_conversation
from gateway.ground import Ground
from gateway.model import EligibilityAnswer, EligibilityRecord, Presented, PresentedIdentity
from services.domain.vocab import CredentialKind, WireFamily
from tests.unit.gateway.deciding.made import action, moment, record

BODY = b'{"model":"large","max_tokens":9,"messages":[{"role":"user","content":"x"}]}'
BROUGHT = Presented("a-token-of-tests", WireFamily.ANTHROPIC)
PLAN = PresentedIdentity("f" * 32, CredentialKind.CLAUDE_OAUTH, "acme")


def ground(
    identity: PresentedIdentity, asked: str = "large", found: EligibilityRecord | None = None
) -> Ground:
    made = action(BODY)
    sent = replace(made, features=replace(made.features, requested_model=asked))
    return Ground(sent, EligibilityAnswer(None, ((BROUGHT, identity),)), found or record())


def classifies(
    identity: PresentedIdentity, asked: str = "large", limited: EligibilityRecord | None = None
) -> bool:
    found = ground(identity, asked, limited)
    return covered_classifier(found, moment(found.record)) is not None


def converses(identity: PresentedIdentity, below: float = 0.95) -> bool:
    found = ground(identity)
    return covered_conversation(found, moment(found.record), below) is not None


@pytest.mark.spec("TRN-30")
def test_a_classifier_passes_on_the_claude_plan_that_its_caller_brings() -> None:
    assert classifies(PLAN)
    assert classifies(replace(PLAN, used_ratio=0.998))
    assert not classifies(replace(PLAN, used_ratio=0.999))
    assert not classifies(replace(PLAN, is_exhausted=True))
    assert not classifies(replace(PLAN, kind=CredentialKind.API_KEY))
    assert not classifies(replace(PLAN, kind=CredentialKind.CODEX_OAUTH))


@pytest.mark.spec("TRN-30")
def test_it_covers_models_of_its_own_vendor_that_may_serve() -> None:
    assert not classifies(PLAN, "middle")
    assert not classifies(PLAN, "unheard-of")
    assert not classifies(PLAN, limited=record(excluded_models=frozenset({"large"})))
    assert not classifies(PLAN, limited=record(excluded_providers=frozenset({"acme"})))
    assert not classifies(replace(PLAN, covered_models=("middle",)))
    assert classifies(replace(PLAN, covered_models=("large",)))


@pytest.mark.spec("TRN-61")
def test_a_conversation_passes_on_any_plan_that_is_not_used_too_much() -> None:
    assert converses(PLAN)
    assert converses(replace(PLAN, kind=CredentialKind.GEMINI_OAUTH, used_ratio=0.949))
    assert not converses(replace(PLAN, kind=CredentialKind.CODEX_OAUTH)), "a Codex plan lacks it"
    assert not converses(replace(PLAN, used_ratio=0.95))
    assert not converses(replace(PLAN, used_ratio=0.999), below=1.0)
    assert not converses(replace(PLAN, kind=CredentialKind.API_KEY))
