"""What the log says of attempts that fail, and what ends a wait."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from services.dispatch.model.enums import WalkEnd
from services.dispatch.server.walk import Walk
from tests.fakes.upstream import Fault
from tests.integration.dispatch.harness import ANTHROPIC, Answer, Stand, standing, throttled

SAID = "the upstream said so, and quoted the prompt"
KEY = "key-of-p1-that-nobody-sees"


async def told(stand: Stand, fault: Fault) -> EventDict:
    """Return the line about the first failure of a walk whose provider fails once."""
    stand.credentials.keys = {"p1": [KEY]}
    stand.providers["p1"][0].script(fault, times=1)
    with capture_logs() as lines:
        await stand.run(stand.order(change=throttled))
    assert KEY not in repr(lines)
    assert SAID not in repr(lines)
    return next(line for line in lines if line["event"] == "attempt_failed")


@pytest.mark.spec("DSP-122")
@pytest.mark.parametrize(("status", "level"), [(500, "error"), (400, "error"), (429, "warning")])
async def test_a_failure_is_an_error_and_a_throttle_a_warning(status: int, level: str) -> None:
    async with standing(ANTHROPIC) as stand:
        line = await told(stand, Fault(status=status, message=f"{SAID} {KEY}"))
        assert (line["log_level"], line["status"]) == (level, status)
        assert line["vendor_type"]


@pytest.mark.spec("DSP-37")
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault(status=429, retry_after=0.02), (0.02, True, "retry", 0.02)),
        (Fault(status=429, retry_after=30), (30.0, False, "end", 0.0)),
        (Fault(status=429), (None, False, "retry", 0.01)),
        (Fault(status=503, retry_after=0.02), (0.02, None, "retry", 0.01)),
    ],
    ids=["honoured", "too-long", "no-header", "no-throttle"],
)
async def test_what_came_of_a_retry_after_is_told_of_throttles_alone(
    fault: Fault, expected: tuple[float | None, bool | None, str, float]
) -> None:
    async with standing(ANTHROPIC) as stand:
        line = await told(stand, fault)
        found = (
            line["retry_after_s"],
            line.get("is_retry_after_honoured"),
            line["next_step"],
            line["wait_s"],
        )
        assert found == expected


@pytest.mark.spec("DSP-34")
async def test_a_wait_beyond_the_deadline_is_not_begun_and_the_upstreams_error_is_shown() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.providers["p1"][0].script(Fault(status=429, retry_after=5), times=None)
        order = stand.order(change=throttled)
        walk = Walk(stand.stage(), order, jitter=lambda: 0.0, time_left_s=lambda: 2.0)
        answer = Answer()
        async with asyncio.timeout(1):
            answer.parts.extend([part async for part in walk.parts()])
        assert answer.unserved.fault.http_status == 429
        assert answer.unserved.retry_after_s == 5
        assert answer.unserved.end is WalkEnd.TIME_BUDGET


@pytest.mark.spec("DSP-18")
async def test_the_attempts_that_a_plan_allows_are_counted_over_hops_and_retries() -> None:
    async with standing(ANTHROPIC, ANTHROPIC, ANTHROPIC) as stand:
        for fake, _ in stand.providers.values():
            fake.script(Fault(status=503), times=None)
        stand.budget = replace(stand.budget, max_attempts=2)
        hops = await stand.run(stand.order())
        assert len(hops.started) == 2
        assert hops.unserved.end is WalkEnd.ATTEMPT_BUDGET
        retries = await stand.run(stand.order("p3"))
        assert len(retries.started) == 2
        assert retries.unserved.end is WalkEnd.ATTEMPT_BUDGET
