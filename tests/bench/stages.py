"""Calls of one deciding service as a program: an order on standard input, its figures on standard
output.

The calls go over loopback, one after the other, through the channel that the gateway has.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

import orjson
import uvloop
from pointsman.common.v1 import action_pb2, eligibility_pb2
from pointsman.planner.v1 import planner_pb2_grpc
from pointsman.scorer.v1 import scorer_pb2, scorer_pb2_grpc
from pydantic import TypeAdapter

from services.runtime.channel import Channel, connect
from services.runtime.parts import full_name
from tests.bench.deciding import text_of
from tests.bench.machine import Machine, own_program
from tests.bench.shapes import Stage, StageFigures, StageServer, Target
from tests.bench.stats import summary
from tests.bench.usage import usage_of
from tests.contract import planner_requests

CALL_SECONDS = 5.0
WARMUP_SHARE = 0.25
SPARE_SECONDS = 30.0

Calls = Iterator[Callable[[], Awaitable[object]]]


@dataclass(frozen=True, slots=True)
class StageOrder:
    """What the program is told."""

    target: str
    stage: Stage
    server: StageServer
    seconds: float


def measure(machine: Machine, targets: Sequence[Target], seconds: float) -> list[StageFigures]:
    """Return what the stages of all targets came to."""
    found = []
    for target in targets:
        for stage, server in target.stages.items():
            order = orjson.dumps(StageOrder(target.name, stage, server, seconds))
            limit = 2 * seconds + SPARE_SECONDS
            answer = machine.complete(own_program("tests.bench.stages"), order, limit)
            found.append(TypeAdapter(StageFigures).validate_json(answer))
    return found


async def figures_of(order: StageOrder) -> StageFigures:
    """Return what the calls came to, after some that do not count."""
    name = order.stage.part
    address = f"dns:///127.0.0.1:{order.server.port}"
    async with connect(address, caller="gateway", service=full_name(name)) as channel:
        await channel.channel_ready()
        calls = _plans(channel) if order.stage is Stage.PLAN else _scores(channel, order.stage)
        await _timed(calls, order.seconds * WARMUP_SHARE)
        used = usage_of((order.server.pid,)).cpu_seconds
        latencies = await _timed(calls, order.seconds)
        used = usage_of((order.server.pid,)).cpu_seconds - used
    return StageFigures(order.target, order.stage, summary(latencies), used)


async def _timed(calls: Calls, seconds: float) -> list[float]:
    latencies: list[float] = []
    end = time.perf_counter() + seconds
    while (began := time.perf_counter()) < end:
        await next(calls)()
        latencies.append((time.perf_counter() - began) * 1e3)
    return latencies


def _plans(channel: Channel) -> Calls:
    stub = planner_pb2_grpc.PlannerServiceStub(channel)
    request = planner_requests.request()
    while True:
        yield lambda: stub.PlanAction(request, timeout=CALL_SECONDS)


def _scores(channel: Channel, stage: Stage) -> Calls:
    stub = scorer_pb2_grpc.ScorerServiceStub(channel)
    number = time.time_ns()
    while True:
        number += stage is Stage.SCORE
        request = _score_request(f"{number:x}")
        yield lambda request=request: stub.Score(request, timeout=CALL_SECONDS)  # type: ignore[misc]  # bound at once


def _score_request(mark: str) -> scorer_pb2.ScoreRequest:
    return scorer_pb2.ScoreRequest(
        action=action_pb2.ActionContext(
            action_id="bench", installation_id="bench", session_key=bytes(16)
        ),
        features=action_pb2.RequestFeatures(input_token_count=1_000),
        eligibility=eligibility_pb2.EligibilityRecord(
            record_id="bench", installation_id="bench", config_version="bench"
        ),
        prompt=scorer_pb2.PromptText(text=text_of(1, mark)),
        strategy="cluster",
        mode=scorer_pb2.SCORE_MODE_ACTING,
    )


def main() -> None:
    """Read one order, carry it out, print its figures."""
    order = TypeAdapter(StageOrder).validate_json(sys.stdin.buffer.read())
    print(orjson.dumps(uvloop.run(figures_of(order))).decode())


if __name__ == "__main__":
    main()
