"""The loads of a run and their order.

Targets take turns inside each case, and cases inside each round, so that a slow spell of the
machine meets all targets alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import orjson
from pydantic import TypeAdapter

from tests.bench.canned import request_body, terminal_of
from tests.bench.deciding import question_of
from tests.bench.machine import Machine
from tests.bench.shapes import (
    Case,
    Dialect,
    LoadFigures,
    LoadOrder,
    Measurement,
    Mode,
    Route,
    Shape,
    Target,
)

SPARE_SECONDS = 60.0
_NEWER_ROUTES = tuple(
    route for route in Route if {route.client, route.provider} & {Dialect.RESPONSES, Dialect.GEMINI}
)
"""Routes that only show what a chunk costs."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    seconds: float
    rounds: int
    cases: tuple[Case, ...]
    warmup_seconds: float = 0.5


def full_cases() -> tuple[Case, ...]:
    """Return the cases of a real run."""
    return (
        *_cases(Route.MESSAGES, (1, 16, 64)),
        *_cases(Route.CHAT, (1, 16, 64)),
        *_cases(Route.MESSAGES_TO_CHAT, (1, 16)),
        *_cases(Route.CHAT_TO_MESSAGES, (1, 16)),
        *(case for route in _NEWER_ROUTES for case in _chunk_cases(route)),
        *(Case(Shape.PACED, route, 4) for route in _NEWER_ROUTES),
        *_deciding_cases(Mode.STICKY, Mode.CACHED, Mode.SCORED, Mode.PLANNED),
    )


def quick_cases() -> tuple[Case, ...]:
    """Return fewer cases that fill every sheet."""
    return (
        *_cases(Route.MESSAGES, (1, 16)),
        *_cases(Route.CHAT, (1, 16)),
        *_cases(Route.MESSAGES_TO_CHAT, (1, 16)),
        *_chunk_cases(Route.RESPONSES_TO_GEMINI),
        *_chunk_cases(Route.RESPONSES),
        *_deciding_cases(Mode.PLANNED),
    )


def measure(machine: Machine, targets: Sequence[Target], plan: Plan) -> Iterator[Measurement]:
    """Give each measurement as it is made."""
    for number in range(1, plan.rounds + 1):
        for case in plan.cases:
            for target in targets:
                if target.takes(case):
                    figures = load(machine, target, case, plan.seconds, plan.warmup_seconds)
                    yield Measurement(target.name, case, number, figures)


def warm(machine: Machine, targets: Sequence[Target], plan: Plan) -> None:
    """Load every entrance of every target once, unmeasured: compilers and caches settle first."""
    for target in targets:
        for route, mode in dict.fromkeys((case.route, case.mode) for case in plan.cases):
            case = Case(Shape.WHOLE, route, 16, mode)
            if target.takes(case):
                load(machine, target, case, plan.seconds, 0.0)


def load(
    machine: Machine, target: Target, case: Case, seconds: float, warmup_seconds: float
) -> LoadFigures:
    """Put one load on a target and return what it came to."""
    order = orjson.dumps(_order(target, case, seconds, warmup_seconds))
    limit = seconds + warmup_seconds + SPARE_SECONDS
    answer = machine.generate(order, limit)
    return TypeAdapter(LoadFigures).validate_json(answer)


def _order(target: Target, case: Case, seconds: float, warmup_seconds: float) -> LoadOrder:
    entrance = target.entrances[case.route]
    if case.mode is not Mode.REQUESTED:
        return question_of(case.mode).order(target, case, seconds, warmup_seconds)
    is_stream = case.shape is not Shape.WHOLE
    model = entrance.paced_model if case.shape is Shape.PACED else entrance.model
    return LoadOrder(
        port=target.port,
        path=case.route.client.path(model, is_stream=is_stream),
        headers=entrance.headers,
        body=request_body(case.route, model, is_stream=is_stream),
        terminal=terminal_of(case.route) if is_stream else "",
        clients=case.clients,
        seconds=seconds,
        warmup_seconds=warmup_seconds,
        pids=target.pids,
    )


def _cases(route: Route, clients: tuple[int, ...]) -> tuple[Case, ...]:
    return (
        *(Case(Shape.WHOLE, route, count) for count in clients),
        *(Case(Shape.BURST, route, count) for count in (1, 16)),
        Case(Shape.PACED, route, 4),
    )


def _chunk_cases(route: Route) -> tuple[Case, ...]:
    return (Case(Shape.WHOLE, route, 16), Case(Shape.BURST, route, 16))


def _deciding_cases(*modes: Mode) -> tuple[Case, ...]:
    return tuple(
        Case(Shape.WHOLE, Route.MESSAGES, count, mode) for mode in modes for count in (1, 16)
    )
