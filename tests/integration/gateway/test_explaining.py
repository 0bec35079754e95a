"""``POST /v1/route`` over real HTTP: a decision on a body, and nothing besides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import grpc
import pytest
from pointsman.common.v1 import attempt_pb2
from pointsman.router.v1 import router_pb2, router_pb2_grpc
from pydantic import SecretStr

from gateway.build import Gateway
from gateway.decider import Sources
from gateway.deciding.kinds import Rules
from gateway.eligibility import Policy
from gateway.model import Failed
from gateway.model.decision import PlanAnswer, Strategy
from gateway.model.explained import CredentialPreview
from gateway.remembering import Remembering
from gateway.serving import Deciding
from gateway.sessions.memory import Sessions
from gateway.settings import GatewaySettings
from gateway.showing import Showing
from services.domain.catalog import Catalog, build_catalog
from services.domain.errors import Reason
from services.domain.vocab import FailureClass
from services.runtime import status
from services.runtime.clock import SystemClock
from tests.fakes.deciding import FakeHandover, FakePlanner, FakeScorer
from tests.fakes.explaining import FakePreviews, requested, scored
from tests.fakes.ledger import MemoryLedgerStore, book_in
from tests.fakes.ports import FakeCredentials, FakeDispatch, MemoryKeyStore
from tests.fakes.sessions import MemorySessionStore

KEY = "rk_test_0123456789abcdefghij"
BEARER = (("authorization", f"Bearer {KEY}"),)
BIG, SMALL = "big", "small"
TOOL = {"name": "look", "input_schema": {"type": "object"}}
BODY = {"model": BIG, "max_tokens": 1000, "messages": [{"role": "user", "content": "hello"}]}
CHAT_BODY = {"model": BIG, "messages": [{"role": "user", "content": "hello"}]}


def _row(name: str, tier: str, dollars: float) -> dict[str, object]:
    price = {"input_usd_per_mtok": dollars, "output_usd_per_mtok": 5 * dollars}
    bindings = [{"provider": provider, **price} for provider in ("acme", "globex")]
    return {"id": name, "tier": tier, "context_window": 100_000, "bindings": bindings}


def _catalog() -> Catalog:
    orphan = {**_row("orphan", "low", 1.0), "bindings": []}
    orphan["bindings"] = [
        {"provider": "nowhere", "input_usd_per_mtok": 1.0, "output_usd_per_mtok": 1.0}
    ]
    return build_catalog([{"models": [_row(BIG, "top", 5.0), _row(SMALL, "mid", 1.0), orphan]}])


@dataclass
class Explaining:
    """A gateway that explains, and everything that it must leave alone."""

    folder: Path
    strategy: Strategy
    catalog: Catalog = field(default_factory=_catalog)
    credentials: FakeCredentials = field(default_factory=FakeCredentials)
    dispatch: FakeDispatch = field(default_factory=FakeDispatch)
    ledger: MemoryLedgerStore = field(default_factory=MemoryLedgerStore)
    session_store: MemorySessionStore = field(default_factory=MemorySessionStore)
    previews: FakePreviews = field(default_factory=FakePreviews)
    planner: FakePlanner = field(default_factory=FakePlanner)
    keys: MemoryKeyStore = field(default_factory=MemoryKeyStore)

    async def start(self) -> None:
        clock = SystemClock()
        policy = Policy("cfg", ("acme",), known_providers=("acme", "globex"))
        settings = GatewaySettings(
            listen="127.0.0.1:0",
            rpc_listen="127.0.0.1:0",
            bootstrap_key=SecretStr(KEY),
            max_body_bytes=64 * 1024,
        )
        self.scorer = FakeScorer(self.catalog, [SMALL], {BIG: 0.02, SMALL: 0.2})
        rules = Rules(strategy=self.strategy)
        sources = Sources(self.credentials, policy, self.catalog, clock)
        is_scored = self.strategy is Strategy.CLUSTER
        rehearsal_of = (
            scored(sources, self.scorer, self.planner, rules) if is_scored else requested(sources)
        )
        deciding = Deciding(self.scorer, self.planner, FakeHandover(), rules)
        sessions = Sessions(self.session_store, clock, is_shared=True)
        self.gateway = Gateway(
            settings,
            sources,
            store=self.keys,
            ledger=book_in(self.folder, self.catalog, self.ledger),
            dispatch=self.dispatch,
            remembering=Remembering(self.session_store, sessions),
            deciding=deciding if is_scored else None,
            showing=Showing(sources, settings, self.strategy, rehearsal_of, self.previews),
        )
        await self.gateway.start()
        self.http = aiohttp.ClientSession(
            f"http://127.0.0.1:{self.gateway.port}", headers={"x-router-key": KEY}
        )

    @property
    def rpc_address(self) -> str:
        return f"127.0.0.1:{self.gateway.rpc_port}"

    async def aclose(self) -> None:
        await self.http.close()
        await self.gateway.aclose()

    async def explain(
        self, body: object, query: str = "", headers: Mapping[str, str] | None = None
    ) -> dict[str, object]:
        async with self.http.post(f"/v1/route{query}", json=body, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
            found = await answer.json()
        assert isinstance(found, dict)
        return found

    def assert_nothing_happened(self) -> None:
        assert self.dispatch.orders == []
        assert self.credentials.selections == []
        assert self.session_store.loads == self.session_store.saves == 0
        assert self.ledger.stored == {}


@pytest.fixture(params=list(Strategy), ids=str)
async def running(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Explaining]:
    assert isinstance(request.param, Strategy)
    one = Explaining(tmp_path / "ledger", request.param)
    await one.start()
    yield one
    await one.aclose()


@pytest.fixture
async def scoring(tmp_path: Path) -> AsyncIterator[Explaining]:
    one = Explaining(tmp_path / "ledger", Strategy.CLUSTER)
    await one.start()
    yield one
    await one.aclose()


@pytest.mark.spec("SCO-54", "XLT-17")
async def test_a_body_is_decided_and_nothing_is_sent_selected_or_remembered(
    running: Explaining,
) -> None:
    found = await running.explain(BODY, headers={"x-session-id": "one"})
    await running.explain(BODY, headers={"x-session-id": "one"})
    expected = (BIG, "requested") if running.strategy is Strategy.REQUESTED else (SMALL, "scored")
    assert (found["model"], found["path"]) == expected
    assert found["provider"] == "acme"
    assert found["strategy"] == running.strategy.value
    assert found["plan"] == [
        {"model": expected[0], "provider": "acme"},
        {"model": expected[0], "provider": "globex"},
    ]
    running.assert_nothing_happened()


@pytest.mark.spec("POL-44")
async def test_what_was_removed_is_told_with_its_first_layer(running: Explaining) -> None:
    found = await running.explain(BODY)
    assert found["excluded"] == [{"model": "orphan", "layer": "no_credential"}]


async def test_candidates_are_told_with_risk_and_evidence(scoring: Explaining) -> None:
    found = await scoring.explain(BODY)
    candidates = found["candidates"]
    assert isinstance(candidates, list)
    assert [(each["model"], each["risk"]) for each in candidates[:2]] == [(SMALL, 0.2), (BIG, 0.02)]


async def test_the_credential_that_would_serve_is_named_by_its_fingerprint(
    running: Explaining,
) -> None:
    found = await running.explain(BODY)
    named = {"fingerprint": "abcd1234", "provider": "acme", "denial": None}
    assert found["credential"] == named
    running.previews.answer = CredentialPreview(denial="ALL_CREDENTIALS_COOLING")
    found = await running.explain(BODY)
    cooling = {"fingerprint": None, "provider": None, "denial": "ALL_CREDENTIALS_COOLING"}
    assert found["credential"] == cooling
    running.previews.answer = None
    assert (await running.explain(BODY))["credential"] is None


async def test_a_pin_that_is_assumed_takes_part(scoring: Explaining) -> None:
    scoring.planner.answer = PlanAnswer(is_switch=False, label="value_negative")
    found = await scoring.explain(BODY, f"?pin={BIG}@globex")
    assert (found["model"], found["provider"]) == (BIG, "globex")
    assert (found["path"], found["verdict"]) == ("stay", "stay")
    assert found["pin"] == {"model": BIG, "provider": "globex", "cache": "warm"}
    scoring.planner.answer = PlanAnswer(is_switch=True, label="value_positive")
    found = await scoring.explain(BODY, f"?pin={BIG}@globex")
    assert (found["model"], found["verdict"]) == (SMALL, "switch")
    assert found["reason"] == "switch_value_positive"
    scoring.assert_nothing_happened()


@pytest.mark.parametrize("query", ["", "?surface=openai_chat"])
async def test_a_chat_body_is_read_as_chat(running: Explaining, query: str) -> None:
    found = await running.explain(CHAT_BODY, query)
    assert found["requested_model"] == BIG


@pytest.mark.parametrize(
    ("body", "query"),
    [
        ({"model": BIG, "input": "hello"}, ""),
        ({"model": BIG, "input": "hello"}, "?surface=openai_responses"),
        ({"contents": [{"parts": [{"text": "hello"}]}]}, f"?model={BIG}"),
        ({"contents": [{"parts": [{"text": "hello"}]}]}, f"?surface=gemini&model=models/{BIG}"),
    ],
)
async def test_bodies_of_every_dialect_are_explained(
    running: Explaining, body: dict[str, object], query: str
) -> None:
    found = await running.explain(body, query)
    assert found["requested_model"] == BIG
    running.assert_nothing_happened()


async def test_the_kind_of_action_is_that_of_live_traffic(running: Explaining) -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "42"}
    use = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    messages = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]
    found = await running.explain({**BODY, "tools": [TOOL], "messages": messages})
    assert found["turn_type"] == "tool_result"


@pytest.mark.spec("SCO-54")
@pytest.mark.parametrize(
    ("body", "query", "status"),
    [
        (b"nonsense", "", 400),
        (b"[]", "", 400),
        (b'{"model": "big", "max_tokens": 5, "messages": []}', "?surface=gemini", 400),
        (b'{"model": "big", "max_tokens": 5, "messages": []}', "?pin=big", 400),
        (b'{"model": "big", "x": "' + b"x" * 70_000 + b'"}', "", 413),
    ],
)
async def test_what_cannot_be_read_is_refused_as_on_live_traffic(
    running: Explaining, body: bytes, query: str, status: int
) -> None:
    async with running.http.post(f"/v1/route{query}", data=body) as answer:
        assert answer.status == status
        assert (await answer.json())["error"]["message"]
    running.assert_nothing_happened()


async def test_a_conversation_that_serving_would_compact_is_said_to_be_compacted(
    tmp_path: Path,
) -> None:
    rows = [{**_row(name, "top", 5.0), "context_window": 1_000} for name in (BIG, SMALL)]
    one = Explaining(tmp_path / "ledger", Strategy.CLUSTER, build_catalog([{"models": rows}]))
    await one.start()
    body = {**BODY, "messages": [{"role": "user", "content": "long " * 2_000}]}
    headers = {"x-router-force-model": BIG}
    async with one.http.post("/v1/route", json=body, headers=headers) as answer:
        assert answer.status == 413
        assert "serving compacts it first" in (await answer.json())["error"]["message"]
    one.assert_nothing_happened()
    await one.aclose()


async def test_without_a_key_nothing_is_explained(running: Explaining) -> None:
    headers = {"x-router-key": "rk_somebody_elses_key_0000"}
    async with running.http.post("/v1/route", json=BODY, headers=headers) as answer:
        assert answer.status == 401


async def test_a_model_that_is_not_there_is_404_where_the_client_chooses(tmp_path: Path) -> None:
    one = Explaining(tmp_path / "ledger", Strategy.REQUESTED)
    await one.start()
    async with one.http.post("/v1/route", json={**BODY, "model": "bigg"}) as answer:
        assert answer.status == 404
        assert "did you mean big" in (await answer.json())["error"]["message"]
    await one.aclose()


async def test_a_drain_ends_watches_and_takes_no_more_calls(running: Explaining) -> None:
    async with grpc.aio.insecure_channel(running.rpc_address) as channel:
        stub = router_pb2_grpc.RouterServiceStub(channel)
        watch = stub.WatchDecisions(router_pb2.WatchDecisionsRequest(), metadata=BEARER)
        await watch.read()
        await running.gateway.drain(0.0, 1.0)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await watch.read()
    assert status.error_of(caught.value).reason is Reason.DRAINING


async def test_live_decisions_are_streamed(running: Explaining) -> None:
    async with grpc.aio.insecure_channel(running.rpc_address) as channel:
        stub = router_pb2_grpc.RouterServiceStub(channel)
        watch = stub.WatchDecisions(
            router_pb2.WatchDecisionsRequest(wants_attempts=True), metadata=BEARER
        )
        await watch.read()
        running.dispatch.steps = [Failed(FailureClass.OVERLOADED, attempt_count=1)]
        async with running.http.post("/v1/messages", json=BODY) as answer:
            assert answer.status == 529
            action_id = answer.headers["x-router-action-id"]
        told: list[router_pb2.WatchDecisionsResponse] = []
        async with asyncio.timeout(5):
            while not told or told[-1].WhichOneof("event") != "completed":
                event = await watch.read()
                assert isinstance(event, router_pb2.WatchDecisionsResponse)
                told.append(event)
        watch.cancel()
    assert told[0].decided.action_id == told[-1].completed.action_id == action_id
    assert told[-1].completed.http_status == 529
    assert told[-1].completed.failure_class == attempt_pb2.FAILURE_CLASS_OVERLOADED


@pytest.mark.spec("SCO-56")
async def test_the_models_are_listed_over_http_as_over_grpc(running: Explaining) -> None:
    headers = {"x-router-key": KEY}
    url = "/v1/router/models?is_servable_only=true&page_size=1"
    async with running.http.get(url, headers=headers) as answer:
        first = await answer.json()
    assert [model["model_id"] for model in first["models"]] == [BIG]
    assert first["models"][0]["is_routable"] is True
    assert first["models"][0]["bindings"][0]["price"]["output_micro_usd_per_mtok"] == "25000000"
    url = f"{url}&page_token={first['next_page_token']}"
    async with running.http.get(url, headers=headers) as answer:
        last = await answer.json()
    assert [model["model_id"] for model in last["models"]] == [SMALL]
    assert not last["next_page_token"]
    async with running.http.get("/v1/router/models", headers=headers) as answer:
        every = {model["model_id"]: model for model in (await answer.json())["models"]}
    assert every["orphan"]["is_routable"] is False
    assert every["orphan"]["layer"] == "EXCLUSION_LAYER_NO_CREDENTIAL"


@pytest.mark.spec("SCO-56")
@pytest.mark.parametrize(
    ("query", "field_name"),
    [
        ("page_size=-1", "page_size"),
        ("page_size=many", "page_size"),
        ("is_servable_only=perhaps", "is_servable_only"),
    ],
)
async def test_a_page_of_models_that_cannot_be_asked_for_names_the_field(
    running: Explaining, query: str, field_name: str
) -> None:
    url = f"/v1/router/models?{query}"
    async with running.http.get(url, headers={"x-router-key": KEY}) as answer:
        assert answer.status == 400
        assert field_name in await answer.text()
    headers = {"x-router-key": "rk_somebody_elses_key_0000"}
    async with running.http.get(url, headers=headers) as answer:
        assert answer.status == 401
