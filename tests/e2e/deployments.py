"""The product as users run it: real processes, embedded in one or apart over TCP."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from tests.e2e.settings import ROUTER_KEY, Wishes, catalog, configuration
from tests.fakes.children import free_port
from tests.fakes.process import LogLine, RunningProcess
from tests.fakes.upstream import FakeUpstream

ROOT = Path(__file__).resolve().parents[2]
ALL = "all"
"""Name of the process that is everything."""
SERVICES = {
    "requested": ("credentials", "dispatch"),
    "cluster": ("credentials", "dispatch", "handover", "planner", "scorer"),
}
"""What runs beside the gateway under each strategy, each after those that it calls."""
GATEWAY = "gateway"
START_SECONDS = 30.0
STOP_SECONDS = 20.0


class Deployment:
    """The processes of one deployment, inside `async with`; every one must end with exit code 0.

    `parts` names the processes in the order of their start, the one that clients ask last.
    """

    def __init__(self, home: Path, parts: Sequence[str], environment: Mapping[str, str]) -> None:
        self.home = home
        self.parts = tuple(parts)
        self._environment = surroundings(home, environment)
        self._running: dict[str, RunningProcess] = {}
        self._ended: list[RunningProcess] = []
        self._port = 0

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as undo:
            undo.push_async_callback(self._abandon)
            for part in self.parts:
                await self.start(part)
            undo.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                for part in reversed(self.parts):
                    await self.stop(part)
        finally:
            await self._abandon()

    @property
    def url(self) -> str:
        """Return where clients ask, without a slash at its end."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def lines(self) -> Sequence[LogLine]:
        """Return all that every process wrote, those that have ended too."""
        every = (*self._ended, *self._running.values())
        return [line for process in every for line in process.lines]

    def process(self, part: str) -> RunningProcess:
        """Return the process of a part."""
        return self._running[part]

    def client(self, **headers: str) -> httpx.AsyncClient:
        """Return a plain HTTP client of this deployment that shows the router key."""
        shown = {"x-router-key": ROUTER_KEY, **headers}
        return httpx.AsyncClient(base_url=self.url, headers=shown, timeout=30.0, trust_env=False)

    async def start(self, part: str) -> None:
        """Start a part and wait until it serves."""
        process = RunningProcess(self._command(part), env=self._environment, cwd=self.home)
        self._running[part] = await process.__aenter__()
        line = await process.wait_for_event("serving", START_SECONDS)
        if part == self.parts[-1]:
            self._port = int(str(line.fields["port"]))

    async def stop(self, part: str) -> None:
        """Ask a part to stop and see it off; nothing happens when it was stopped before."""
        process = self._running.get(part)
        if process is not None:
            process.send_signal(signal.SIGTERM)
            await self.see_off(part)

    async def see_off(self, part: str) -> None:
        """Wait for the good end of a part that was asked to stop: exit code 0, nothing left."""
        process = self._running[part]
        code: int | str
        try:
            code = await process.wait(STOP_SECONDS)
        except TimeoutError:
            code = f"nothing within {STOP_SECONDS:.0f} s"
        shown = "\n".join(line.text for line in process.lines[-20:])
        assert code == 0, f"{part} ended with {code}; last:\n{shown}"
        assert _is_group_gone(process.pid), f"{part} left processes behind"
        await self._put_away(part)

    async def kill(self, part: str) -> None:
        """Kill a part as the kernel would."""
        await self._running[part].kill()
        await self._put_away(part)

    async def ensure_running(self) -> None:
        """Start every part that does not run."""
        for part in self.parts:
            if part not in self._running:
                await self.start(part)

    async def _put_away(self, part: str) -> None:
        process = self._running.pop(part)
        await process.__aexit__(None, None, None)
        self._ended.append(process)

    async def _abandon(self) -> None:
        for part in tuple(self._running):
            await self._put_away(part)

    def _command(self, part: str) -> tuple[str, ...]:
        which = () if part == ALL else (part,)
        return command("serve", *which, "--config", "pointsman.toml")


@contextlib.asynccontextmanager
async def embedded(
    home: Path, upstream: FakeUpstream, wishes: Wishes | None = None
) -> AsyncIterator[Deployment]:
    """Run everything in one process, on SQLite files in `home`."""
    wishes = wishes or Wishes()
    databases = (f"sqlite:///{home}/gateway.db", f"sqlite:///{home}/credentials.db")
    _write(home, wishes, configuration(wishes, upstream.base_url, databases, {}))
    async with Deployment(home, (ALL,), wishes.environment) as running:
        yield running


@contextlib.asynccontextmanager
async def sandboxed(home: Path, tables: str = "", models: str = "") -> AsyncIterator[Deployment]:
    """Run everything in one process with nothing configured but free ports.

    `tables` are more tables of the configuration, `models` what the catalog has besides.
    """
    (home / "pointsman.toml").write_text(
        '[gateway]\nlisten = "127.0.0.1:0"\nops_listen = "127.0.0.1:0"\n'
        f'rpc_listen = "127.0.0.1:0"\n[catalog]\nextend = ["catalog.toml"]\n{tables}'
    )
    (home / "catalog.toml").write_text(models)
    async with Deployment(home, (ALL,), {}) as running:
        yield running


@contextlib.asynccontextmanager
async def apart(
    home: Path, upstream: FakeUpstream, postgres_url: str, wishes: Wishes | None = None
) -> AsyncIterator[Deployment]:
    """Run the gateway and every service as processes over TCP, on one PostgreSQL database."""
    wishes = wishes or Wishes()
    url = postgres_url.replace("postgresql+asyncpg://", "postgresql://")
    services = SERVICES[wishes.strategy]
    ports = {name: free_port() for name in services}
    _write(home, wishes, configuration(wishes, upstream.base_url, (url, url), ports))
    await migrate(home, wishes.environment)
    async with Deployment(home, (*services, GATEWAY), wishes.environment) as running:
        yield running


async def migrate(home: Path, environment: Mapping[str, str]) -> None:
    """Bring the databases of the configuration in `home` to the tables that are needed."""
    arguments = command("migrate", "up", "--config", "pointsman.toml")
    async with RunningProcess(arguments, env=surroundings(home, environment), cwd=home) as process:
        code = await process.wait(START_SECONDS)
        assert code == 0, "\n".join(line.text for line in process.lines)


def command(*arguments: str) -> tuple[str, ...]:
    """Return the command line of `pointsman`."""
    return (sys.executable, "-m", "services.cli", *arguments)


def surroundings(home: Path, more: Mapping[str, str] | None = None) -> dict[str, str | None]:
    """Return what a process of the product finds: a home of its own, nothing else configured."""
    cleared: dict[str, str | None] = {
        name: None
        for name in os.environ
        if name.endswith("_API_KEY") or name.startswith(("POINTSMAN_", "PYTHONDONT"))
    }
    return {
        **cleared,
        "HOME": str(home),
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "protos" / "gen"), *sys.path)),
        # Bytecode beside the test's folder: many processes start faster than they compile.
        "PYTHONPYCACHEPREFIX": str(home.parent / "bytecode"),
        "POINTSMAN_BOOTSTRAP_KEY": ROUTER_KEY,
        **(more or {}),
    }


def _write(home: Path, wishes: Wishes, configured: str) -> None:
    (home / "pointsman.toml").write_text(configured)
    (home / "catalog.toml").write_text(catalog() + wishes.models)


def _is_group_gone(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return True
    return False
