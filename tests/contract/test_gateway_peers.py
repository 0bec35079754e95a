"""The clients of credentials and dispatch against scripted servicers, on every transport."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any  # servers of both kinds take a servicer by duck type

import grpc
import pytest
from pointsman.common.v1 import action_pb2, eligibility_pb2, grant_pb2
from pointsman.credentials.v1 import credentials_pb2, credentials_pb2_grpc
from pointsman.dispatch.v1 import dispatch_pb2, dispatch_pb2_grpc

from gateway.adapters.credentials import (
    ASK_AGAIN_AFTER_S,
    STALE_AFTER_S,
    CredentialsClient,
    SnapshotBook,
)
from gateway.adapters.dispatch import DispatchClient
from gateway.adapters.probe import PeerProbe
from gateway.eligibility import freeze
from gateway.model import (
    Action,
    ActionId,
    BindingRef,
    Caller,
    Grant,
    InstallationId,
    Plan,
    Presented,
    ProviderState,
    Snapshot,
)
from gateway.model.record import Attribution
from services.domain.errors import PeerError, Reason, RouterError
from services.domain.vocab import TurnType, WireFamily
from services.domain.wire.model import Request
from services.runtime.channel import Channel, connect
from services.runtime.clock import SystemClock
from services.runtime.host import Bundle
from tests.contract.transports import Serve
from tests.fakes.clock import FakeClock
from tests.unit.gateway.facts import catalog, features, policy, question, row

INSTALLATION = InstallationId("inst-1")
BINDING = BindingRef("m", "p1", "m-up", 0, 1000)
RECORD = freeze(question("p1"), policy(), catalog(row("m", "p1")))


def action() -> Action:
    return Action(
        id=ActionId("act_1"),
        surface=WireFamily.ANTHROPIC,
        caller=Caller("key-1", INSTALLATION, session_key=b"s" * 16),
        body=b'{"model":"m"}',
        request=Request(WireFamily.ANTHROPIC, "m", is_stream=True),
        features=features(),
        input_tokens=5,
        turn_type=TurnType.MAIN_LOOP,
        started_monotonic_s=0.0,
    )


class Credentials(credentials_pb2_grpc.CredentialsServiceServicer):
    """Answers as it is told."""

    def __init__(self) -> None:
        self.version = "v1"
        self.questions: list[credentials_pb2.GetEligibilityRequest] = []
        self.selections: list[credentials_pb2.SelectCredentialRequest] = []
        self.watches: list[credentials_pb2.WatchCredentialsRequest] = []
        self.reports: list[credentials_pb2.AttemptReport] = []
        self.fault: RouterError | None = None
        self.delay_s = 0.0
        self.events: asyncio.Queue[credentials_pb2.WatchCredentialsResponse] = asyncio.Queue()

    async def GetEligibility(  # noqa: N802 - name fixed by the proto
        self,
        request: credentials_pb2.GetEligibilityRequest,
        context: grpc.aio.ServicerContext[
            credentials_pb2.GetEligibilityRequest, credentials_pb2.GetEligibilityResponse
        ],
    ) -> credentials_pb2.GetEligibilityResponse:
        self.questions.append(request)
        if self.fault is not None:
            raise self.fault
        presented = [
            credentials_pb2.PresentedEligibility(
                identity=grant_pb2.PresentedIdentity(
                    presented_hash=item.presented_secret.rjust(32, "0"),
                    kind=grant_pb2.CREDENTIAL_KIND_API_KEY,
                    provider="p1",
                ),
                availability=eligibility_pb2.PROVIDER_AVAILABILITY_USABLE,
            )
            for item in request.presented
            if item.presented_secret.startswith("known")
        ]
        if request.known_version == self.version:
            return credentials_pb2.GetEligibilityResponse(is_unchanged=True, presented=presented)
        return credentials_pb2.GetEligibilityResponse(
            snapshot=snapshot(self.version), presented=presented
        )

    async def SelectCredential(  # noqa: N802 - name fixed by the proto
        self,
        request: credentials_pb2.SelectCredentialRequest,
        context: grpc.aio.ServicerContext[
            credentials_pb2.SelectCredentialRequest, credentials_pb2.SelectCredentialResponse
        ],
    ) -> credentials_pb2.SelectCredentialResponse:
        self.selections.append(request)
        await asyncio.sleep(self.delay_s)
        if self.fault is not None:
            raise self.fault
        grant = grant_pb2.CredentialGrant(grant_id="g1", binding=request.bindings[0])
        return credentials_pb2.SelectCredentialResponse(grant=grant)

    async def ReportAttempt(  # noqa: N802 - name fixed by the proto
        self,
        request: credentials_pb2.ReportAttemptRequest,
        context: grpc.aio.ServicerContext[
            credentials_pb2.ReportAttemptRequest, credentials_pb2.ReportAttemptResponse
        ],
    ) -> credentials_pb2.ReportAttemptResponse:
        self.reports += request.reports
        return credentials_pb2.ReportAttemptResponse()

    async def WatchCredentials(  # noqa: N802 - name fixed by the proto
        self,
        request: credentials_pb2.WatchCredentialsRequest,
        context: grpc.aio.ServicerContext[
            credentials_pb2.WatchCredentialsRequest, credentials_pb2.WatchCredentialsResponse
        ],
    ) -> AsyncIterator[credentials_pb2.WatchCredentialsResponse]:
        self.watches.append(request)
        while True:
            event = await self.events.get()
            if event.resume_token == "expired":
                raise RouterError(Reason.RESUME_TOKEN_EXPIRED, "too old")
            yield event


class Dispatcher(dispatch_pb2_grpc.DispatchServiceServicer):
    """Streams what it is told and notes when its caller leaves."""

    def __init__(self) -> None:
        self.parts: list[dispatch_pb2.DispatchResponse] = []
        self.fault: RouterError | None = None
        self.is_endless = False
        self.was_cancelled = False
        self.is_running = False
        self.orders: list[dispatch_pb2.DispatchRequest] = []

    async def Dispatch(  # noqa: N802 - name fixed by the proto
        self,
        request: dispatch_pb2.DispatchRequest,
        context: grpc.aio.ServicerContext[
            dispatch_pb2.DispatchRequest, dispatch_pb2.DispatchResponse
        ],
    ) -> AsyncIterator[dispatch_pb2.DispatchResponse]:
        self.orders.append(request)
        self.is_running = True
        for part in self.parts:
            yield part
        try:
            if self.is_endless:
                await asyncio.sleep(30)
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        if self.fault is not None:
            raise self.fault

    async def CountTokens(  # noqa: N802 - name fixed by the proto
        self,
        request: dispatch_pb2.CountTokensRequest,
        context: grpc.aio.ServicerContext[
            dispatch_pb2.CountTokensRequest, dispatch_pb2.CountTokensResponse
        ],
    ) -> dispatch_pb2.CountTokensResponse:
        if self.fault is not None:
            raise self.fault
        return dispatch_pb2.CountTokensResponse(input_token_count=17)


def snapshot(version: str) -> credentials_pb2.EligibilitySnapshot:
    return credentials_pb2.EligibilitySnapshot(
        installation_id=INSTALLATION,
        version=version,
        providers=[eligibility_pb2.ProviderEligibility(provider="p1")],
    )


async def until(is_so: Callable[[], bool]) -> None:
    """Return once ``is_so``, which nobody announces."""
    async with asyncio.timeout(2):
        while not is_so():  # noqa: ASYNC110 - a state of another object, without an event
            await asyncio.sleep(0.005)


async def _nothing() -> None:
    """Start and end nothing."""


def bundle_of(name: str, attach: Callable[[Any], None]) -> Bundle:
    return Bundle(f"pointsman.{name}.v1.{name.title()}Service", attach, _nothing, _nothing)


@pytest.fixture
def servicer() -> Credentials:
    return Credentials()  # type: ignore[abstract]  # only what the gateway calls


@pytest.fixture
async def channel(servicer: Credentials, serve: Serve) -> Channel:
    def attach(server: Any) -> None:
        credentials_pb2_grpc.add_CredentialsServiceServicer_to_server(servicer, server)

    return (await serve(bundle_of("credentials", attach))).channel("gateway")


@pytest.fixture
def client(channel: Channel) -> CredentialsClient:
    return CredentialsClient(channel, SystemClock())


async def test_a_warm_snapshot_needs_no_question(
    client: CredentialsClient, servicer: Credentials
) -> None:
    for _ in range(3):
        answer = await client.eligibility(INSTALLATION, ())
        assert answer.snapshot is not None
        assert answer.snapshot.version == "v1"
    assert len(servicer.questions) == 1


async def test_brought_credentials_are_asked_about_each_time_and_paired_exactly(
    client: CredentialsClient, servicer: Credentials
) -> None:
    def brought(secret: str) -> Presented:
        return Presented(secret, WireFamily.ANTHROPIC)

    answer = await client.eligibility(INSTALLATION, (brought("strange"), brought("known-1")))
    assert [
        (item.presented_secret, identity.presented_hash[-7:]) for item, identity in answer.presented
    ] == [("known-1", "known-1")]
    again = await client.eligibility(INSTALLATION, (brought("known-2"),))
    assert again.snapshot is not None
    assert servicer.questions[-1].known_version == "v1"
    assert len(servicer.questions) == 3


async def test_credentials_that_are_away_leave_the_last_snapshot_or_none(
    client: CredentialsClient, servicer: Credentials
) -> None:
    servicer.fault = RouterError(Reason.STORE_UNAVAILABLE, "down")
    assert (await client.eligibility(INSTALLATION, ())).snapshot is None
    servicer.fault = None
    await client.eligibility(INSTALLATION, ())
    servicer.fault = RouterError(Reason.STORE_UNAVAILABLE, "down")
    assert (await client.eligibility(INSTALLATION, ())).snapshot is not None


async def test_a_brought_credential_that_cannot_be_checked_is_refused_and_nobody_else_pays(
    client: CredentialsClient, servicer: Credentials
) -> None:
    await client.eligibility(INSTALLATION, ())
    servicer.fault = RouterError(Reason.STORE_UNAVAILABLE, "down")
    with pytest.raises(RouterError) as refusal:
        await client.eligibility(INSTALLATION, (Presented("known", WireFamily.ANTHROPIC),))
    assert refusal.value.reason is Reason.STORE_UNAVAILABLE
    assert refusal.value.retry_after_s == 1.0


async def test_a_selection_carries_action_bindings_and_record(
    client: CredentialsClient, servicer: Credentials
) -> None:
    grant = await client.select(action(), (BINDING,), RECORD, ())
    assert grant is not None
    request = servicer.selections[0]
    assert request.idempotency_key == "act_1/1"
    assert request.action.session_key == b"s" * 16
    assert request.action.surface == action_pb2.WIRE_FAMILY_ANTHROPIC
    assert request.bindings[0].upstream_id == "m-up"
    assert request.eligibility.record_id == RECORD.record_id
    assert request.expected_token_count == 5


async def test_a_denial_is_raised_and_a_silence_is_no_grant(
    client: CredentialsClient, servicer: Credentials
) -> None:
    servicer.fault = RouterError(Reason.ALL_CREDENTIALS_COOLING, "wait", retry_after_s=3.0)
    with pytest.raises(RouterError) as caught:
        await client.select(action(), (BINDING,), RECORD, ())
    assert (caught.value.reason, caught.value.retry_after_s) == (
        Reason.ALL_CREDENTIALS_COOLING,
        3.0,
    )
    servicer.fault = None
    servicer.delay_s = 5.0
    assert await client.select(action(), (BINDING,), RECORD, ()) is None


@pytest.mark.spec("CRD-158")
async def test_a_grant_that_is_given_back_frees_its_slot_and_marks_nothing(
    client: CredentialsClient, servicer: Credentials
) -> None:
    grant = await client.select(action(), (BINDING,), RECORD, ())
    assert grant is not None
    client.give_back(action(), grant)
    await until(lambda: bool(servicer.reports))
    (report,) = servicer.reports
    assert (report.grant_id, report.action_id) == ("g1", "act_1")
    assert report.binding.model_id == BINDING.model_id
    assert report.ended.kind == credentials_pb2.END_KIND_NOT_SENT
    await client.aclose()


async def test_the_watch_renews_snapshots_and_starts_anew_when_its_token_is_too_old(
    channel: Channel, servicer: Credentials, clock: FakeClock
) -> None:
    client = CredentialsClient(channel, clock)
    await client.eligibility(INSTALLATION, ())
    client.start()
    event = credentials_pb2.WatchCredentialsResponse
    servicer.events.put_nowait(event(eligibility=snapshot("v2"), resume_token="t1"))
    await until(lambda: client.is_watching)
    answer = await client.eligibility(INSTALLATION, ())
    assert answer.snapshot is not None
    assert answer.snapshot.version == "v2"
    assert servicer.watches[0].wants_snapshot
    servicer.events.put_nowait(event(resume_token="expired"))
    await until(lambda: clock.sleeper_count == 1)
    assert not client.is_watching
    clock.advance(1.0)
    await until(lambda: len(servicer.watches) == 2)
    assert servicer.watches[1].resume_token == ""
    await client.eligibility(INSTALLATION, ())
    assert len(servicer.questions) == 2
    await client.aclose()


def test_a_snapshot_lapses_without_a_sign_of_life(clock: FakeClock) -> None:
    book = SnapshotBook(clock)
    kept = Snapshot("v1", (ProviderState("p1"),))
    book.answered(INSTALLATION, kept)
    clock.advance(STALE_AFTER_S)
    assert book.fresh(INSTALLATION) == kept
    clock.advance(1)
    assert book.fresh(INSTALLATION) is None
    assert book.held(INSTALLATION) is None
    book.is_watched()
    assert book.fresh(INSTALLATION) == kept


def test_a_snapshot_is_asked_for_again_before_credentials_forget_who_asked(
    clock: FakeClock,
) -> None:
    book = SnapshotBook(clock)
    kept = Snapshot("v1", (ProviderState("p1"),))
    book.answered(INSTALLATION, kept)
    for _ in range(int(ASK_AGAIN_AFTER_S / 15) + 1):
        clock.advance(15)
        book.is_watched()
    assert book.fresh(INSTALLATION) is None
    assert book.held(INSTALLATION) == kept
    assert book.answered(INSTALLATION, None) == kept
    assert book.fresh(INSTALLATION) == kept


# ---------------------------------------------------------------------------------------- dispatch


@pytest.fixture
def dispatcher() -> Dispatcher:
    return Dispatcher()  # type: ignore[abstract]  # only what the gateway calls


@pytest.fixture
def returned() -> list[Grant]:
    """Give the grants that were given back."""
    return []


@pytest.fixture
async def dispatch(dispatcher: Dispatcher, serve: Serve, returned: list[Grant]) -> DispatchClient:
    def attach(server: Any) -> None:
        dispatch_pb2_grpc.add_DispatchServiceServicer_to_server(dispatcher, server)

    channel = (await serve(bundle_of("dispatch", attach))).channel("gateway")
    return DispatchClient(channel, lambda _, grant: returned.append(grant))


GRANT = Grant(0, Attribution(), grant_pb2.CredentialGrant(grant_id="g1").SerializeToString())
PLAN = Plan((BINDING,), is_stream_usage_wanted=True, affinity_key="aa")


async def test_an_order_carries_the_plan_and_the_grant_as_it_came(
    dispatch: DispatchClient, dispatcher: Dispatcher
) -> None:
    grant = grant_pb2.CredentialGrant(grant_id="g1", credential_id="c")
    passed = Grant(0, Attribution(), grant.SerializeToString())
    dispatcher.parts = [dispatch_pb2.DispatchResponse(chunk=b"x")]
    answer = dispatch.dispatch(action(), RECORD, PLAN, passed, 5.0)
    assert await answer.read() == b"x"
    assert await answer.read() is None
    order = dispatcher.orders[0]
    assert order.plan.grant == grant
    assert order.plan.first_attempt_number == 1
    assert order.plan.flags.is_stream_usage_wanted
    assert order.plan.affinity_key == "aa"
    assert order.plan.versions.eligibility_id == RECORD.record_id
    assert order.body.body == b'{"model":"m"}'
    assert order.plan.bindings[0].context_window_token_count == 1000


async def test_a_dispatch_without_a_grant_says_nothing_of_one(
    dispatch: DispatchClient, dispatcher: Dispatcher
) -> None:
    answer = dispatch.dispatch(action(), RECORD, PLAN, None, 5.0)
    assert await answer.read() is None
    assert not dispatcher.orders[0].plan.HasField("grant")


@pytest.mark.parametrize(
    ("fault", "reason", "is_peer"),
    [
        (RouterError(Reason.DRAINING, "x"), Reason.ROUTING_UNAVAILABLE, True),
        (RouterError(Reason.SERVER_BUSY, "x"), Reason.SERVER_BUSY, False),
        (RouterError(Reason.TARGET_MISMATCH, "x"), Reason.TARGET_MISMATCH, False),
    ],
)
async def test_faults_of_dispatch_keep_their_reason(
    dispatch: DispatchClient,
    dispatcher: Dispatcher,
    fault: RouterError,
    reason: Reason,
    *,
    is_peer: bool,
) -> None:
    dispatcher.fault = fault
    with pytest.raises(RouterError) as caught:
        await dispatch.dispatch(action(), RECORD, PLAN, None, 5.0).read()
    assert caught.value.reason is reason
    assert isinstance(caught.value, PeerError) is is_peer


@pytest.mark.spec("CRD-158")
async def test_the_grant_of_a_walk_that_dispatch_is_lost_with_is_given_back_once(
    dispatch: DispatchClient, dispatcher: Dispatcher, returned: list[Grant]
) -> None:
    assert await dispatch.dispatch(action(), RECORD, PLAN, GRANT, 5.0).read() is None
    assert not returned
    dispatcher.fault = RouterError(Reason.DRAINING, "x")
    for grant in (GRANT, None):
        with pytest.raises(RouterError):
            await dispatch.dispatch(action(), RECORD, PLAN, grant, 5.0).read()
    assert returned == [GRANT]


async def test_a_walk_over_its_deadline_is_a_peer_that_is_late(
    dispatch: DispatchClient, dispatcher: Dispatcher
) -> None:
    dispatcher.is_endless = True
    with pytest.raises(PeerError, match="out of time"):
        await dispatch.dispatch(action(), RECORD, PLAN, None, 0.05).read()


@pytest.mark.spec("DSP-190")
async def test_a_reader_that_is_cancelled_ends_the_walk(
    dispatch: DispatchClient, dispatcher: Dispatcher
) -> None:
    dispatcher.is_endless = True
    answer = dispatch.dispatch(action(), RECORD, PLAN, None, 20.0)
    reading = asyncio.ensure_future(answer.read())
    await until(lambda: dispatcher.is_running)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await until(lambda: dispatcher.was_cancelled)


async def test_a_walk_that_is_cut_is_told_from_a_reader_that_left(
    dispatch: DispatchClient, dispatcher: Dispatcher
) -> None:
    dispatcher.is_endless = True
    answer = dispatch.dispatch(action(), RECORD, PLAN, None, 20.0)
    reading = asyncio.ensure_future(answer.read())
    await until(lambda: dispatcher.is_running)
    answer.cancel()
    with pytest.raises(RouterError) as caught:
        await reading
    assert caught.value.reason is Reason.DRAINING


async def test_a_count_that_fails_is_none(dispatch: DispatchClient, dispatcher: Dispatcher) -> None:
    assert await dispatch.count_tokens(action(), RECORD, BINDING) == 17
    dispatcher.fault = RouterError(Reason.SERVER_BUSY, "x")
    assert await dispatch.count_tokens(action(), RECORD, BINDING) is None


# ------------------------------------------------------------------------------------------ probes


@pytest.mark.spec("OPS-90")
async def test_a_probe_follows_its_peer_up_and_down(channel: Channel, clock: FakeClock) -> None:
    probe = PeerProbe("credentials", channel, clock)
    assert not probe.is_up
    probe.start()
    await until(lambda: probe.is_up)
    await probe.aclose()


@pytest.mark.spec("OPS-90")
async def test_a_peer_that_is_not_there_is_down(clock: FakeClock) -> None:
    nowhere = connect(
        "127.0.0.1:1", caller="gateway", service="pointsman.dispatch.v1.DispatchService"
    )
    probe = PeerProbe("dispatch", nowhere, clock)
    probe.start()
    await until(lambda: clock.sleeper_count == 1)
    assert not probe.is_up
    await probe.aclose()
    await nowhere.aclose()
