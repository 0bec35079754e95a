"""A denial says whether waiting helps, in whole seconds, and names nobody."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.credentials.model import BindingRef, InFlight, Mark, MarkKind
from services.credentials.policy.denial import denial_of
from services.domain.errors import Reason
from services.domain.vocab import CredentialKind
from tests.unit.credentials.cases import NOW, TENANT, Turns, credential, query


def cooling(seconds: float) -> Mark:
    return Mark(MarkKind.QUOTA, NOW, NOW + seconds, model_id="m")


@pytest.mark.spec("CRD-110")
@given(st.lists(st.floats(0.001, 90_000), min_size=1, max_size=4))
def test_the_wait_is_the_earliest_recovery_in_whole_seconds(waits: list[float]) -> None:
    pool = [credential(f"c{n}", marks=(cooling(wait),)) for n, wait in enumerate(waits)]
    error = denial_of([Turns(*pool, credential("off", is_enabled=False)).decide()], NOW)
    assert error.reason is Reason.ALL_CREDENTIALS_COOLING
    assert error.retry_after_s is not None
    assert error.retry_after_s == int(error.retry_after_s) >= 1
    assert min(waits) <= error.retry_after_s + 1e-5 < min(waits) + 1.01 or min(waits) < 1


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        (Turns(), Reason.NO_ELIGIBLE_PROVIDER),
        (Turns(credential(model_ids=("other",))), Reason.NO_ELIGIBLE_PROVIDER),
        (Turns(credential(is_enabled=False)), Reason.CREDENTIALS_UNAVAILABLE),
        (
            Turns(credential(marks=(Mark(MarkKind.AUTH, NOW, NOW + 9),))),
            Reason.CREDENTIALS_UNAVAILABLE,
        ),
        (
            Turns(credential(marks=(Mark(MarkKind.BILLING, NOW, NOW + 9),))),
            Reason.ALL_CREDENTIALS_COOLING,
        ),
        (
            Turns(credential(marks=(Mark(MarkKind.UNSUPPORTED, NOW, NOW + 9, model_id="m"),))),
            Reason.NO_ELIGIBLE_PROVIDER,
        ),
        (
            Turns(credential(installation_id=TENANT, kind=CredentialKind.GATEWAY)),
            Reason.GATEWAY_SERVES_NO_SUCH_MODEL,
        ),
    ],
    ids=["none", "not its model", "off", "refused", "unpaid", "unknown model", "no alias"],
)
@pytest.mark.spec("CRD-111")
def test_each_situation_has_one_reason(turns: Turns, reason: Reason) -> None:
    error = denial_of([turns.decide()], NOW)
    assert error.reason is reason
    assert "c1" not in error.message + repr(error.metadata)


def test_busy_and_tried_have_their_own_reasons() -> None:
    turns = Turns(credential(max_in_flight=1))
    busy = denial_of([turns.decide(in_flight=InFlight({"c1": 1}, {}))], NOW)
    assert (busy.reason, busy.retry_after_s) == (Reason.CREDENTIAL_CONCURRENCY, 1.0)
    tried = denial_of([turns.decide(query(tried=frozenset({"c1"})))], NOW)
    assert tried.reason is Reason.ALL_CREDENTIALS_TRIED


def test_waiting_for_any_binding_comes_before_all_other_reasons() -> None:
    here = Turns(credential(marks=(cooling(5),))).decide()
    there = Turns().decide(query(BindingRef("m", "elsewhere")))
    error = denial_of([there, here], NOW)
    assert (error.reason, error.retry_after_s) == (Reason.ALL_CREDENTIALS_COOLING, 5.0)
