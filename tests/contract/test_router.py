"""RouterService over every transport: who may ask, decisions, models, and what is streamed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field

import grpc
import pytest
from pointsman.common.v1 import (
    action_pb2,
    attempt_pb2,
    binding_pb2,
    eligibility_pb2,
    info_pb2,
    info_pb2_grpc,
)
from pointsman.dispatch.v1 import dispatch_pb2
from pointsman.planner.v1 import planner_pb2
from pointsman.router.v1 import router_pb2 as pb
from pointsman.router.v1 import router_pb2_grpc as rpc

from gateway.auth import KeyRing
from gateway.codec.explanation import explanation
from gateway.decider import Sources
from gateway.deciding.kinds import Rules
from gateway.eligibility import Policy
from gateway.eligibility.records import Records
from gateway.explaining.explainer import Explainer
from gateway.explaining.explanations import Explanations
from gateway.explaining.listing import Listing
from gateway.explaining.shadow import Shadow
from gateway.feed import Feed
from gateway.keys import key_of
from gateway.model import AttemptFailed, AttemptStarted, BindingRef, InstallationId
from gateway.model.decision import PlanAnswer, Strategy
from gateway.model.record import AttemptOutcome, AttemptRecord, Attribution
from gateway.requests import Intake
from gateway.rpc.callers import Callers
from gateway.rpc.server import FULL_NAME, router_bundle
from gateway.rpc.servicer import Parts
from services.domain.catalog import build_catalog
from services.domain.errors import Reason, RouterError
from services.domain.vocab import FailureClass
from services.runtime import status
from services.runtime.clock import SystemClock
from services.runtime.host import Bundle
from tests.contract.transports import Serve
from tests.fakes.deciding import FakePlanner, FakeScorer
from tests.fakes.explaining import FakePreviews, requested, scored
from tests.fakes.ports import INSTALLATION, FakeCredentials, MemoryKeyStore
from tests.unit.gateway.happenings import a_decision, a_result, an_action, ledger_rows

KEY = "rk_test_0123456789abcdefghij"
OTHER_KEY = "rk_other_123456789abcdefghij"
ADMIN = "admin-token-of-tests"
OTHER_INSTALLATION = InstallationId("5f0c7a4e-0000-4000-8000-000000000002")
SOON_S = 5.0
BODY = b'{"model": "big", "max_tokens": 1000, "messages": [{"role": "user", "content": "hello"}]}'
CHAT_BODY = b'{"model": "big", "messages": [{"role": "user", "content": "hello"}]}'

PAID = Attribution("abcd1234", "api_key")
MISSED = AttemptFailed(
    "acme",
    FailureClass.RATE_LIMITED,
    AttemptRecord(
        7,
        BindingRef("dear", "acme", "dear", 0),
        AttemptOutcome.FAILED,
        PAID,
        cause="hop",
        failure="rate_limited",
        http_status=429,
    ),
    next_step="retry",
    wait_s=2.0,
    retry_after_s=2.0,
    vendor_type="rate_limit_error",
    dropped_feature="top_k",
)

Metadata = tuple[tuple[str, str], ...]


def bearer(token: str) -> Metadata:
    return (("authorization", f"Bearer {token}"),)


MINE = bearer(KEY)


def _row(name: str, tier: str, *providers: str) -> dict[str, object]:
    price = {"input_usd_per_mtok": 1.0, "output_usd_per_mtok": 5.0}
    bindings = [{"provider": provider, **price} for provider in providers]
    return {"id": name, "tier": tier, "context_window": 100_000, "bindings": bindings}


@dataclass
class Rig:
    """RouterService with scripted peers."""

    strategy: Strategy = Strategy.CLUSTER
    sign_of_life_s: float = 15.0
    max_body_bytes: int = 64 * 1024
    credentials: FakeCredentials = field(default_factory=FakeCredentials)
    planner: FakePlanner = field(default_factory=FakePlanner)
    previews: FakePreviews = field(default_factory=FakePreviews)
    has_shadow: bool = False

    async def bundle(self) -> Bundle:
        clock, store = SystemClock(), MemoryKeyStore()
        for token, owner in ((KEY, INSTALLATION), (OTHER_KEY, OTHER_INSTALLATION)):
            await store.add(key_of(token, owner, name="k", now_unix_s=0.0))
        catalog = build_catalog(
            [
                {
                    "models": [
                        _row("big", "top", "acme", "globex"),
                        _row("small", "mid", "acme"),
                        _row("orphan", "low", "nowhere"),
                    ]
                }
            ]
        )
        self.scorer = FakeScorer(catalog, ["small"], {"big": 0.02, "small": 0.2})
        policy = Policy("cfg", ("acme",), known_providers=("acme", "globex"))
        sources = Sources(self.credentials, policy, catalog, clock)
        rehearsal_of = (
            scored(sources, self.scorer, self.planner, Rules(strategy=self.strategy))
            if self.strategy is Strategy.CLUSTER
            else requested(sources)
        )
        shadow_of = scored(sources, self.scorer, self.planner, Rules(strategy=Strategy.CLUSTER))
        keys = KeyRing(store, clock)
        self.feed = Feed(catalog, clock, self.strategy.value)
        self.shadow = Shadow(self.feed, shadow_of, catalog, clock, "cluster")
        explanations = Explanations(
            Explainer(
                rehearsal_of,
                self.previews,
                catalog,
                clock,
                self.strategy.value,
                self.shadow if self.has_shadow else None,
            ),
            Listing(self.credentials, Records(policy, catalog), catalog, clock),
            {"catalog_version": catalog.version, "config_version": "cfg"},
        )
        parts = Parts(
            intake=Intake(keys, clock, self.max_body_bytes),
            callers=Callers(keys, ADMIN),
            explanations=lambda: explanations,
            feed=self.feed,
            sign_of_life_s=self.sign_of_life_s,
        )
        parts.gate.set()
        return router_bundle(parts)


async def stub_of(serve: Serve, rig: Rig) -> rpc.RouterServiceAsyncStub:
    served = await serve(await rig.bundle())
    return rpc.RouterServiceStub(served.channel("somebody"))


def ask(**changes: object) -> pb.RouteRequest:
    facts: dict[str, object] = {"surface": action_pb2.WIRE_FAMILY_ANTHROPIC, "body": BODY}
    return pb.RouteRequest(**{**facts, **changes})  # type: ignore[arg-type]  # facts by name


async def refused(call: Awaitable[object]) -> RouterError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return status.error_of(caught.value)


async def test_a_decision_is_explained(serve: Serve) -> None:
    rig = Rig()
    stub = await stub_of(serve, rig)
    request = ask(wants_explanation=True)
    decision = (await stub.Route(request, metadata=MINE, timeout=SOON_S)).decision
    assert decision.binding.model_id == "small"
    assert decision.path == pb.DECISION_PATH_SCORED
    assert decision.strategy == "cluster"
    assert decision.installation_id == INSTALLATION
    assert decision.turn_type == action_pb2.TURN_TYPE_MAIN_LOOP
    assert [each.binding.provider for each in decision.plan] == ["acme"]
    assert decision.score.candidates[0].binding.model_id == "small"
    assert decision.eligibility.excluded_models[0].model_id == "orphan"
    assert decision.credential.fingerprint == "abcd1234"
    assert decision.verdict == planner_pb2.VERDICT_UNSPECIFIED
    assert decision.versions.catalog_version
    assert rig.credentials.selections == []


async def test_without_an_explanation_the_working_is_left_out(serve: Serve) -> None:
    rig = Rig()
    stub = await stub_of(serve, rig)
    decision = (await stub.Route(ask(), metadata=MINE, timeout=SOON_S)).decision
    assert decision.score.pick.binding.model_id == "small"
    assert not decision.score.candidates
    assert not decision.HasField("eligibility")
    assert not decision.HasField("credential")
    assert rig.previews.asked == []


@pytest.mark.parametrize(
    ("is_switch", "model", "path", "verdict"),
    [
        (False, "big", pb.DECISION_PATH_STAY, planner_pb2.VERDICT_STAY),
        (True, "small", pb.DECISION_PATH_SWITCH, planner_pb2.VERDICT_SWITCH),
    ],
)
async def test_a_pin_lets_the_planner_take_part(
    serve: Serve, is_switch: bool, model: str, path: int, verdict: int
) -> None:
    rig = Rig(planner=FakePlanner(PlanAnswer(is_switch=is_switch, label="value")))
    stub = await stub_of(serve, rig)
    pin = planner_pb2.Pin(
        binding=binding_pb2.BindingRef(model_id="big", provider="globex"),
        has_completed_action=True,
    )
    decision = (await stub.Route(ask(pin=pin), metadata=MINE, timeout=SOON_S)).decision
    assert (decision.binding.model_id, decision.path) == (model, path)
    assert decision.verdict == verdict
    assert decision.pin == pin
    assert len(rig.planner.asked) == 1


async def test_under_requested_the_client_names_the_model(serve: Serve) -> None:
    stub = await stub_of(serve, Rig(Strategy.REQUESTED))
    chat = ask(surface=action_pb2.WIRE_FAMILY_OPENAI_CHAT, body=CHAT_BODY)
    decision = (await stub.Route(chat, metadata=MINE, timeout=SOON_S)).decision
    assert (decision.binding.model_id, decision.path) == ("big", pb.DECISION_PATH_REQUESTED)
    assert not decision.HasField("score")
    unknown = ask(body=BODY.replace(b'"big"', b'"bigg"'))
    fault = await refused(stub.Route(unknown, metadata=MINE, timeout=SOON_S))
    assert fault.reason is Reason.MODEL_NOT_FOUND


@pytest.mark.parametrize("metadata", [(), bearer("rk_nobody_0123456789abcdef"), bearer(ADMIN)])
async def test_only_router_keys_may_ask(serve: Serve, metadata: Metadata) -> None:
    stub = await stub_of(serve, Rig())
    calls: list[Awaitable[object]] = [
        stub.Route(ask(), metadata=metadata, timeout=SOON_S),
        stub.ListModels(pb.ListModelsRequest(), metadata=metadata, timeout=SOON_S),
    ]
    for call in calls:
        assert (await refused(call)).reason is Reason.ROUTER_KEY_INVALID


async def test_a_call_without_a_deadline_is_refused(serve: Serve) -> None:
    stub = await stub_of(serve, Rig())
    fault = await refused(stub.Route(ask(), metadata=MINE))
    assert fault.reason is Reason.DEADLINE_REQUIRED


@pytest.mark.parametrize(
    "request_",
    [
        ask(surface=action_pb2.WIRE_FAMILY_UNSPECIFIED),
        ask(surface=action_pb2.WIRE_FAMILY_GEMINI),
        ask(body=b"nonsense"),
        ask(body=b""),
        ask(pin=planner_pb2.Pin()),
    ],
)
async def test_what_cannot_be_read_is_an_invalid_request(
    serve: Serve, request_: pb.RouteRequest
) -> None:
    stub = await stub_of(serve, Rig())
    fault = await refused(stub.Route(request_, metadata=MINE, timeout=SOON_S))
    assert fault.reason is Reason.INVALID_REQUEST


async def test_a_body_over_the_limit_is_refused(serve: Serve) -> None:
    stub = await stub_of(serve, Rig(max_body_bytes=10))
    fault = await refused(stub.Route(ask(), metadata=MINE, timeout=SOON_S))
    assert fault.reason is Reason.MESSAGE_TOO_LARGE


async def test_models_are_listed_page_by_page(serve: Serve) -> None:
    stub = await stub_of(serve, Rig())
    names, token = [], ""
    while True:
        page = await stub.ListModels(
            pb.ListModelsRequest(page_size=2, page_token=token), metadata=MINE, timeout=SOON_S
        )
        names += [model.model_id for model in page.models]
        token = page.next_page_token
        if not token:
            break
    assert names == ["big", "orphan", "small"]
    orphan = next(
        model
        for model in (
            await stub.ListModels(pb.ListModelsRequest(), metadata=MINE, timeout=SOON_S)
        ).models
        if model.model_id == "orphan"
    )
    assert not orphan.is_routable
    assert orphan.layer == eligibility_pb2.EXCLUSION_LAYER_NO_CREDENTIAL
    gone = pb.ListModelsRequest(page_token="medium")
    page = await stub.ListModels(gone, metadata=MINE, timeout=SOON_S)
    assert [model.model_id for model in page.models] == ["orphan", "small"]
    bad = pb.ListModelsRequest(page_size=-1)
    fault = await refused(stub.ListModels(bad, metadata=MINE, timeout=SOON_S))
    assert fault.reason is Reason.INVALID_REQUEST


async def test_servable_models_are_those_with_a_credential(serve: Serve) -> None:
    stub = await stub_of(serve, Rig())
    request = pb.ListModelsRequest(is_servable_only=True)
    page = await stub.ListModels(request, metadata=MINE, timeout=SOON_S)
    assert [model.model_id for model in page.models] == ["big", "small"]
    assert page.models[0].bindings[0].price.output_micro_usd_per_mtok == 5_000_000


async def test_decisions_are_streamed_as_they_happen(serve: Serve) -> None:
    rig = Rig()
    stub = await stub_of(serve, rig)
    mine = an_action(1, INSTALLATION)
    watch = pb.WatchDecisionsRequest(wants_attempts=True, action_id=mine.id)
    call = stub.WatchDecisions(watch, metadata=MINE)
    told: list[pb.WatchDecisionsResponse] = []
    async with asyncio.timeout(SOON_S):
        async for each in call:
            if not told:
                rig.feed.decided(mine, a_decision(mine))
                rig.feed.began(mine, AttemptStarted(7, "acme", "dear", 0, PAID, "hop", 0.5))
                rig.feed.missed(mine, MISSED)
                rig.feed.settled(ledger_rows(mine))
                rig.feed.completed(mine, a_result(mine))
            told.append(each)
    kinds = [each.WhichOneof("event") for each in told]
    assert kinds[:4] == [None, "decided", "began", "attempted"]
    assert kinds[4:] == ["attempted", "attempted", "completed"]
    began, missed = told[2].began, told[3].attempted
    assert (began.attempt_number, began.binding.provider) == (7, "acme")
    assert began.cause == attempt_pb2.ATTEMPT_CAUSE_HOP
    assert (began.credential.fingerprint, began.wait.ToMilliseconds()) == ("abcd1234", 500)
    assert missed.attempt.failure_class == attempt_pb2.FAILURE_CLASS_RATE_LIMITED
    assert missed.attempt.http_status == 429
    assert missed.next_step == dispatch_pb2.WALK_STEP_RETRY
    assert (missed.wait.seconds, missed.retry_delay.seconds) == (2, 2)
    assert (missed.vendor_type, missed.dropped_feature) == ("rate_limit_error", "top_k")
    failed, served = (each.attempted.attempt for each in told[4:6])
    assert failed.failure_class == attempt_pb2.FAILURE_CLASS_OVERLOADED
    assert served.outcome == attempt_pb2.ATTEMPT_OUTCOME_SERVED
    assert told[1].decided.binding.model_id == "cheap"
    assert told[6].completed.served.model_id == "cheap"
    assert told[6].completed.http_status == 200


@pytest.mark.spec("SCO-54")
@pytest.mark.parametrize(("has_shadow", "is_away"), [(True, False), (True, True), (False, False)])
async def test_an_explanation_says_what_the_shadow_would_pick(
    serve: Serve, *, has_shadow: bool, is_away: bool
) -> None:
    rig = Rig(Strategy.REQUESTED, has_shadow=has_shadow)
    stub = await stub_of(serve, rig)
    rig.scorer.is_away = is_away
    decision = (await stub.Route(ask(), metadata=MINE, timeout=SOON_S)).decision
    assert decision.binding.model_id == "big"
    is_told = has_shadow and not is_away
    assert decision.HasField("shadow") is is_told
    if is_told:
        assert decision.shadow.strategy == "cluster"
        assert decision.shadow.binding.model_id == "small"
        assert decision.shadow.HasField("expected_cost_micro_usd")
    told = explanation(decision)["shadow"]
    assert told is None or isinstance(told, dict)
    assert (told["model"] if told is not None else None) == ("small" if is_told else None)


async def test_shadow_decisions_are_streamed_beside_the_acting_ones(serve: Serve) -> None:
    rig = Rig(Strategy.REQUESTED)
    stub = await stub_of(serve, rig)
    mine = an_action(1, INSTALLATION)
    call = stub.WatchDecisions(pb.WatchDecisionsRequest(), metadata=MINE)
    told: list[pb.WatchDecisionsResponse] = []
    rig.shadow.start()
    try:
        async with asyncio.timeout(SOON_S):
            async for each in call:
                told.append(each)
                if len(told) == 1:
                    rig.shadow.decided(mine, a_decision(mine))
                if len(told) == 3:
                    break
    finally:
        call.cancel()
        await rig.shadow.aclose()
    assert [each.WhichOneof("event") for each in told] == [None, "decided", "shadowed"]
    assert told[1].decided.binding.model_id == "cheap"
    notice = told[2].shadowed
    assert (notice.action_id, notice.installation_id) == (mine.id, INSTALLATION)
    assert notice.shadow.binding.model_id == "small"


@pytest.mark.parametrize(
    ("token", "asked_for", "expected"),
    [
        (KEY, "", [INSTALLATION]),
        (KEY, OTHER_INSTALLATION, [INSTALLATION]),
        (OTHER_KEY, "", [OTHER_INSTALLATION]),
        (ADMIN, "", [INSTALLATION, OTHER_INSTALLATION]),
        (ADMIN, OTHER_INSTALLATION, [OTHER_INSTALLATION]),
    ],
)
async def test_a_key_sees_its_own_installation_and_operators_see_all(
    serve: Serve, token: str, asked_for: str, expected: list[str]
) -> None:
    rig = Rig()
    stub = await stub_of(serve, rig)
    watch = pb.WatchDecisionsRequest(installation_id=asked_for)
    call = stub.WatchDecisions(watch, metadata=bearer(token))
    seen: list[str] = []
    async with asyncio.timeout(SOON_S):
        async for each in call:
            if each.WhichOneof("event") is None:
                for number, owner in enumerate((INSTALLATION, OTHER_INSTALLATION)):
                    one = an_action(number, owner)
                    rig.feed.decided(one, a_decision(one))
                continue
            seen.append(each.decided.installation_id)
            if len(seen) == len(expected):
                break
    call.cancel()
    assert seen == expected


async def test_silence_has_signs_of_life(serve: Serve) -> None:
    stub = await stub_of(serve, Rig(sign_of_life_s=0.02))
    call = stub.WatchDecisions(pb.WatchDecisionsRequest(), metadata=MINE)
    async with asyncio.timeout(SOON_S):
        for _ in range(3):
            told = await call.read()
            assert isinstance(told, pb.WatchDecisionsResponse)
            assert told.WhichOneof("event") is None
    call.cancel()


async def test_a_watch_needs_a_key_and_a_whole_session_key(serve: Serve) -> None:
    stub = await stub_of(serve, Rig())
    for request, metadata, reason in (
        (pb.WatchDecisionsRequest(), (), Reason.ROUTER_KEY_INVALID),
        (pb.WatchDecisionsRequest(session_key=b"short"), MINE, Reason.INVALID_REQUEST),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            async for _ in stub.WatchDecisions(request, metadata=metadata):
                pass
        assert status.error_of(caught.value).reason is reason


async def test_the_server_says_what_it_is(serve: Serve) -> None:
    rig = Rig()
    served = await serve(await rig.bundle())
    stub = info_pb2_grpc.InfoServiceStub(served.channel("somebody"))
    answer = await stub.GetInfo(info_pb2.GetInfoRequest(service=FULL_NAME), timeout=SOON_S)
    assert answer.services[0].config_version == "cfg"
