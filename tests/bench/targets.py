"""Targets that are ours or bare: the provider itself and the floors."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from tests.bench.book import FLOOR
from tests.bench.machine import Machine, Program, own_program
from tests.bench.shapes import Entrance, Route, Target

Starter = Callable[[Machine, int], AbstractContextManager[Target]]
"""Runs a target inside `with`, before a provider on that port."""

SAME_FAMILY = {route: Entrance() for route in Route if route is route.same_dialect}
ASKED = 3
"""Scorer, planner and credentials: what an action asks before its stream."""


@contextlib.contextmanager
def running_provider(machine: Machine) -> Iterator[int]:
    """Run the canned provider and give its port."""
    command = own_program("tests.bench.provider")
    with machine.running("provider", command, is_target=False) as program:
        yield program.announced_port()


@contextlib.contextmanager
def direct(machine: Machine, provider_port: int) -> Iterator[Target]:
    """Give the provider itself."""
    yield Target("direct", provider_port, (), SAME_FAMILY)


@contextlib.contextmanager
def proxy(machine: Machine, provider_port: int) -> Iterator[Target]:
    """Run the bare aiohttp reverse proxy."""
    command = own_program("tests.bench.floors", "proxy", str(provider_port))
    with machine.running("proxy", command) as program:
        yield _started("proxy", program, (program.pid,))


@contextlib.contextmanager
def hop(machine: Machine, provider_port: int) -> Iterator[Target]:
    """Run an HTTP edge and one gRPC stream hop behind it."""
    with _edge("edge+hop", machine, provider_port) as target:
        yield target


@contextlib.contextmanager
def hops(machine: Machine, provider_port: int) -> Iterator[Target]:
    """Run an HTTP edge that makes three unary calls of three services before the stream hop."""
    with contextlib.ExitStack() as stack:
        command = own_program("tests.bench.floors", "answer")
        asked = [stack.enter_context(machine.running("answer", command)) for _ in range(ASKED)]
        yield stack.enter_context(_edge(FLOOR, machine, provider_port, asked))


@contextlib.contextmanager
def _edge(
    name: str, machine: Machine, provider_port: int, asked: Sequence[Program] = ()
) -> Iterator[Target]:
    behind = own_program("tests.bench.floors", "hop", str(provider_port))
    with machine.running("hop", behind) as service:
        ports = [str(program.announced_port()) for program in (service, *asked)]
        with machine.running("edge", own_program("tests.bench.floors", "edge", *ports)) as program:
            pids = (program.pid, service.pid, *(other.pid for other in asked))
            yield _started(name, program, pids)


def _started(name: str, program: Program, pids: tuple[int, ...]) -> Target:
    port = program.announced_port()
    seconds = program.first_answer(port, Route.MESSAGES, SAME_FAMILY[Route.MESSAGES])
    return Target(name, port, pids, SAME_FAMILY, seconds)
