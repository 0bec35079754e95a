"""The client of the credentials service: what is held, for how long, and what is reported."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import grpc
import pytest
from pointsman.common.v1 import grant_pb2
from pointsman.credentials.v1 import credentials_pb2 as pb
from pointsman.credentials.v1 import credentials_pb2_grpc as rpc

from services.dispatch.adapters import reports
from services.dispatch.adapters.reports import ReportQueue
from services.dispatch.adapters.secrets import CredentialsClient
from services.dispatch.model.access import (
    CredentialDenied,
    Ended,
    Grant,
    HeadersSeen,
    Presented,
    Report,
    SecretQuery,
    StillAlive,
)
from services.dispatch.model.enums import AttemptCause, EndKind, SecretPurpose
from services.dispatch.model.plan import ActionRef, BindingRef, Plan
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialKind, CredentialOwner, FailureClass
from services.runtime import host
from services.runtime.channel import Channel
from tests.fakes.clock import FakeClock
from tests.fakes.credentials import attribution_of
from tests.fakes.upstream import Fault
from tests.integration.dispatch.harness import ANTHROPIC, MODEL, standing

P1 = BindingRef(MODEL, "p1")
GRANT = Grant("g1", P1, attribution_of("key"), credential_id="c1", secret_cache_key="k1")


@dataclass
class Service(rpc.CredentialsServiceServicer):
    """Answers secrets that may be held for 60 s, unless it is told to refuse."""

    clock: FakeClock
    asked: list[pb.AcquireSecretRequest] = field(default_factory=list)
    told: list[pb.AttemptReport] = field(default_factory=list)
    refusals: list[RouterError] = field(default_factory=list)
    unstored: set[int] = field(default_factory=set)
    """Numbers of reports that cannot be stored."""
    kind: grant_pb2.CredentialKind = grant_pb2.CREDENTIAL_KIND_API_KEY

    async def AcquireSecret(  # noqa: N802 - name fixed by the proto
        self,
        request: pb.AcquireSecretRequest,
        context: grpc.aio.ServicerContext[pb.AcquireSecretRequest, pb.AcquireSecretResponse],
    ) -> pb.AcquireSecretResponse:
        self.asked.append(request)
        if self.refusals:
            raise self.refusals.pop(0)
        answer = pb.AcquireSecretResponse()
        answer.grant.grant_id, answer.grant.credential_id = "g2", "c1"
        answer.grant.secret_cache_key = "k1"
        answer.grant.binding.model_id, answer.grant.binding.provider = MODEL, "p1"
        answer.grant.attribution.kind = self.kind
        answer.auth.scheme = pb.AUTH_SCHEME_BEARER
        answer.auth.value_secret = f"secret-{len(self.asked)}"
        answer.cache_until_time.FromSeconds(int(self.clock.now_unix_s()) + 60)
        return answer

    async def ReportAttempt(  # noqa: N802 - name fixed by the proto
        self,
        request: pb.ReportAttemptRequest,
        context: grpc.aio.ServicerContext[pb.ReportAttemptRequest, pb.ReportAttemptResponse],
    ) -> pb.ReportAttemptResponse:
        self.told.extend(request.reports)
        outcomes = [
            pb.REPORT_OUTCOME_NOT_STORED
            if row.sequence_number in self.unstored
            else pb.REPORT_OUTCOME_APPLIED
            for row in request.reports
        ]
        return pb.ReportAttemptResponse(results=[pb.ReportResult(outcome=row) for row in outcomes])


async def _nothing() -> None:
    return


@pytest.fixture
def service(clock: FakeClock) -> Service:
    return Service(clock)  # type: ignore[abstract]  # its other methods are never called


@pytest.fixture
async def channel(service: Service) -> AsyncIterator[Channel]:
    server = host.in_process(
        host.Bundle(
            "pointsman.credentials.v1.CredentialsService",
            lambda target: rpc.add_CredentialsServiceServicer_to_server(service, target),
            _nothing,
            _nothing,
        )
    )
    opened = server.channel("dispatch")
    yield opened
    await opened.aclose()


@pytest.fixture
async def queue(channel: Channel) -> ReportQueue:
    return ReportQueue(channel)


@pytest.fixture
async def client(channel: Channel, queue: ReportQueue, clock: FakeClock) -> CredentialsClient:
    return CredentialsClient(channel, queue, clock)


def query(**changes: object) -> SecretQuery:
    asked = SecretQuery(
        action=ActionRef("a", "i", b"session"),
        binding=P1,
        purpose=SecretPurpose.SERVE,
        idempotency_key="a/2",
        grant=GRANT,
    )
    return replace(asked, **changes)  # type: ignore[arg-type]  # fields by name


def down() -> RouterError:
    return RouterError(Reason.STORE_UNAVAILABLE, "down", retry_after_s=1.0)


async def test_a_secret_is_held_for_a_minute_and_not_longer(
    client: CredentialsClient, service: Service, clock: FakeClock
) -> None:
    first = await client.acquire(query())
    clock.advance(59)
    assert (await client.acquire(query())).auth == first.auth
    clock.advance(2)
    assert (await client.acquire(query())).auth.secret == "secret-2"
    assert len(service.asked) == 2


async def test_a_rotation_of_the_secret_is_seen_at_once(client: CredentialsClient) -> None:
    await client.acquire(query())
    rotated = replace(GRANT, secret_cache_key="k1-v2")
    assert (await client.acquire(query(grant=rotated))).auth.secret == "secret-2"


@pytest.mark.parametrize(
    "reason", [Reason.GRANT_EXPIRED, Reason.GRANT_UNKNOWN, Reason.CREDENTIAL_NEEDS_LOGIN]
)
async def test_a_grant_of_no_use_is_replaced_by_a_selection(
    client: CredentialsClient, service: Service, reason: Reason
) -> None:
    service.refusals.append(RouterError(reason, "gone"))
    access = await client.acquire(query())
    assert access.grant.grant_id == "g2"
    assert [row.WhichOneof("source") for row in service.asked] == ["grant_id", "selection"]


async def test_the_last_secret_serves_its_own_place_only_and_for_a_minute(
    client: CredentialsClient, service: Service, clock: FakeClock
) -> None:
    await client.acquire(query())
    asked = query(grant=None)
    service.refusals += [down(), down()]
    assert (await client.acquire(asked)).auth.secret == "secret-1"
    for other in (
        replace(asked, action=ActionRef("a", "other", b"session")),
        replace(asked, action=ActionRef("a", "i", b"other")),
        replace(asked, binding=BindingRef(MODEL, "p2")),
        replace(asked, tried=("c1",)),
    ):
        service.refusals = [down()]
        with pytest.raises(CredentialDenied) as caught:
            await client.acquire(other)
        assert caught.value.failure_class is FailureClass.CREDENTIALS_UNREACHABLE
    clock.advance(61)
    service.refusals = [down()]
    with pytest.raises(CredentialDenied):
        await client.acquire(asked)


async def test_a_session_served_from_what_is_held_may_go_on_with_it_until_it_lapses(
    client: CredentialsClient, service: Service, clock: FakeClock
) -> None:
    await client.acquire(query())
    clock.advance(40)
    other = ActionRef("a", "i", b"other")
    await client.acquire(query(action=other))
    assert len(service.asked) == 1
    service.refusals = [down(), down()]
    asked = query(action=other, grant=None)
    assert (await client.acquire(asked)).auth.secret == "secret-1"
    clock.advance(21)
    with pytest.raises(CredentialDenied):
        await client.acquire(asked)


async def test_a_stand_in_keeps_the_binding_that_was_asked_for(
    client: CredentialsClient, service: Service
) -> None:
    await client.acquire(query())
    service.refusals.append(down())
    other = BindingRef("acme-small", "p1")
    access = await client.acquire(query(grant=None, binding=other))
    assert access.grant.binding == other
    assert access.grant.credential_id == "c1"


@pytest.mark.spec("XLT-78")
async def test_only_the_account_that_alone_will_do_stands_in(
    client: CredentialsClient, service: Service
) -> None:
    await client.acquire(query())
    service.refusals += [down(), down()]
    meant = query(grant=None, required_credential_id="c1")
    assert (await client.acquire(meant)).auth.secret == "secret-1"
    with pytest.raises(CredentialDenied):
        await client.acquire(replace(meant, required_credential_id="c2"))
    assert [one.selection.required_credential_id for one in service.asked[1:]] == ["c1", "c2"]


async def test_a_plan_never_stands_in_for_a_call_of_our_own(
    client: CredentialsClient, service: Service
) -> None:
    service.kind = grant_pb2.CREDENTIAL_KIND_CLAUDE_OAUTH
    await client.acquire(query())
    service.refusals += [down(), down()]
    assert (await client.acquire(query(grant=None))).auth.secret == "secret-1"
    with pytest.raises(CredentialDenied):
        await client.acquire(query(grant=None, purpose=SecretPurpose.AUXILIARY))


async def test_all_tried_is_told_apart(client: CredentialsClient, service: Service) -> None:
    service.refusals.append(RouterError(Reason.ALL_CREDENTIALS_TRIED, "all"))
    with pytest.raises(CredentialDenied) as caught:
        await client.acquire(query(grant=None))
    assert caught.value.is_all_tried


def report(number: int, event: HeadersSeen | StillAlive | Ended) -> Report:
    return Report(GRANT, "a", 1, number, 1.0, event)


async def told(service: Service, number: int, times: int = 1) -> None:
    """Return once a report has come so many times; the sender tells nobody when it has sent."""

    def count() -> int:
        return sum(row.sequence_number == number for row in service.told)

    async with asyncio.timeout(5):
        while count() < times:  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0.005)


@pytest.mark.spec("CRD-124")
async def test_only_reports_that_could_not_be_stored_are_sent_again(
    queue: ReportQueue, service: Service
) -> None:
    service.unstored = {1}
    queue.start()
    queue.put(report(1, HeadersSeen(429, (), 1.0)))
    queue.put(report(2, StillAlive(1.0)))
    await told(service, 2)
    service.unstored.clear()
    await told(service, 1, times=2)
    await queue.aclose()
    assert [row.sequence_number for row in service.told] == [1, 2, 1]


@pytest.mark.spec("CRD-124")
async def test_however_many_reports_cannot_be_stored_others_come_through(
    queue: ReportQueue, service: Service
) -> None:
    service.unstored = set(range(2 * reports.MAX_BATCH))
    queue.start()
    for number in service.unstored:
        queue.put(report(number, HeadersSeen(429, (), 1.0)))
    await told(service, 2 * reports.MAX_BATCH - 1)
    queue.put(report(9001, Ended(EndKind.SUCCEEDED, 1.0)))
    await told(service, 9001)
    await queue.aclose()


async def test_a_full_queue_drops_only_what_may_be_lost(
    queue: ReportQueue, service: Service
) -> None:
    for i in range(reports.MAX_QUEUED):
        queue.put(report(i, StillAlive(1.0)))
    queue.put(report(9001, StillAlive(1.0)))
    queue.put(report(9002, HeadersSeen(200, (), 1.0)))
    queue.put(report(9003, HeadersSeen(429, (), 1.0)))
    queue.put(report(9004, Ended(EndKind.SUCCEEDED, 1.0)))
    await queue.aclose()
    assert [row.sequence_number for row in service.told[reports.MAX_QUEUED :]] == [9003, 9004]


async def test_headers_are_reported_within_50_ms(queue: ReportQueue, service: Service) -> None:
    queue.start()
    await asyncio.sleep(0)
    queue.put(report(1, HeadersSeen(200, (), 1.0)))
    await asyncio.sleep(0.05)
    assert len(service.told) == 1
    await queue.aclose()


@pytest.mark.spec("DSP-41")
async def test_an_answer_that_is_whole_at_once_is_told_in_one_report(
    queue: ReportQueue, service: Service
) -> None:
    queue.start()
    headers = (("retry-after", "1"),)
    queue.put(report(1, HeadersSeen(200, headers, 1.0)))
    queue.put(report(2, Ended(EndKind.SUCCEEDED, 1.0, 200)))
    await queue.aclose()
    (told,) = service.told
    assert (told.WhichOneof("phase"), told.sequence_number) == ("ended", 2)
    assert [(row.name, row.value) for row in told.ended.headers] == list(headers)


@pytest.mark.parametrize(
    "end", [Ended(EndKind.FAILED, 1.0, 200), Ended(EndKind.SUCCEEDED, 1.0, 201)]
)
async def test_an_end_that_says_something_else_leaves_the_headers_their_report(
    queue: ReportQueue, service: Service, end: Ended
) -> None:
    queue.put(report(1, HeadersSeen(200, (), 1.0)))
    queue.put(report(2, end))
    await queue.aclose()
    assert [row.WhichOneof("phase") for row in service.told] == ["headers", "ended"]


async def test_headers_that_were_sent_are_not_told_again(
    queue: ReportQueue, service: Service
) -> None:
    queue.start()
    queue.put(report(1, HeadersSeen(200, (("date", "x"),), 1.0)))
    async with asyncio.timeout(3):
        while not service.told:  # noqa: ASYNC110 - the sender tells nobody when it has sent
            await asyncio.sleep(0.005)
    queue.put(report(2, Ended(EndKind.SUCCEEDED, 1.0, 200)))
    await queue.aclose()
    assert [row.WhichOneof("phase") for row in service.told] == ["headers", "ended"]
    assert not service.told[1].ended.headers


async def test_a_walk_waits_long_for_silent_credentials_once() -> None:
    async with standing(*[ANTHROPIC] * 3) as stand:
        silence = CredentialDenied(FailureClass.CREDENTIALS_UNREACHABLE, "silent")
        stand.credentials.denials = dict.fromkeys(("p1", "p2"), silence)
        answer = await stand.run(stand.order())
        assert answer.head.binding.provider == "p3"
        assert [row.timeout_s for row in stand.credentials.queries] == [5.0, 1.0, 1.0]


async def test_a_presented_credential_serves_its_own_binding_and_never_a_hop() -> None:
    grant = Grant(
        "g9",
        P1,
        attribution_of("mine", owner=CredentialOwner.CALLER),
        presented_hash="h1",
    )
    presented = Presented("sk-presented", "h1", CredentialKind.API_KEY, "p1")

    def bring(plan: Plan) -> Plan:
        return replace(plan, grant=grant, presented=(presented,))

    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        stand.credentials.keys = {"p2": ["key-b"]}
        stand.providers["p1"][0].script(Fault(status=401))
        answer = await stand.run(stand.order(change=bring))
        assert [row.cause for row in answer.started] == [AttemptCause.FIRST, AttemptCause.HOP]
        assert stand.providers["p1"][0].requests[0].key == "sk-presented"
        assert stand.providers["p2"][0].requests[0].key == "key-b"
        assert [row.grant for row in stand.credentials.queries] == [None]


@pytest.mark.spec("CRD-21")
@pytest.mark.parametrize("status", [401, 402, 403, 429])
async def test_a_callers_own_refused_key_is_shown_as_such(status: int) -> None:
    grant = Grant(
        "g9", P1, attribution_of("mine", owner=CredentialOwner.CALLER), presented_hash="h1"
    )
    presented = Presented("sk-presented", "h1", CredentialKind.API_KEY, "p1")
    async with standing(ANTHROPIC) as stand:
        stand.credentials.keys = {"p1": ["key-of-the-pool"]}
        fault = Fault(status=status, headers={"anthropic-ratelimit-requests-limit": "5"})
        stand.providers["p1"][0].script(fault, times=None)
        answer = await stand.run(
            stand.order(change=lambda plan: replace(plan, grant=grant, presented=(presented,)))
        )
        assert answer.unserved.is_caller_credential
        assert answer.unserved.fault.http_status == status
        assert {one.key for one in stand.providers["p1"][0].requests} == {"sk-presented"}
        assert ("anthropic-ratelimit-requests-limit", "5") in answer.unserved.headers
        assert not stand.credentials.queries
