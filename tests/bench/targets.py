"""Targets that are ours or bare: the provider itself and the floors."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from tests.bench.machine import Machine, Program, own_program
from tests.bench.shapes import Entrance, Route, Target

Starter = Callable[[Machine, int], AbstractContextManager[Target]]
"""Runs a target inside `with`, before a provider on that port."""

SAME_FAMILY = {route: Entrance() for route in Route if route is route.same_dialect}


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
    behind = own_program("tests.bench.floors", "hop", str(provider_port))
    with machine.running("hop", behind) as service:
        before = own_program("tests.bench.floors", "edge", str(service.announced_port()))
        with machine.running("edge", before) as program:
            yield _started("edge+hop", program, (program.pid, service.pid))


def _started(name: str, program: Program, pids: tuple[int, ...]) -> Target:
    port = program.announced_port()
    seconds = program.first_answer(port, Route.MESSAGES, SAME_FAMILY[Route.MESSAGES])
    return Target(name, port, pids, SAME_FAMILY, seconds)
