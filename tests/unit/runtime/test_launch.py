"""Exit codes and the one line that users see."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import structlog

from services.domain.errors import Reason, RouterError
from services.runtime import launch
from services.runtime.config import ConfigError

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the policy is one of Linux")


@pytest.fixture(autouse=True)
def _process_as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("a file"), 2),
        (launch.StartError("a store"), 1),
        (OSError("a port"), 1),
        (RouterError(Reason.STORE_UNAVAILABLE, "a peer"), 1),
        (KeyError("a bug"), 1),
    ],
)
def test_every_failure_is_one_line(
    error: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def work() -> int:
        raise error

    assert launch.guarded(work) == code
    said = capsys.readouterr()
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_what_looks_like_a_secret_is_masked(capsys: pytest.CaptureFixture[str]) -> None:
    launch.complain("bad\n sk-canary0123456789 and postgresql://u:canary@h/d", 1)
    said = capsys.readouterr().err
    assert "canary" not in said
    assert said == "error: bad [masked] and postgresql://[masked]@h/d\n"


def test_a_coroutine_is_run_to_its_end() -> None:
    seen: list[str] = []

    async def main() -> None:
        seen.append("ran")

    assert launch.run(main) == 0
    assert seen == ["ran"]


def test_a_program_that_runs_looks_for_garbage_whatever_its_start_did() -> None:
    seen: list[bool] = []

    async def main() -> None:
        seen.append(gc.isenabled())

    threshold = gc.get_threshold()
    gc.disable()
    try:
        assert launch.run(main) == launch.EXIT_OK
        assert gc.isenabled()
    finally:
        gc.unfreeze()
        gc.enable()
        gc.set_threshold(*threshold)
    assert seen == [True]


@ON_LINUX
def test_a_program_that_is_woken_and_its_threads_set_nobody_aside() -> None:
    seen: list[int] = []

    async def main() -> None:
        seen.append(os.sched_getscheduler(0))
        seen.append(await asyncio.to_thread(os.sched_getscheduler, 0))

    assert os.sched_getscheduler(0) == os.SCHED_OTHER
    assert launch.run(main) == launch.EXIT_OK
    assert seen == [os.SCHED_BATCH, os.SCHED_BATCH]


@ON_LINUX
def test_a_policy_that_the_operator_chose_stays() -> None:
    seen: list[int] = []

    def work() -> None:
        # Of this thread alone: one that has become idle may not always go back.
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        launch.yield_to_running()
        seen.append(os.sched_getscheduler(0))

    with ThreadPoolExecutor(1) as thread:
        thread.submit(work).result()
    assert seen == [os.SCHED_IDLE]
