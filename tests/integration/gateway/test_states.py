"""Opaque state through a client that keeps nothing but ids, over real HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import orjson
import pytest
from prometheus_client import REGISTRY

from gateway.deciding.kinds import Rules
from gateway.eligibility import Policy
from gateway.model import BindingRef, Tail
from gateway.model.decision import Strategy
from gateway.remembering import Remembering
from gateway.serving import Deciding
from gateway.sessions.memory import Sessions
from services.domain.catalog import build_catalog
from services.domain.vocab import WireFamily
from services.domain.wire.features import Requirement
from services.domain.wire.model import StopReason, Usage
from services.domain.wire.state.sealing import MARK
from services.runtime.clock import SystemClock
from tests.fakes.deciding import FakeHandover, FakePlanner, FakeScorer
from tests.fakes.ports import FakeDispatch
from tests.fakes.sessions import MemorySessionStore
from tests.integration.gateway.conftest import Stack, head

PRICES = {"input_usd_per_mtok": 1.0, "output_usd_per_mtok": 1.0}
CATALOG = build_catalog(
    [
        {
            "models": [
                {
                    "id": "signing",
                    "tier": "top",
                    "context_window": 100_000,
                    "signed_tool_history": True,
                    "bindings": [{"provider": "acme", **PRICES}],
                },
                {
                    "id": "mild",
                    "tier": "mid",
                    "context_window": 100_000,
                    "bindings": [{"provider": "globex", **PRICES}],
                },
            ]
        }
    ]
)
POLICY = Policy(
    "cfg",
    ("acme", "globex"),
    families={"acme": WireFamily.GEMINI, "globex": WireFamily.ANTHROPIC},
    known_providers=("acme", "globex"),
)
CALL = {"name": "find", "args": {"q": 7, "odd": 1}, "id": "up-call-0123456789abcdef0123456789"}
PART = {"functionCall": CALL, "thoughtSignature": "c2lnbmF0dXJl" * 20}
CONTENT = {"role": "model", "parts": [PART]}
ANSWER = {
    "candidates": [{"content": CONTENT, "finishReason": "STOP", "index": 0}],
    "responseId": "r",
    "modelVersion": "m",
}
TOOL = {
    "type": "function",
    "function": {
        "name": "find",
        "parameters": {
            "type": "object",
            "properties": {"q": {"type": "string"}},
            "additionalProperties": False,
        },
    },
}
USER = {"role": "user", "content": "go"}


class Running:
    """A gateway that decides, a client, and what goes out."""

    def __init__(self, folder: Path, *, is_deciding: bool = True) -> None:
        self.dispatch = FakeDispatch()
        store = MemorySessionStore()
        sessions = Sessions(store, SystemClock(), is_shared=False)
        self.scorer = FakeScorer(CATALOG, ["signing"])
        rules = Rules(strategy=Strategy.CLUSTER)
        deciding = Deciding(self.scorer, FakePlanner(), FakeHandover(), rules)
        self.stack = Stack(
            folder,
            dispatch=self.dispatch,
            catalog=CATALOG,
            policy=POLICY,
            deciding=deciding if is_deciding else None,
            remembering=Remembering(store, sessions),
        )

    async def ask(
        self, messages: list[object], *, is_stream: bool, model: str = "signing"
    ) -> dict[str, object]:
        """Return the message of an answer to these messages."""
        begun = head(
            WireFamily.GEMINI,
            is_stream=is_stream,
            binding=BindingRef("signing", "acme", "signing", 0),
        )
        told = orjson.dumps(ANSWER)
        sent = b"data: " + told + b"\n\n" if is_stream else told
        self.dispatch.steps = [begun, sent, Tail(Usage(7, output=3), StopReason.TOOL_USE, None)]
        body = {"model": model, "messages": messages, "tools": [TOOL], "stream": is_stream}
        async with self.stack.session.post("/v1/chat/completions", json=body) as answer:
            assert answer.status == 200, await answer.text()
            return await _message(answer, is_stream=is_stream)


async def _message(answer: aiohttp.ClientResponse, *, is_stream: bool) -> dict[str, object]:
    if not is_stream:
        message = orjson.loads(await answer.read())["choices"][0]["message"]
        assert isinstance(message, dict)
        return message
    lines = [line[6:] for line in (await answer.read()).split(b"\n") if line.startswith(b"data: {")]
    deltas = [
        row["choices"][0]["delta"] for line in lines if (row := orjson.loads(line))["choices"]
    ]
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    function = {
        "name": calls[0]["function"]["name"],
        "arguments": "".join(call["function"].get("arguments", "") for call in calls),
    }
    call = {"id": calls[0]["id"], "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@pytest.fixture(params=[True, False], ids=["cluster", "requested"])
async def running(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Running]:
    made = Running(tmp_path / "ledger", is_deciding=request.param)
    await made.stack.start()
    yield made
    await made.stack.aclose()


def _call(message: dict[str, object]) -> dict[str, object]:
    calls = message["tool_calls"]
    assert isinstance(calls, list)
    call = calls[0]
    assert isinstance(call, dict)
    return call


def _issues(issue: str) -> float:
    return (
        REGISTRY.get_sample_value("pointsman_tool_argument_issues_total", {"issue": issue}) or 0.0
    )


@pytest.mark.spec("XLT-156", "XLT-181")
@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_cut_id_finds_its_state_in_the_session(
    running: Running, *, is_stream: bool
) -> None:
    """B-092: the client returns only the first 40 characters of the id."""
    message = await running.ask([USER], is_stream=is_stream)
    call = _call(message)
    assert MARK in str(call["id"])
    call["id"] = str(call["id"])[:40]
    result = {"role": "tool", "tool_call_id": call["id"], "content": "ok"}
    await running.ask([USER, message, result], is_stream=is_stream)
    action = running.dispatch.orders[-1].action
    (restored,) = action.restored
    assert restored.state.payload == PART["thoughtSignature"]
    assert Requirement.SIGNED_TOOL_HISTORY not in action.features.requirements
    assert running.dispatch.orders[-1].plan.bindings[0].model_id == "signing"


@pytest.mark.spec("XLT-156")
async def test_an_unsigned_history_is_served_by_another_model(running: Running) -> None:
    running.scorer.picks = ["mild"]
    call = {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    message: dict[str, object] = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "ok"}
    await running.ask([USER, message, result], is_stream=False, model="mild")
    order = running.dispatch.orders[-1]
    assert Requirement.SIGNED_TOOL_HISTORY in order.action.features.requirements
    assert [row.model_id for row in order.record.requirement_excluded_models] == ["signing"]


@pytest.mark.spec("XLT-159", "XLT-125")
@pytest.mark.parametrize("is_stream", [False, True])
async def test_arguments_are_mended_and_counted(running: Running, *, is_stream: bool) -> None:
    before = _issues("mended")
    message = await running.ask([USER], is_stream=is_stream)
    function = _call(message)["function"]
    assert isinstance(function, dict)
    assert orjson.loads(function["arguments"]) == {"q": "7"}
    assert _issues("mended") == before + 1


@pytest.mark.spec("XLT-156")
async def test_a_model_that_insists_is_refused_where_only_it_is_named(tmp_path: Path) -> None:
    running = Running(tmp_path / "ledger", is_deciding=False)
    await running.stack.start()
    call = {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "ok"}
    body = {"model": "signing", "messages": [USER, message, result]}
    async with running.stack.session.post("/v1/chat/completions", json=body) as answer:
        assert answer.status == 400
        assert "did not sign" in (await answer.json())["error"]["message"]
    assert running.dispatch.orders == []
    await running.stack.aclose()
