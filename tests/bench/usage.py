"""CPU time and memory of a process and all that it started, read from /proc."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
NANOSECONDS = 1e9


@dataclass(frozen=True, slots=True)
class Usage:
    """What some processes have used so far, and what they hold."""

    cpu_seconds: float
    rss_bytes: int


def usage_of(pids: Iterable[int]) -> Usage:
    """Return the sum over `pids` and their descendants; a process that has ended counts nothing.

    CPU comes from the scheduler's own count in nanoseconds: the usual clock ticks of 10 ms are
    too coarse for loads of a second or two.
    """
    family = {member for pid in pids for member in _family(pid)}
    cpu = sum(_cpu_nanoseconds(pid) for pid in family)
    return Usage(cpu / NANOSECONDS, sum(_rss_bytes(pid) for pid in family))


def _family(pid: int) -> Iterator[int]:
    yield pid
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))


def _cpu_nanoseconds(pid: int) -> int:
    total = 0
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                total += int((task / "schedstat").read_text().split()[0])
    return total


def _rss_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
    except OSError:
        return 0
