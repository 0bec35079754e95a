"""Exit codes and the one line that users see."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
import structlog

from services.domain.errors import Reason, RouterError
from services.runtime import launch
from services.runtime.config import ConfigError


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()


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
