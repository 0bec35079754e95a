"""What an action leaves behind: one log line and some counts, and nothing of what was said."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence

import orjson
import prometheus_client
import pytest
import structlog

from gateway.model import AttemptStarted, Failed
from services.domain.vocab import FailureClass, WireFamily
from tests.fakes.ports import Step
from tests.integration.gateway.conftest import KEY, Stack, head, tail
from tests.integration.gateway.test_answers import A_BODY, MESSAGES
from tests.integration.gateway.test_streams import A_END, A_START, eventually

STARTED = AttemptStarted(1, "acme", "claude-large")
STREAMED: Sequence[Step] = [STARTED, head(WireFamily.ANTHROPIC), A_START, A_END, tail()]
WHOLE: Sequence[Step] = [STARTED, head(WireFamily.ANTHROPIC, is_stream=False), A_BODY, tail()]

Lines = list[MutableMapping[str, object]]


async def _post(stack: Stack, body: object, headers: dict[str, str] | None = None) -> int:
    async with stack.session.post("/v1/messages", json=body, headers=headers) as got:
        await got.read()
        return got.status


def _actions(lines: Lines) -> Lines:
    return [line for line in lines if line["event"] == "action"]


@pytest.mark.spec("TRN-2", "TRN-11")
async def test_a_served_action_is_one_line_with_its_facts(stack: Stack) -> None:
    stack.dispatch.steps = STREAMED
    with structlog.testing.capture_logs() as lines:
        asked = {**MESSAGES, "stream": True, "max_tokens": 1000}
        await _post(stack, asked, {"x-request-id": "mine", "x-app": "eval-cli"})
    (line,) = _actions(lines)
    assert {name: line[name] for name in ("outcome", "status", "attempts", "reason", "stop")} == {
        "outcome": "served",
        "status": 200,
        "attempts": 1,
        "reason": "",
        "stop": "end_turn",
    }
    assert (line["model"], line["provider"], line["request_id"]) == ("claude-large", "acme", "mine")
    assert (line["input_tokens"], line["output_tokens"]) == (7, 3)
    assert (line["client"], line["is_evaluation"]) == ("claude-code", True)
    assert (line["turn_type"], line["step"]) == ("main_loop", "A1_S1")
    assert str(line["action_id"]).startswith("act_")
    ttft_ms, elapsed_ms = line["ttft_ms"], line["elapsed_ms"]
    assert isinstance(ttft_ms, float)
    assert isinstance(elapsed_ms, float)
    assert 0 < ttft_ms <= elapsed_ms


async def test_a_failed_action_names_its_cause(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, Failed(FailureClass.STALL, attempt_count=3)]
    with structlog.testing.capture_logs() as lines:
        assert await _post(stack, MESSAGES) == 504
    (line,) = _actions(lines)
    assert (line["outcome"], line["reason"], line["attempts"]) == ("failed", "stall", 3)


async def test_usage_of_a_client_that_left_comes_from_our_own_tap(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC), A_START, 30.0]
    with structlog.testing.capture_logs() as lines:
        answer = await stack.session.post("/v1/messages", json={**MESSAGES, "stream": True})
        await answer.content.readany()
        answer.close()
        await eventually(lambda: bool(_actions(lines)), 2.0)
    (line,) = _actions(lines)
    assert (line["outcome"], line["input_tokens"]) == ("client_gone", 7)


@pytest.mark.spec("OPS-26")
async def test_no_secret_and_no_word_of_a_request_is_logged(stack: Stack) -> None:
    canary = "CANARY-7f3a"
    body = {
        **MESSAGES,
        "system": f"system {canary}",
        "messages": [{"role": "user", "content": f"user {canary}"}],
        "metadata": {"user_id": canary},
    }
    headers = {
        "x-router-key": KEY,
        "authorization": f"Bearer sk-{canary}",
        "cookie": canary,
        "anthropic-beta": canary,
    }
    failed = Failed(
        FailureClass.REJECTED,
        upstream_status=400,
        body=orjson.dumps({"error": {"message": canary}}),
        wire_family=WireFamily.OPENAI_CHAT,
    )
    with structlog.testing.capture_logs() as lines:
        scripts: list[Sequence[Step]] = [WHOLE, STREAMED, [STARTED, failed], [0.0]]
        for steps in scripts:
            stack.dispatch.steps = steps
            await _post(stack, body, headers)
        await _post(stack, {**body, "model": "unknown"}, headers)
        await _post(stack, [canary], headers)
        await _post(stack, body, {"x-router-key": f"rk_{canary}"})
    assert len(lines) >= 7
    assert canary not in repr(lines)
    assert KEY not in repr(lines)


@pytest.mark.spec("OPS-85")
async def test_names_that_clients_make_up_never_become_labels(stack: Stack) -> None:
    def series() -> int:
        text = prometheus_client.generate_latest().decode()
        return sum(line.startswith("pointsman_") for line in text.splitlines())

    stack.dispatch.steps = [
        STARTED,
        head(WireFamily.ANTHROPIC, is_stream=False),
        A_BODY,
        tail(),
    ]
    await _post(stack, MESSAGES)
    await _post(stack, {**MESSAGES, "model": "junk"})
    async with stack.session.get("/junk") as got:
        assert got.status == 404
    before = series()
    for number in range(50):
        await _post(stack, {**MESSAGES, "model": f"junk-{number}"})
        async with stack.session.get(f"/junk-{number}") as got:
            assert got.status == 404
    assert series() == before
