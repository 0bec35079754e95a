"""The campaign of random faults: a short form with a fixed seed, and a long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.campaign import rounds, verdicts
from tests.chaos.world import running

pytestmark = pytest.mark.spec("DSP-139", "DSP-2", "DSP-43", "DSP-225")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


async def played(home: Path, seed: int, count: int) -> tuple[int, list[str]]:
    """Return how many schedules were served, and all that was wrong with any."""
    served, wrong = 0, []
    for numbers in rounds(range(count)):
        async with running(home / str(numbers[0])) as world:
            async for verdict in verdicts(world, seed, numbers):
                served += verdict.is_served
                wrong += [str(verdict)] if verdict.wrong else []
    return served, wrong


async def test_a_client_sees_one_attempt_at_most_and_a_legal_end(home: Path) -> None:
    count = 240
    served, wrong = await played(home, 1, count)
    assert not wrong, "\n".join(wrong)
    assert served > count / 2


@pytest.mark.slow
async def test_thousands_of_schedules(home: Path) -> None:
    count = 5000
    served, wrong = await played(home, 2, count)
    assert not wrong, "\n".join(wrong)
    assert served > count / 2
