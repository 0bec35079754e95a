"""The loop under the strategy `cluster`, over real HTTP, with scripted services behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson
import pytest
from structlog.testing import capture_logs

from gateway.deciding.kinds import Rules
from gateway.model import BindingRef, Head, Snapshot, Tail
from gateway.model.action import Knobs
from gateway.model.decision import PlanAnswer, Strategy, SummaryAnswer, SummaryMode
from gateway.model.record import AttemptOutcome, AttemptRecord
from gateway.remembering import Remembering
from gateway.serving import Deciding
from gateway.sessions.memory import Sessions
from gateway.sessions.model import CacheState, Session
from gateway.thread import address_of
from services.domain.catalog import Catalog, build_catalog
from services.domain.errors import Reason, RouterError
from services.domain.vocab import ModelTier, WireFamily
from services.domain.wire.model import StopReason, Usage
from services.runtime.clock import SystemClock
from tests.fakes.deciding import FakeHandover, FakePlanner, FakeScorer, ServingDispatch
from tests.fakes.sessions import MemorySessionStore
from tests.integration.gateway.conftest import Stack
from tests.integration.gateway.test_streams import A_END, A_START

BIG, SMALL = "big", "small"
LONG = "word " * 8000
"""About 10,000 tokens."""


def _row(name: str, tier: str, dollars: float) -> dict[str, object]:
    price = {"input_usd_per_mtok": dollars, "output_usd_per_mtok": 5 * dollars}
    bindings = [{"provider": provider, **price} for provider in ("acme", "globex")]
    return {"id": name, "tier": tier, "context_window": 100_000, "bindings": bindings}


def _catalog() -> Catalog:
    return build_catalog([{"models": [_row(BIG, "top", 5.0), _row(SMALL, "mid", 1.0)]}])


@dataclass
class Routed:
    """A gateway that decides, and what it asks."""

    folder: Path
    rules: Rules = field(default_factory=lambda: Rules(strategy=Strategy.CLUSTER))
    planner: FakePlanner = field(default_factory=FakePlanner)
    handover: FakeHandover = field(default_factory=FakeHandover)
    dispatch: ServingDispatch = field(default_factory=ServingDispatch)
    store: MemorySessionStore = field(default_factory=MemorySessionStore)
    catalog: Catalog = field(default_factory=_catalog)

    def __post_init__(self) -> None:
        self.scorer = FakeScorer(self.catalog, [BIG], {BIG: 0.02, SMALL: 0.2})
        self.sessions = Sessions(self.store, SystemClock(), is_shared=False)
        self.stack = Stack(
            self.folder,
            dispatch=self.dispatch,
            catalog=self.catalog,
            deciding=Deciding(self.scorer, self.planner, self.handover, self.rules),
            remembering=Remembering(self.store, self.sessions),
        )

    async def ask(
        self,
        messages: list[dict[str, object]] | None = None,
        headers: Mapping[str, str] | None = None,
        **members: object,
    ) -> tuple[int, Mapping[str, str], bytes]:
        body = {
            "model": BIG,
            "max_tokens": 1000,
            "messages": messages or [{"role": "user", "content": "hello"}],
            **members,
        }
        async with self.stack.session.post("/v1/messages", json=body, headers=headers) as answer:
            return answer.status, answer.headers, await answer.read()

    async def decision(self, **members: object) -> str:
        status, headers, _ = await self.ask(**members)  # type: ignore[arg-type]  # passed on
        assert status == 200
        return headers["x-router-decision"]

    async def session(self) -> Session:
        """Return the one session, once it is stored."""
        for _ in range(100):
            if self.store.rows and next(iter(self.store.rows.values())).uses:
                break
            await asyncio.sleep(0.01)
        (session,) = self.store.rows.values()
        return session

    def order_body(self, index: int = -1) -> object:
        return orjson.loads(self.dispatch.orders[index].action.body)


@pytest.fixture
async def routed(tmp_path: Path) -> AsyncIterator[Routed]:
    running = Routed(tmp_path / "ledger")
    await running.stack.start()
    yield running
    await running.stack.aclose()


def _turns(count: int) -> list[dict[str, object]]:
    """Return a history of so many rounds and the next user message."""
    rounds: list[dict[str, object]] = []
    for number in range(count):
        rounds.append({"role": "user", "content": f"question {number}" if number else LONG})
        rounds.append({"role": "assistant", "content": "an answer"})
    return [*rounds, {"role": "user", "content": "go on"}]


async def _pinned(routed: Routed, model: str = BIG) -> None:
    """Serve the first action of a conversation by ``model``, with a warm cache."""
    routed.scorer.picks = [model]
    routed.dispatch.usage = Usage(fresh_input=10, cache_read=0, cache_write=9_000, output=50)
    await routed.ask(_turns(1))


@pytest.mark.spec("TRN-1", "TRN-48")
async def test_a_first_action_is_scored_and_pins_its_session(routed: Routed) -> None:
    status, headers, _ = await routed.ask()
    assert status == 200
    assert headers["x-router-decision"] == "cluster:big"
    assert headers["x-router-model"] == BIG
    assert routed.planner.asked == []
    session = await routed.session()
    assert session.pin is not None
    assert session.pin.choice.model_id == BIG
    assert session.pin.choice.paired_model_id == SMALL
    assert session.last_served_model == BIG
    assert session.risks.action_count == 1


async def test_any_name_of_a_model_is_routed(routed: Routed) -> None:
    assert await routed.decision(model="whatever-1") == "cluster:big"


async def test_the_pinned_model_stays_where_the_scorer_picks_it_again(routed: Routed) -> None:
    await _pinned(routed)
    assert await routed.decision(messages=_turns(2)) == "stay_same_model"
    assert routed.planner.asked == []


@pytest.mark.spec("TRN-79")
async def test_a_callers_knobs_go_to_the_scorer_and_bad_ones_are_400(routed: Routed) -> None:
    turned = {"x-router-routing-alpha": "0.9", "x-router-routing-expected-output-tokens": "50"}
    assert await routed.decision(headers=turned) == "cluster:big"
    asked = routed.dispatch.orders[-1].action
    assert asked.caller.knobs == Knobs(alpha=0.9, expected_output_tokens=50)
    routed.scorer.asked.clear()
    status, _, body = await routed.ask(headers={"x-router-routing-alpha": "1.5"})
    error = orjson.loads(body)["error"]
    assert (status, error["type"]) == (400, "invalid_request_error")
    assert "x-router-routing-alpha must be a number from 0 to 1" in error["message"]
    assert routed.scorer.asked == []
    at_odds = RouterError(Reason.INVALID_ROUTING_KNOBS, "alpha and speed are more than 1")
    routed.scorer.refusal = at_odds
    status, _, body = await routed.ask(headers=turned)
    assert status == 400
    assert at_odds.message in orjson.loads(body)["error"]["message"]


@pytest.mark.spec("TRN-55", "PLN-31")
async def test_another_pick_is_put_to_the_planner_with_exact_counts(routed: Routed) -> None:
    await _pinned(routed)
    routed.scorer.picks = [SMALL]
    routed.planner.answer = PlanAnswer(is_switch=False, label="value_negative")
    assert await routed.decision(messages=_turns(2)) == "stay_value_negative"
    (question,) = routed.planner.asked
    assert question.pin.binding.model_id == BIG
    assert question.fresh.binding.model_id == SMALL
    assert question.has_completed_action
    assert question.pin_cache is CacheState.WARM
    assert question.prefix_tokens == 9_000
    assert question.output_tokens == 50
    assert question.input_tokens >= 9_010
    assert (question.pin.risk, question.fresh.risk) == (0.02, 0.2)
    assert question.fresh.mean_risk == pytest.approx(0.2)
    assert [row.model_id for row in question.prices] == [BIG, BIG, SMALL, SMALL]
    assert routed.dispatch.served == [BIG, BIG]


@pytest.mark.spec("PLN-32")
async def test_a_switch_serves_the_pick_and_pins_it(routed: Routed) -> None:
    await _pinned(routed)
    routed.scorer.picks = [SMALL]
    routed.planner.answer = PlanAnswer(is_switch=True, label="value_positive")
    assert await routed.decision(messages=_turns(2)) == "switch_value_positive"
    assert routed.dispatch.served == [BIG, SMALL]
    order = routed.dispatch.orders[-1]
    assert order.plan.is_model_switched
    assert not order.action.is_rewritten
    assert routed.handover.asked == []
    session = await routed.session()
    assert session.has_ever_switched


@pytest.mark.spec("PLN-45")
async def test_the_line_of_an_action_holds_verdict_and_costs(routed: Routed) -> None:
    await _pinned(routed)
    routed.scorer.picks = [SMALL]
    routed.planner.answer = PlanAnswer(False, "value_negative", facts={"planner_value_micros": -7})
    routed.dispatch.usage = Usage(fresh_input=20, cache_read=9_000, cache_write=0, output=50)
    with capture_logs() as lines:
        await routed.ask(_turns(2))
    (line,) = [each for each in lines if each["event"] == "action"]
    assert line["planner_value_micros"] == -7
    assert line["billed_micros"] == 20 * 5 + 9_000 * 5 // 2 + 50 * 25
    assert line["believed_input_micros"] == pytest.approx(line["billed_input_micros"], rel=0.05)


@pytest.mark.spec("TRN-92")
async def test_without_the_planner_the_pin_is_kept(routed: Routed) -> None:
    await _pinned(routed)
    routed.scorer.picks = [SMALL]
    routed.planner.answer = None
    assert await routed.decision(messages=_turns(2)) == "planner_unavailable_pin"
    assert routed.dispatch.served == [BIG, BIG]


async def test_without_the_scorer_pinned_sessions_serve_and_others_wait(routed: Routed) -> None:
    await _pinned(routed)
    routed.scorer.is_away = True
    assert await routed.decision(messages=_turns(2)) == "scorer_unavailable_pin"
    status, headers, _ = await routed.ask([{"role": "user", "content": "somebody else"}])
    assert status == 503
    assert headers["retry-after"] == "1"


@pytest.mark.spec("TRN-50", "TRN-52")
async def test_a_pin_for_a_model_that_is_gone_is_decided_anew(
    routed: Routed, tmp_path: Path
) -> None:
    routed.scorer.picks = [BIG]
    await routed.ask(_turns(1), model=SMALL)
    assert (await routed.session()).last_served_model == BIG
    smaller = build_catalog([{"models": [_row(SMALL, "mid", 1.0)]}])
    restarted = Routed(tmp_path / "ledger of the next", store=routed.store, catalog=smaller)
    restarted.scorer.picks = [SMALL]
    restarted.stack.store = routed.stack.store
    await restarted.stack.start()
    assert await restarted.decision(messages=_turns(2), model=SMALL) == "cluster:small"
    assert restarted.planner.asked == []
    assert restarted.dispatch.orders[-1].plan.is_model_switched
    await restarted.stack.aclose()


@pytest.mark.spec("TRN-25", "TRN-29", "PLN-34")
async def test_probes_and_titles_take_the_fastest_model_and_leave_no_pin(routed: Routed) -> None:
    routed.scorer.fastest_model = SMALL
    assert await routed.decision(max_tokens=1) == "hard_pin_probe"
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    title = {"format": {"type": "json_schema", "schema": schema}}
    assert await routed.decision(output_config=title) == "hard_pin_title_gen"
    assert routed.dispatch.served == [SMALL, SMALL]
    assert routed.scorer.asked == []
    assert routed.planner.asked == []
    assert routed.store.rows == {}
    assert routed.dispatch.orders[0].plan.is_hard_pinned


@pytest.mark.spec("TRN-25")
async def test_without_the_scorer_a_probe_takes_the_cheapest_model(routed: Routed) -> None:
    routed.scorer.is_away = True
    assert await routed.decision(max_tokens=1) == "hard_pin_probe"
    assert routed.dispatch.served == [SMALL]


@pytest.mark.spec("TRN-26")
async def test_a_probe_that_nothing_may_serve_is_told_what_to_do(routed: Routed) -> None:
    routed.stack.credentials.snapshot = Snapshot("v1", ())
    status, headers, body = await routed.ask(max_tokens=1)
    assert status == 400
    assert "retry-after" not in headers
    assert b"has a credential" in body


@pytest.mark.spec("TRN-30", "PLN-34")
async def test_a_classifier_is_scored_without_a_pin(routed: Routed) -> None:
    assert await routed.decision(max_tokens=64) == "cluster:big"
    assert routed.planner.asked == []
    assert routed.store.rows == {}


@pytest.mark.spec("PLN-34")
async def test_a_forced_model_asks_neither_scorer_nor_planner(routed: Routed) -> None:
    forced = {"x-router-force-model": SMALL}
    assert await routed.decision(headers=forced) == "forced"
    assert routed.scorer.asked == []
    assert routed.planner.asked == []
    assert routed.dispatch.served == [SMALL]


@pytest.mark.spec("TRN-55")
async def test_tool_results_stay_on_the_pin_where_they_are_not_scored(tmp_path: Path) -> None:
    routed = Routed(
        tmp_path / "ledger",
        rules=Rules(strategy=Strategy.CLUSTER, is_tool_result_scored=False),
    )
    await routed.stack.start()
    await _pinned(routed)
    routed.scorer.asked.clear()
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "42"}
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    messages = [
        *_turns(1),
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]
    assert await routed.decision(messages=messages) == "sticky"
    assert routed.scorer.asked == []
    await routed.stack.aclose()


@pytest.mark.spec("TRN-60", "PLN-33")
async def test_a_history_that_the_client_cut_has_no_warm_prefix(routed: Routed) -> None:
    await _pinned(routed)
    await routed.ask(_turns(8))
    routed.scorer.picks = [SMALL]
    routed.planner.answer = PlanAnswer(True, label="value_positive", is_summary_chosen=True)
    await routed.ask(_turns(2))
    assert routed.handover.asked == []
    (question,) = routed.planner.asked
    assert question.prefix_tokens == 0
    assert question.pin_cache is CacheState.BROKEN
    assert question.offer is None


@pytest.mark.spec("TRN-53")
async def test_a_model_that_hit_its_output_limit_is_passed_over_once(routed: Routed) -> None:
    routed.dispatch.stop = StopReason.MAX_TOKENS
    await _pinned(routed)
    assert await routed.decision(messages=_turns(2)) == "cluster:big"
    assert routed.dispatch.served == [BIG, SMALL]


SUMMARY_BODY = orjson.dumps(
    {
        "model": BIG,
        "max_tokens": 1000,
        "messages": [{"role": "user", "content": "summary, then: go on"}],
    }
)
STORED = b"a summary to use again"


def _summarized(outcome: str = "summarized") -> SummaryAnswer:
    record = AttemptRecord(
        1, BindingRef(SMALL, "acme", SMALL, 0), AttemptOutcome.SERVED, usage=Usage(500, output=30)
    )
    is_new = outcome == "summarized"
    return SummaryAnswer(
        outcome, SUMMARY_BODY, STORED if is_new else b"", (record,) if is_new else ()
    )


async def _switched(routed: Routed) -> None:
    await _pinned(routed)
    routed.scorer.picks = [SMALL]
    routed.planner.answer = PlanAnswer(
        is_switch=True, label="value_positive", is_summary_chosen=True
    )
    await routed.ask(_turns(2))


@pytest.mark.spec("TRN-62", "HND-1", "PLN-32")
async def test_a_switch_puts_the_summary_that_the_planner_chose_before_dispatch(
    routed: Routed,
) -> None:
    routed.handover.answer = _summarized()
    await _switched(routed)
    (question,) = routed.planner.asked
    assert question.offer is not None
    assert question.offer.input_tokens < question.input_tokens
    (asked,) = routed.handover.asked
    assert (asked.from_binding.model_id, asked.to_binding.model_id) == (BIG, SMALL)
    order = routed.dispatch.orders[-1]
    assert order.action.body == SUMMARY_BODY
    assert order.action.is_rewritten
    await routed.stack.gateway.aclose()
    rows = {(row.kind, row.model): row for row in routed.stack.ledger.stored.values()}
    assert rows["switch_summary", SMALL].fresh_input_tokens == 500


@pytest.mark.spec("TRN-62")
@pytest.mark.parametrize("answer", [None, SummaryAnswer("timeout"), SummaryAnswer("empty")])
async def test_a_summary_that_fails_keeps_the_full_history_byte_for_byte(
    routed: Routed, answer: SummaryAnswer | None
) -> None:
    routed.handover.answer = answer
    await _switched(routed)
    order = routed.dispatch.orders[-1]
    assert routed.dispatch.served == [BIG, SMALL]
    assert not order.action.is_rewritten
    assert orjson.loads(order.action.body)["messages"] == _turns(2)


async def test_a_kept_summary_stands_in_every_later_action(routed: Routed) -> None:
    routed.handover.answer = _summarized()
    await _switched(routed)
    routed.handover.answer = _summarized("reused")
    assert await routed.decision(messages=_turns(3)) == "stay_same_model"
    assert routed.handover.asked[-1].stored == STORED
    assert routed.handover.asked[-1].summarizers == ()
    assert routed.dispatch.orders[-1].action.body == SUMMARY_BODY

    routed.handover.answer = SummaryAnswer("not_configured")
    await routed.ask(_turns(4))
    assert not routed.dispatch.orders[-1].action.is_rewritten
    asked = len(routed.handover.asked)
    await routed.ask(_turns(5))
    assert len(routed.handover.asked) == asked


async def test_summaries_can_be_switched_off(tmp_path: Path) -> None:
    rules = Rules(strategy=Strategy.CLUSTER, summary_mode=SummaryMode.NEVER)
    routed = Routed(tmp_path / "ledger", rules=rules)
    await routed.stack.start()
    await _switched(routed)
    assert routed.handover.asked == []
    assert routed.planner.asked[0].offer is None
    await routed.stack.aclose()


async def test_where_no_candidate_is_left_a_model_serves_those_who_name_it(routed: Routed) -> None:
    routed.scorer.refusal = RouterError(Reason.NO_ELIGIBLE_PROVIDER, "no provider may serve")
    assert await routed.decision(model=SMALL) == "requested_unscored"
    assert routed.dispatch.served == [SMALL]
    status, _, _ = await routed.ask(model="whatever-1")
    assert status == 400


async def test_the_session_knows_of_an_answer_before_its_last_frame_goes_out(
    routed: Routed,
) -> None:
    head = Head(
        BindingRef(BIG, "acme", BIG, 0),
        WireFamily.ANTHROPIC,
        200,
        (("content-type", "text/event-stream"),),
        is_stream=True,
        fingerprint="abcd1234",
    )
    routed.dispatch.steps = [head, A_START, A_END, 0.5, Tail(Usage(7, output=3), None)]
    body = {
        "model": BIG,
        "max_tokens": 1000,
        "stream": True,
        "messages": [{"role": "user", "content": "hello"}],
    }
    async with routed.stack.session.post("/v1/messages", json=body) as answer:
        seen = b""
        while b"message_stop" not in seen:
            seen += await answer.content.readany()
        address = address_of(routed.dispatch.orders[0].action, ModelTier.TOP)
        known = await routed.sessions.recall(address)
        assert known.session.last_served_model == BIG
        await answer.read()


@pytest.mark.spec("TRN-46")
async def test_a_client_that_cuts_its_own_history_keeps_what_its_session_learned(
    routed: Routed,
) -> None:
    session = {"x-claude-code-session-id": "5f0c7a4e-0000-4000-8000-00000000000a"}
    routed.scorer.picks = [BIG, SMALL]
    routed.planner.answer = PlanAnswer(is_switch=True, label="value_positive")
    await routed.ask(_turns(8), session)
    await routed.ask(_turns(9), session)
    assert routed.dispatch.served == [BIG, SMALL]
    rewritten: list[dict[str, object]] = [
        {"role": "user", "content": "What was done so far, in short. Go on."}
    ]
    await routed.ask(rewritten, session)
    assert routed.dispatch.orders[-1].plan.is_model_switched


async def test_fifty_actions_of_one_session_at_once_lose_nothing(routed: Routed) -> None:
    await asyncio.gather(*(routed.ask() for _ in range(50)))
    await routed.stack.gateway.aclose()
    (session,) = routed.store.rows.values()
    assert session.pin is not None
    assert session.pin.turn_count == 50
    assert session.risks.action_count == 50


@pytest.mark.spec("POL-16")
async def test_a_model_that_is_not_to_be_picked_serves_only_those_who_name_it(
    tmp_path: Path,
) -> None:
    routed = Routed(tmp_path / "ledger")
    routed.stack.policy = replace(routed.stack.policy, automatic_exclusions=(BIG,))
    await routed.stack.start()
    try:
        picked = await routed.ask()
        forced = await routed.ask(headers={"x-router-force-model": BIG})
    finally:
        await routed.stack.aclose()
    assert (picked[0], picked[1]["x-router-model"]) == (200, SMALL)
    assert (forced[0], forced[1]["x-router-model"]) == (200, BIG)
