"""A token that a provider refuses is renewed once before another account serves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.dispatch.model.enums import AttemptKind, AttemptOutcome, WalkStep
from services.domain.vocab import CredentialKind
from tests.fakes.upstream import Fault
from tests.integration.dispatch.harness import ANTHROPIC, Stand, standing


def _with_accounts(stand: Stand, *tokens: str) -> None:
    stand.credentials.keys = {"p1": list(tokens)}
    stand.credentials.kinds = {"p1": CredentialKind.CLAUDE_OAUTH}


@pytest.mark.spec("CRD-146")
async def test_a_refused_token_is_renewed_and_serves_on_the_same_account() -> None:
    async with standing(ANTHROPIC) as stand:
        _with_accounts(stand, "old", "other")
        stand.credentials.renewals = {"old": "new"}
        stand.providers["p1"][0].script(Fault(status=401), times=1)
        answer = await stand.run(stand.order())
        assert answer.tail.record.outcome is AttemptOutcome.SERVED
        assert [row.step for row in answer.missed] == [WalkStep.ROTATE]
        assert [one.key for one in stand.providers["p1"][0].requests] == ["old", "new"]
        assert [one.rejected_version for one in stand.credentials.queries] == [0, 1]


@pytest.mark.spec("CRD-146", "CRD-86")
async def test_a_renewed_token_that_is_refused_too_leaves_for_another_account() -> None:
    async with standing(ANTHROPIC) as stand:
        _with_accounts(stand, "old", "other")
        stand.credentials.renewals = {"old": "new"}
        stand.providers["p1"][0].script(Fault(status=401), times=2)
        answer = await stand.run(stand.order())
        assert answer.tail.record.outcome is AttemptOutcome.SERVED
        assert [one.key for one in stand.providers["p1"][0].requests] == ["old", "new", "other"]


async def test_a_key_and_a_missing_permission_are_not_renewed() -> None:
    for kind, status in ((CredentialKind.API_KEY, 401), (CredentialKind.CLAUDE_OAUTH, 403)):
        async with standing(ANTHROPIC) as stand:
            _with_accounts(stand, "old", "other")
            stand.credentials.kinds = {"p1": kind}
            stand.credentials.renewals = {"old": "new"}
            stand.providers["p1"][0].script(Fault(status=status), times=1)
            await stand.run(stand.order())
            assert {one.rejected_version for one in stand.credentials.queries} == {0}


@pytest.mark.spec("CRD-146")
async def test_a_renewal_in_vain_leaves_the_next_number_to_the_next_walk_of_the_action() -> None:
    async with standing(ANTHROPIC) as stand:
        _with_accounts(stand, "old", "other")
        stand.providers["p1"][0].script(Fault(status=401), times=2)
        answer = await stand.run(replace(stand.order(), kind=AttemptKind.SWITCH_SUMMARY))
        selections = [one for one in stand.credentials.queries if one.grant is None]
        granted = [one.idempotency_key for one in selections[:2]]
        assert granted == ["action-1/s1", "action-1/s2"]
        assert [row.record.number for row in answer.missed] == [1, 2]
