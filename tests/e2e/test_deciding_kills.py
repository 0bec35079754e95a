"""Planner and scorer die under load: who has a pin goes on, and nobody gets a wrong answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import httpx
import pytest

from tests.e2e import test_deciding
from tests.e2e.deployments import Deployment
from tests.e2e.test_deciding import (
    BACK_SECONDS,
    CHEAP,
    DEAR,
    HARD,
    LONG,
    UPSTREAM_DEAR,
    WARM,
    ask,
    assistant,
    bring_back,
    decision,
    fresh_session,
    user,
)
from tests.fakes.upstream import FakeUpstream, Fault, Match

pytestmark = pytest.mark.asyncio(loop_scope="module")

WISHES = test_deciding.WISHES
CLIENTS = 6
KEPT = ("planner_unavailable_pin", DEAR)
SWITCHED = ("switch_value_positive", CHEAP)


@dataclass
class Load:
    """Clients that go on until they are told to stop; answers are told apart by when they began."""

    before: list[httpx.Response] = field(default_factory=list)
    """Answers to what was asked before the kill."""
    after: list[httpx.Response] = field(default_factory=list)
    """Answers to what was asked once the part was dead."""
    is_dead: bool = False
    is_over: bool = False

    async def client(self, asked: Callable[[], Awaitable[httpx.Response]]) -> None:
        """Ask one thing after the other."""
        while not self.is_over:
            answers = self.after if self.is_dead else self.before
            answers.append(await asked())

    async def has(self, answers: list[httpx.Response], count: int) -> None:
        """Return once so many answers came."""
        async with asyncio.timeout(20):
            while len(answers) < count:  # noqa: ASYNC110 - clients of the same loop fill it
                await asyncio.sleep(0.02)


async def killed_under(
    loads: list[tuple[Load, Callable[[], Awaitable[httpx.Response]]]],
    deployment: Deployment,
    part: str,
) -> None:
    """Kill a part while all clients ask, and let each load see some more answers."""
    async with asyncio.TaskGroup() as clients:
        for load, asked in loads:
            for _ in range(CLIENTS):
                clients.create_task(load.client(asked))
        for load, _ in loads:
            await load.has(load.before, CLIENTS)
        await deployment.kill(part)
        for load, _ in loads:
            load.is_dead = True
        for load, _ in loads:
            await load.has(load.after, 2 * CLIENTS)
        for load, _ in loads:
            load.is_over = True


@pytest.mark.spec("TRN-92")
async def test_pins_are_kept_when_the_planner_dies_under_load(
    apart: Deployment, provider: FakeUpstream
) -> None:
    provider.clear()
    provider.script(Fault(usage=WARM), times=None, match=Match(model=UPSTREAM_DEAR))
    history = [user(HARD), assistant(LONG), user("Go on.")]

    async def two_turns() -> httpx.Response:
        session = fresh_session()
        assert decision(await ask(apart, session, history[:1]))[1] == DEAR
        return await ask(apart, session, history)

    load = Load()
    await killed_under([(load, two_turns)], apart, "planner")
    assert {decision(answer) for answer in load.before} <= {SWITCHED, KEPT}
    assert {decision(answer) for answer in load.after} == {KEPT}
    await bring_back(apart, "planner")
    async with asyncio.timeout(BACK_SECONDS):
        while decision(await two_turns()) != SWITCHED:
            pass


async def test_pinned_sessions_are_served_when_the_scorer_dies_under_load(
    apart: Deployment, provider: FakeUpstream
) -> None:
    provider.clear()
    session, history = fresh_session(), [user(HARD)]
    assert decision(await ask(apart, session, history))[1] == DEAR
    history += [assistant("Here."), user("Thanks.")]
    pinned, new = Load(), Load()
    await killed_under(
        [
            (pinned, lambda: ask(apart, session, history)),
            (new, lambda: ask(apart, fresh_session(), [user(HARD)])),
        ],
        apart,
        "scorer",
    )
    assert {decision(answer)[1] for answer in (*pinned.before, *pinned.after)} == {DEAR}
    assert {decision(answer)[0] for answer in pinned.after} == {"scorer_unavailable_pin"}
    assert {answer.status_code for answer in new.before} <= {200, 503}
    assert {answer.status_code for answer in new.after} == {503}
    assert {answer.headers["retry-after"] for answer in new.after} == {"1"}
    await bring_back(apart, "scorer")
