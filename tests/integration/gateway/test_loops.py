"""A session whose agent goes round in circles, over real HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.deciding.kinds import Rules
from gateway.model.decision import PlanAnswer, Strategy
from tests.integration.gateway.test_deciding import BIG, SMALL, Routed

RULES = Rules(strategy=Strategy.CLUSTER, is_escalation_on=True, escalation_holdout_percent=0)


@pytest.fixture
async def routed(tmp_path: Path) -> AsyncIterator[Routed]:
    running = Routed(tmp_path / "ledger", rules=RULES)
    running.scorer.picks = [SMALL]
    await running.stack.start()
    yield running
    await running.stack.aclose()


def _circles(count: int) -> list[dict[str, object]]:
    messages: list[dict[str, object]] = [{"role": "user", "content": "fix it"}]
    for number in range(count):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"a": "ls"}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "x"}
        messages += [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
    return messages


async def _decided(routed: Routed, count: int) -> tuple[str, str]:
    status, headers, _ = await routed.ask(_circles(count))
    assert status == 200
    return headers["x-router-model"], headers["x-router-decision"]


@pytest.mark.spec("TRN-84", "TRN-85", "TRN-86")
async def test_a_loop_escalates_once_and_the_stronger_model_stays(routed: Routed) -> None:
    assert await _decided(routed, 4) == (SMALL, "cluster:small")
    assert await _decided(routed, 5) == (BIG, "loop_escalation")
    routed.planner.answer = PlanAnswer(True, "value_positive")
    assert await _decided(routed, 6) == (BIG, "loop_escalation")
    assert routed.planner.asked == []
    session = await routed.session()
    assert session.escalation == "escalated"
    assert session.pin is not None
    assert session.pin.choice.model_id == BIG


@pytest.mark.spec("TRN-86")
async def test_an_escalation_that_may_not_serve_gives_way(routed: Routed) -> None:
    await _decided(routed, 5)
    for provider in ("acme", "globex"):
        assert provider in routed.stack.policy.known_providers
    await routed.stack.aclose()
    routed.stack.policy = type(routed.stack.policy)(
        "cfg", ("acme",), known_providers=("acme", "globex"), excluded_models=frozenset({BIG})
    )
    await routed.stack.start()
    model, decision = await _decided(routed, 6)
    assert model == SMALL
    assert decision != "loop_escalation"


@pytest.mark.spec("TRN-85")
async def test_a_loop_on_a_pin_that_stays_unasked_is_seen_once(tmp_path: Path) -> None:
    routed = Routed(tmp_path / "ledger", rules=Rules(Strategy.CLUSTER, is_tool_result_scored=False))
    routed.scorer.picks = [SMALL]
    await routed.stack.start()
    await _decided(routed, 0)
    assert await _decided(routed, 5) == (SMALL, "sticky")
    assert (await routed.session()).escalation == "disabled"
    await routed.stack.aclose()


NAMED = {"session-id": "11111111-2222-3333-4444-555555555555"}


async def _repeated(routed: Routed, times: int, headers: dict[str, str] | None) -> list[str]:
    answers = [await routed.ask(_circles(1), headers) for _ in range(times)]
    assert {status for status, _, _ in answers} == {200}
    return [told["x-router-decision"] for _, told, _ in answers]


@pytest.mark.spec("TRN-87")
async def test_one_request_again_and_again_is_a_loop_of_a_session_that_has_a_name(
    routed: Routed,
) -> None:
    decisions = await _repeated(routed, 6, NAMED)
    assert decisions[4:] == ["loop_escalation"] * 2
    assert "loop_escalation" not in decisions[:4]


@pytest.mark.spec("TRN-87")
async def test_strangers_who_ask_the_same_are_none(routed: Routed) -> None:
    assert "loop_escalation" not in await _repeated(routed, 8, None)


@pytest.mark.spec("TRN-87")
async def test_nor_is_an_agent_that_gets_on(routed: Routed) -> None:
    messages: list[dict[str, object]] = [{"role": "user", "content": "fix it"}]
    for number in range(8):
        messages += [
            {"role": "assistant", "content": "done"},
            {"role": "user", "content": f"step {number}"},
        ]
        _, headers, _ = await routed.ask(messages, NAMED)
        assert headers["x-router-decision"] != "loop_escalation"
