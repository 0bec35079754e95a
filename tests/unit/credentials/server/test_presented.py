"""What is learned about a presented credential is its own, and gone with its time."""

from __future__ import annotations

import pytest

from services.credentials.model import PlanStatus, PresentedIdentity
from services.credentials.server.presented import PresentedBook
from services.domain.vocab import CredentialKind
from tests.unit.credentials.cases import NOW, RULES, report

UNIFIED = "anthropic-ratelimit-unified-"
MINE = PresentedIdentity("h1", CredentialKind.CLAUDE_OAUTH, "p")
OTHER = PresentedIdentity("h2", CredentialKind.CLAUDE_OAUTH, "p")


@pytest.mark.spec("CRD-20")
def test_marks_of_a_presented_plan_are_its_own_and_end_with_the_window() -> None:
    book = PresentedBook()
    assert book.state_of(MINE, NOW).is_blocked is False
    book.state_of(OTHER, NOW)
    rejected = (
        (UNIFIED + "5h-status", "rejected"),
        (UNIFIED + "5h-reset", str(int(NOW) + 60)),
    )
    book.observe(report(429, headers=rejected, credential_id="", presented_hash="h1"), RULES, NOW)
    mine = book.state_of(MINE, NOW + 1)
    assert (mine.is_blocked, mine.blocked_until_unix_s) == (True, NOW + 60)
    assert mine.plan is not None
    assert mine.plan.status is PlanStatus.EXHAUSTED
    other = book.state_of(OTHER, NOW + 1)
    assert other.plan is not None
    assert (other.is_blocked, other.plan.status) == (False, PlanStatus.UNKNOWN)
    assert not book.state_of(MINE, NOW + 60).is_blocked


def test_a_key_has_no_plan_and_who_was_never_met_is_left_alone() -> None:
    book = PresentedBook()
    key = PresentedIdentity("h3", CredentialKind.API_KEY, "p")
    assert book.state_of(key, NOW).plan is None
    book.observe(report(401, credential_id="", presented_hash="h9"), RULES, NOW)
    assert not book.state_of(PresentedIdentity("h9", MINE.kind, "p"), NOW).is_blocked
