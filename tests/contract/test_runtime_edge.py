"""Rules, metadata, log line and metrics of a call are the same on every transport."""

from __future__ import annotations

import asyncio
import contextvars
import re
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import replace
from typing import Any

import prometheus_client
import pytest
import structlog
from pointsman.dispatch.v1 import dispatch_pb2 as pb
from pointsman.dispatch.v1 import dispatch_pb2_grpc as rpc

from services.domain.errors import Reason
from services.runtime import context as call_context
from services.runtime import status
from tests.contract import sample
from tests.contract.sample import SOON_S, Rules, Sample, eventually, failure_of, reason_of
from tests.contract.transports import LOCAL, Serve

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
CANARY = "canary-4711"

Line = MutableMapping[str, Any]  # structlog's own type of a captured line


@pytest.fixture
def lines() -> Iterator[list[Line]]:
    with structlog.testing.capture_logs() as captured:
        yield captured


@pytest.fixture
def action() -> Iterator[None]:
    """Bind what a running action carries, and things that must stay at home."""
    pairs = (("traceparent", f"00-{TRACE}-{PARENT}-01"), ("x-action-id", "a1"))
    token = call_context.current.set(pairs)
    yield
    call_context.current.reset(token)


async def only_line(lines: list[Line]) -> Line:
    """Return the one line about a call; it is written after the caller has its answer."""

    async def is_written() -> bool:
        return any(line["event"] == "rpc" for line in lines)

    await eventually(is_written)
    (line,) = [line for line in lines if line["event"] == "rpc"]
    return line


async def test_only_callers_on_the_list_are_served(serve: Serve) -> None:
    rules = Rules(allowed_callers={sample.UNARY: frozenset({"handover"})})
    served = await serve(sample.bundle(Sample(), rules))
    allowed = rpc.DispatchServiceStub(served.channel("handover"))
    await allowed.ListUpstreamModels(sample.request(), timeout=SOON_S)
    refused = rpc.DispatchServiceStub(served.channel("gateway"))
    error = status.error_of(
        await failure_of(refused.ListUpstreamModels(sample.request(), timeout=SOON_S))
    )
    assert error.reason is Reason.CALLER_NOT_ALLOWED
    assert error.metadata == {"method": "ListUpstreamModels", "caller": "gateway"}
    assert "x-caller-service" in error.message
    open_to_all = refused.Dispatch(pb.DispatchRequest(), timeout=SOON_S)
    assert len([part async for part in open_to_all]) == 3


async def test_callers_of_this_machine_may_send_secrets_in_the_clear(serve: Serve) -> None:
    rules = Rules(secret_methods=frozenset({sample.UNARY}))
    served = await serve(sample.bundle(Sample(), rules))
    stub = rpc.DispatchServiceStub(served.channel())
    await stub.ListUpstreamModels(sample.request(), timeout=SOON_S)


async def test_calls_above_the_limit_are_told_to_come_back(serve: Serve) -> None:
    entered, leave = asyncio.Event(), asyncio.Event()

    async def wait(_: sample.Request, __: sample.UnaryContext) -> sample.Response:
        entered.set()
        await leave.wait()
        return sample.response()

    served = await serve(sample.bundle(Sample(on_unary=wait)), replace(LOCAL, max_concurrent=1))
    stub = rpc.DispatchServiceStub(served.channel())

    async def ask() -> None:
        await stub.ListUpstreamModels(sample.request(), timeout=SOON_S)

    first = asyncio.ensure_future(ask())
    await entered.wait()
    failure = await failure_of(stub.ListUpstreamModels(sample.request(), timeout=SOON_S))
    error = status.error_of(failure)
    assert error.reason is Reason.SERVER_BUSY
    assert error.retry_after_s == 1.0
    leave.set()
    await first
    await ask()


@pytest.mark.spec("OPS-134")
@pytest.mark.usefixtures("action")
async def test_only_listed_metadata_reaches_the_next_hop(serve: Serve) -> None:
    hops: list[Mapping[str, str]] = []

    async def look(_: sample.Request, __: sample.UnaryContext) -> sample.Response:
        hops.append(dict(call_context.outgoing("dispatch")))
        return sample.response()

    served = await serve(sample.bundle(Sample(on_unary=look)))
    stub = rpc.DispatchServiceStub(served.channel())
    extra = (("x-canary", CANARY), ("authorization", CANARY), ("x-attempt", "2"))
    await stub.ListUpstreamModels(sample.request(), timeout=SOON_S, metadata=extra)
    assert set(hops[0]) == {"x-caller-service", "traceparent", "x-action-id", "x-attempt"}
    assert hops[0]["x-caller-service"] == "dispatch"
    assert hops[0]["x-action-id"] == "a1"
    assert CANARY not in hops[0].values()


