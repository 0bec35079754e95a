"""How the numbered sequences are played: for clients of every dialect, streamed and not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from services.dispatch.model.enums import AttemptCause
from services.dispatch.model.plan import Budget, Order, Plan
from services.domain.vocab import WireFamily
from tests.fakes.clock import FakeClock
from tests.fakes.upstream import Fault
from tests.integration.dispatch.harness import Answer, Stand
from tests.integration.dispatch.test_sequences import until

SIBLING, BASELINE = AttemptCause.SIBLING, AttemptCause.BASELINE
FIRST, RETRY, HOP = AttemptCause.FIRST, AttemptCause.RETRY, AttemptCause.HOP
Change = Callable[[Plan], Plan]


def kept(plan: Plan) -> Plan:
    """Return a plan as it is."""
    return plan


@dataclass(frozen=True, slots=True)
class Cell:
    """How the client asks: in which dialect, for a stream or a whole answer."""

    client: WireFamily
    is_stream: bool

    def order(self, stand: Stand, *providers: str, change: Change = kept) -> Order:
        """Return what is asked for of these providers."""
        return stand.order(*providers, family=self.client, is_stream=self.is_stream, change=change)


STREAMS = tuple(Cell(client, is_stream=True) for client in WireFamily)
WHOLE = tuple(Cell(client, is_stream=False) for client in WireFamily)


def shown(cell: Cell) -> str:
    """Return the name of a cell in the names of tests."""
    return f"{cell.client.value}-{'stream' if cell.is_stream else 'whole'}"


CELLS = pytest.mark.parametrize("cell", [*STREAMS, *WHOLE], ids=shown)
STREAMED = pytest.mark.parametrize("cell", STREAMS, ids=shown)


def fail(stand: Stand, provider: str, fault: Fault, times: int | None = None) -> None:
    """Let a provider fail, for ever unless it is told how often."""
    stand.providers[provider][0].script(fault, times=times)


def sends(stand: Stand, provider: str) -> int:
    """Return how often a provider was asked."""
    return len(stand.providers[provider][0].requests)


def causes(answer: Answer) -> list[AttemptCause]:
    """Return why each attempt was made, in order."""
    return [row.cause for row in answer.started]


async def timed(stand: Stand, order: Callable[[], Order], waits_s: Sequence[float]) -> Answer:
    """Return the answer of a walk that waits so long between its attempts, and no longer."""
    stand.clock = clock = FakeClock()
    stand.budget = Budget()
    task = asyncio.create_task(stand.run(order()))
    for wait_s in waits_s:
        await until(lambda: clock.sleeper_count == 1)
        clock.advance(wait_s)
    answer = await task
    assert [row.wait_s for row in answer.started if row.wait_s] == list(waits_s)
    return answer
