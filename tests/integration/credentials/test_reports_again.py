"""A report that the store could not take is sent again, and goes on from where it came to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from pointsman.credentials.v1 import credentials_pb2 as pb
from prometheus_client import REGISTRY

from services.credentials.adapters.alone import Alone
from services.credentials.adapters.cipher import AesGcmCipher
from services.credentials.adapters.token_files import NoTokenFiles
from services.credentials.adapters.token_http import HttpTokenEndpoint
from services.credentials.model import Grant, Report, ReportOutcome
from services.credentials.server import CredentialsServicer, Service
from services.credentials.server.reports import STORE_REST_S
from services.domain.errors import Reason, RouterError
from tests.fakes.clock import FakeClock
from tests.integration.credentials.cluster import (
    KEY,
    OPTIONS,
    account,
    ended,
    named,
    picked,
    running,
    told,
)
from tests.integration.credentials.hosts import Fallible

UNIFIED = "anthropic-ratelimit-unified-"


@pytest.fixture
def store(tmp_path: Path) -> Fallible:
    return Fallible(f"sqlite:///{tmp_path}/credentials.db")


@pytest.fixture
async def one(store: Fallible, clock: FakeClock) -> AsyncIterator[Service]:
    options = replace(OPTIONS, declared=(account("a", max_in_flight=2),))
    service = Service(
        store,
        AesGcmCipher((KEY,)),
        options,
        clock,
        Alone(),
        HttpTokenEndpoint(),
        NoTokenFiles(),
    )
    async with running(service):
        yield service


async def refused(one: Service, report: Report) -> None:
    """Report while the store takes nothing."""
    with pytest.raises(RouterError) as caught:
        await one.reports.apply(report)
    assert caught.value.reason is Reason.STORE_UNAVAILABLE


@pytest.mark.spec("CRD-4", "CRD-158")
@pytest.mark.parametrize("outage_s", [0.0, OPTIONS.lease_ttl_s, 3 * OPTIONS.lease_ttl_s])
async def test_an_end_that_was_taken_is_answered_so_however_long_the_store_was_away(
    one: Service, store: Fallible, clock: FakeClock, outage_s: float
) -> None:
    grant, other = await picked(one), await picked(one)
    wait = ("retry-after", "600")
    end = ended(clock, grant.credential_id, 429, headers=(wait,), grant_id=grant.id)
    store.is_broken = True
    await refused(one, end)
    clock.advance(outage_s)
    await refused(one, end)
    store.is_broken = False
    outcome, changes = await one.reports.apply(end)
    assert (outcome, len(changes)) == (ReportOutcome.APPLIED, 1)
    assert await one.reports.apply(end) == (ReportOutcome.DUPLICATE, ())
    assert one.grants.count(other.credential_id) == (outage_s < OPTIONS.lease_ttl_s)


@pytest.mark.spec("CRD-4", "CRD-165")
async def test_what_a_report_says_is_counted_once_however_often_it_is_sent(
    one: Service, store: Fallible, clock: FakeClock
) -> None:
    def contradictions() -> float:
        labels = {"kind": "contradiction"}
        return REGISTRY.get_sample_value("pointsman_credential_doubts_total", labels) or 0.0

    before = contradictions()
    warned = (f"{UNIFIED}5h-status", "allowed_warning")
    report = told(clock, named(one, "a").id, 200, warned, (f"{UNIFIED}status", "allowed"))
    store.is_broken = True
    for _ in range(3):
        await refused(one, report)
    store.is_broken = False
    assert (await one.reports.apply(report))[1]
    assert contradictions() - before == 1


def ending(grant: Grant, number: int, status: int) -> pb.AttemptReport:
    """Return the report of an attempt's end, which frees its slot."""
    kind = pb.END_KIND_FAILED if status == 429 else pb.END_KIND_SUCCEEDED
    found = pb.AttemptReport(
        grant_id=grant.id,
        action_id=f"a{number}",
        attempt_number=1,
        sequence_number=1,
        credential_id=grant.credential_id,
        ended=pb.AttemptEnded(kind=kind, http_status=status),
    )
    found.binding.model_id = grant.binding.model_id
    if status == 429:
        found.ended.headers.add(name="retry-after", value="600")
    return found


async def outcomes(
    one: Service, clock: FakeClock, order: pb.ReportAttemptRequest
) -> list[pb.ReportOutcome]:
    """Return what came of each report of a batch."""
    servicer = CredentialsServicer(one, OPTIONS, clock)
    answer = await servicer.ReportAttempt(order, context=None)  # type: ignore[arg-type]  # not read
    return [row.outcome for row in answer.results]


@pytest.mark.spec("CRD-124", "CRD-158")
@pytest.mark.parametrize("how", ["is_broken", "is_silent"])
async def test_a_report_that_cannot_be_stored_holds_no_other_one_back(
    one: Service, store: Fallible, clock: FakeClock, how: str
) -> None:
    grants = [await picked(one), await picked(one)]
    reports = [ending(grant, *end) for grant, end in zip(grants, [(1, 429), (2, 200)], strict=True)]
    order = pb.ReportAttemptRequest(reports=reports)
    setattr(store, how, True)
    assert await outcomes(one, clock, order) == [
        pb.REPORT_OUTCOME_NOT_STORED,
        pb.REPORT_OUTCOME_APPLIED,
    ]
    assert one.grants.count(grants[0].credential_id) == 0
    setattr(store, how, False)
    clock.advance(STORE_REST_S)
    assert await outcomes(one, clock, order) == [
        pb.REPORT_OUTCOME_APPLIED,
        pb.REPORT_OUTCOME_DUPLICATE,
    ]


@pytest.mark.spec("CRD-124")
async def test_a_silent_store_is_waited_for_once_in_a_while(
    one: Service, store: Fallible, clock: FakeClock
) -> None:
    grants = [await picked(one), await picked(one)]
    store.is_silent = True
    for grant in grants:
        wait = ("retry-after", "600")
        await refused(
            one, ended(clock, grant.credential_id, 429, headers=(wait,), grant_id=grant.id)
        )
    assert len(store.writes) == 1