@pytest.mark.spec("OPS-134")
@pytest.mark.usefixtures("action")
async def test_each_hop_is_a_child_in_the_same_trace(serve: Serve) -> None:
    seen: list[str] = []

    async def look(_: sample.Request, __: sample.UnaryContext) -> sample.Response:
        seen.append(dict(call_context.current.get())["traceparent"])
        seen.append(dict(call_context.outgoing("dispatch"))["traceparent"])
        return sample.response()

    served = await serve(sample.bundle(Sample(on_unary=look)))
    await rpc.DispatchServiceStub(served.channel()).ListUpstreamModels(
        sample.request(), timeout=SOON_S
    )
    assert all(re.fullmatch(f"00-{TRACE}-[0-9a-f]{{16}}-01", parent) for parent in seen)
    assert len({PARENT, *(parent.split("-")[2] for parent in seen)}) == 3


@pytest.mark.spec("OPS-133")
async def test_each_hop_gets_what_is_left_of_the_time(serve: Serve) -> None:
    left_s: list[float] = []

    async def look(_: sample.Request, context: sample.UnaryContext) -> sample.Response:
        left_s.append(context.time_remaining())
        return sample.response()

    last = rpc.DispatchServiceStub((await serve(sample.bundle(Sample(on_unary=look)))).channel())

    async def pass_on(request: sample.Request, context: sample.UnaryContext) -> sample.Response:
        left_s.append(context.time_remaining())
        return await last.ListUpstreamModels(request, timeout=60)

    first = rpc.DispatchServiceStub(
        (await serve(sample.bundle(Sample(on_unary=pass_on)))).channel()
    )
    await first.ListUpstreamModels(sample.request(), timeout=2)
    assert 2 >= left_s[0] > left_s[1] + 0.01 > 0
    assert call_context.deadline.get() is None


async def test_a_handler_sees_nothing_that_its_caller_bound(serve: Serve) -> None:
    variable = contextvars.ContextVar("of_the_caller", default="nothing")
    variable.set("a secret")
    seen: list[str] = []

    async def look(_: sample.Request, __: sample.UnaryContext) -> sample.Response:
        seen.append(variable.get())
        return sample.response()

    served = await serve(sample.bundle(Sample(on_unary=look)))
    token = variable.set("another secret")
    stub = rpc.DispatchServiceStub(served.channel())
    await stub.ListUpstreamModels(sample.request(), timeout=SOON_S)
    variable.reset(token)
    assert "another secret" not in seen


@pytest.mark.usefixtures("action")
async def test_each_call_leaves_one_line_without_foreign_metadata(
    serve: Serve, lines: list[Line]
) -> None:
    served = await serve(sample.bundle(Sample()))
    stub = rpc.DispatchServiceStub(served.channel())
    extra = (("x-canary", CANARY),)
    await stub.ListUpstreamModels(sample.request(CANARY), timeout=SOON_S, metadata=extra)
    line = await only_line(lines)
    assert (line["method"], line["code"], line["service"]) == (
        "ListUpstreamModels",
        "OK",
        "dispatch",
    )
    assert line["x_action_id"] == "a1"
    assert line["elapsed_ms"] >= 0
    assert CANARY not in str(line)


async def test_a_refusal_is_logged_with_its_reason(serve: Serve, lines: list[Line]) -> None:
    served = await serve(sample.bundle(Sample()))
    stub = rpc.DispatchServiceStub(served.channel())
    assert await reason_of(stub.ListUpstreamModels(sample.request())) is Reason.DEADLINE_REQUIRED
    line = await only_line(lines)
    assert (line["code"], line["reason"]) == ("INVALID_ARGUMENT", "DEADLINE_REQUIRED")


def handled(code: str) -> float:
    labels = {"method": "ListUpstreamModels", "code": code}
    name = "pointsman_rpc_handled_total"
    return prometheus_client.REGISTRY.get_sample_value(name, labels) or 0.0


def in_flight() -> float:
    labels = {"method": "ListUpstreamModels"}
    found = prometheus_client.REGISTRY.get_sample_value("pointsman_rpc_in_flight", labels)
    return found or 0.0


async def test_calls_are_counted_by_how_they_ended(serve: Serve) -> None:
    entered = asyncio.Event()

    async def wait(request: sample.Request, _: sample.UnaryContext) -> sample.Response:
        if request.page_token:
            entered.set()
            await asyncio.Event().wait()
        return sample.response()

    served = await serve(sample.bundle(Sample(on_unary=wait)))
    stub = rpc.DispatchServiceStub(served.channel())
    before = {code: handled(code) for code in ("OK", "DEADLINE_EXCEEDED", "CANCELLED")}
    await stub.ListUpstreamModels(sample.request(), timeout=SOON_S)
    await failure_of(stub.ListUpstreamModels(sample.request("wait"), timeout=0.2))
    entered.clear()
    call = stub.ListUpstreamModels(sample.request("wait"), timeout=SOON_S)
    await entered.wait()
    call.cancel()

    async def all_have_ended() -> bool:
        return in_flight() == 0

    await eventually(all_have_ended)
    assert {code: handled(code) - count for code, count in before.items()} == dict.fromkeys(
        before, 1
    )
