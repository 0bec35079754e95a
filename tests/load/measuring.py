"""Runs a load of slow streams through the product, and through a bare proxy beside it."""

from __future__ import annotations

import contextlib
import enum
import itertools
import os
import statistics
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from services.domain.vocab import WireFamily
from tests.e2e import deployments
from tests.e2e.families import four_families, model_of
from tests.e2e.settings import ROUTER_KEY, Wishes
from tests.fakes.process import RunningProcess
from tests.fakes.upstream import FakeUpstream, Fault, Match, Voice
from tests.load.crowd import PAUSING, Crowd, Heard

MIB = 1024 * 1024
PAUSING_EVERY = 9
"""No divisor of the number of pairs of dialects: all of them pause."""
BEFORE_PAUSE = 6
"""Events after which every dialect has said something."""


class Arrivals(enum.StrEnum):
    """When the clients come, and with them every chunk of theirs."""

    SPREAD = "spread"
    """Evenly: at any moment as many chunks are on their way as at any other."""
    BURST = "burst"
    """All at once: every second all chunks arrive in one moment."""


class Paths(enum.StrEnum):
    """From which dialect to which the streams go."""

    SAME = "same"
    """The client's own at the provider: bytes pass."""
    TRANSLATED = "translated"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Load:
    """How many streams there are, how long each is, and what silence lies in some of them."""

    streams: int
    chunks: int
    chunk_s: float = 1.0
    pause_s: float = 40.0
    keepalive_s: float = 15.0
    arrivals: Arrivals = Arrivals.SPREAD
    paths: Paths = Paths.ALL

    @property
    def spread_s(self) -> float:
        """Time over which the clients arrive, a whole number of chunks where they are spread."""
        if self.arrivals is Arrivals.BURST:
            return 0.0
        return self.chunk_s * max(1, min(10, self.streams // 100))


@dataclass(frozen=True, slots=True)
class Figures:
    """What came of a load."""

    streams: int
    whole: int
    chunks: int
    longest_gap_s: float
    """Longest silence that any client met."""
    pauses: int
    """Streams whose provider fell silent in the middle."""
    transit_p50_ms: float
    transit_p99_ms: float
    peak_mib: float
    cpu_s: float
    """CPU of the process under test while the load was on, requests included."""

    def __str__(self) -> str:
        """Return the figures in one line."""
        return (
            f"{self.whole}/{self.streams} whole, {self.chunks} chunks, longest silence"
            f" {self.longest_gap_s:.2f} s beside {self.pauses} pauses, transit"
            f" p50 {self.transit_p50_ms:.2f} ms p99 {self.transit_p99_ms:.2f} ms, peak"
            f" {self.peak_mib:.0f} MiB, CPU {self.cpu_s:.1f} s"
        )


async def of_product(home: Path, load: Load) -> Figures:
    """Return the figures of the product, in one process."""
    async with _paced(load) as fake:
        four = four_families(fake.base_url)
        wishes = Wishes(
            tables=four.tables,
            models=four.models,
            gateway=f"sse_keepalive_interval_seconds = {load.keepalive_s}",
        )
        async with deployments.embedded(home, fake, wishes) as running:
            pid = running.process(running.parts[-1]).pid
            ways = {Paths.SAME: (False,), Paths.TRANSLATED: (True,), Paths.ALL: (False, True)}
            turns = itertools.product(WireFamily, ways[load.paths])
            families = tuple(WireFamily)
            models = [
                (client, model_of(families[(families.index(client) + is_foreign) % 4]))
                for client, is_foreign in turns
            ]
            crowd = _crowd(running.url, models, load)
            with _apart(pid):
                before_s = _cpu_s(pid)
                return _figures(await crowd.listen(), load, pid, before_s)


async def of_proxy(load: Load) -> Figures:
    """Return the figures of a bare reverse proxy, for comparison."""
    async with _paced(load) as fake:
        command = (sys.executable, "-m", "tests.bench.floors", "proxy", str(fake.port))
        async with RunningProcess(command, cwd=deployments.ROOT) as proxy:
            line = await proxy.wait_for_line(lambda line: "port" in line.fields)
            url = f"http://127.0.0.1:{line.fields['port']}"
            crowd = _crowd(url, [(WireFamily.ANTHROPIC, "m")], load)
            with _apart(proxy.pid):
                before_s = _cpu_s(proxy.pid)
                return _figures(await crowd.listen(), load, proxy.pid, before_s)


def _crowd(url: str, models: Sequence[tuple[WireFamily, str]], load: Load) -> Crowd:
    headers = {"x-router-key": ROUTER_KEY}
    return Crowd(url, models, headers, load.streams, load.spread_s, PAUSING_EVERY)


@contextlib.asynccontextmanager
async def _paced(load: Load) -> AsyncIterator[FakeUpstream]:
    """Give a provider that sends a chunk at a time; some streams pause in the middle."""
    voice = Voice(chunks=load.chunks, chunk_delay=load.chunk_s, stamp=True)
    async with FakeUpstream(voice=voice) as fake:
        pause = Fault(stall_after=BEFORE_PAUSE, stall=load.pause_s)
        fake.script(pause, times=None, match=Match(body=PAUSING.decode()))
        yield fake


@contextlib.contextmanager
def _apart(pid: int) -> Iterator[None]:
    """Keep the process under test on the last core, and this one off it."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        yield
        return
    for task in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(task), {cores[-1]})
    os.sched_setaffinity(0, set(cores[:-1]))
    try:
        yield
    finally:
        os.sched_setaffinity(0, set(cores))


def _figures(heard: Sequence[Heard], load: Load, pid: int, before_s: float) -> Figures:
    transits = sorted(ms for each in heard for ms in each.transits_ms) or [0.0]
    return Figures(
        streams=len(heard),
        whole=sum(each.is_whole for each in heard),
        chunks=sum(each.chunks for each in heard),
        longest_gap_s=max(each.max_gap_s for each in heard),
        pauses=sum(each.max_chunk_gap_s > load.pause_s * 0.9 for each in heard),
        transit_p50_ms=statistics.median(transits),
        transit_p99_ms=transits[int(len(transits) * 0.99) - 1],
        peak_mib=_peak_mib(pid),
        cpu_s=_cpu_s(pid) - before_s,
    )


def _peak_mib(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / MIB
    return 0.0


def _cpu_s(pid: int) -> float:
    """Return the CPU time of a process to the nanosecond: ticks are too coarse where others run."""
    spent_ns = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it ended just now
            spent_ns += int((task / "schedstat").read_text().split()[0])
    return spent_ns / 1e9
