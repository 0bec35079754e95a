"""The health check of containers tells readiness from everything else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping

import pytest

from services.runtime import probe
from services.runtime.ops import OpsListener
from tests.fakes.children import free_port


@pytest.fixture
def ops() -> Iterator[OpsListener]:
    listener = OpsListener("127.0.0.1:0")
    listener.start()
    yield listener
    listener.stop()


@pytest.mark.parametrize(
    ("needs", "expected"),
    [(None, 1), ({"store": False}, 1), ({"store": True}, 0)],
    ids=["starting", "missing", "ready"],
)
def test_it_tells_whether_a_part_is_ready(
    ops: OpsListener,
    needs: Mapping[str, bool] | None,
    expected: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if needs is not None:
        ops.watch(lambda: needs)
    assert probe.main([f"127.0.0.1:{ops.port}"]) == expected
    assert '"needs"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [((f"127.0.0.1:{free_port()}",), 1), (("127.0.0.1:none",), 1), ((), 2), (("a", "b"), 2)],
    ids=["nobody", "no port", "nothing", "too much"],
)
def test_whatever_else_is_one_line_and_not_ready(
    arguments: tuple[str, ...], expected: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert probe.main(arguments) == expected
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_it_loads_nothing_but_the_standard_library() -> None:
    code = (
        "import sys, services.runtime.probe; print(*{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"grpc", "pydantic", "structlog", "uvloop"}.isdisjoint(done.stdout.split())
