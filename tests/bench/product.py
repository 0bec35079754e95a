"""Pointsman as a target: all in one process, and as processes over TCP.

Under the strategy `requested` the client names the model; the targets `…-deciding` have the
strategy `cluster`, and all services run.
"""

from __future__ import annotations

import base64
import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench import deciding
from tests.bench.configured import catalog, configuration
from tests.bench.machine import BenchError, Machine, own_program
from tests.bench.ports import settled_port
from tests.bench.shapes import Dialect, Entrance, Mode, Route, Stage, StageServer, Target
from tests.fakes.postgres import PostgresUnavailableError, running_postgres

CLI = "services.cli"
ENCRYPTION_KEY = base64.b64encode(bytes(range(32))).decode()
ROUTER_KEY = "rk_benchbenchbenchbenchbenchbench"
GATEWAY = "gateway"
PARTS = ("credentials", "dispatch", GATEWAY)
"""In the order they start; the gateway is what clients ask."""
DECIDING_PARTS = ("credentials", "dispatch", "handover", "planner", "scorer", GATEWAY)

WHOLE = "embedded"
MIGRATION_SECONDS = 60.0

Wrappers = Mapping[str, Sequence[str]]
"""Programs to put before parts, by the part's name."""


@dataclass(frozen=True, slots=True)
class Databases:
    """Where gateway and credentials keep their rows."""

    gateway: str
    credentials: str
    note: str


def _entrance(route: Route) -> Entrance:
    name, value = _SHOWN.get(route.client, ("Authorization", f"Bearer {ROUTER_KEY}"))
    return Entrance({name: value}, f"{route.provider}-burst", f"{route.provider}-paced")


_SHOWN: Mapping[Dialect, tuple[str, str]] = {
    Dialect.MESSAGES: ("x-api-key", ROUTER_KEY),
    Dialect.GEMINI: ("x-goog-api-key", ROUTER_KEY),
}
"""How a client shows its key where it is not a bearer token."""
ENTRANCES: Mapping[Route, Entrance] = {route: _entrance(route) for route in Route}


DECIDING_MODES = tuple(mode for mode in Mode if mode is not Mode.REQUESTED)
DECIDING_ENTRANCES = {Route.MESSAGES: Entrance({"x-api-key": ROUTER_KEY}, deciding.DEAR, "")}


@dataclass(frozen=True, slots=True)
class Shape:
    """What one deployment is made for."""

    strategy: str
    parts: tuple[str, ...]
    models: str
    entrances: Mapping[Route, Entrance]
    modes: tuple[Mode, ...]
    suffix: str = ""


REQUESTED = Shape("requested", PARTS, catalog(), ENTRANCES, (Mode.REQUESTED,))
DECIDING = Shape(
    "cluster", DECIDING_PARTS, deciding.CATALOG, DECIDING_ENTRANCES, DECIDING_MODES, "-deciding"
)


@contextlib.contextmanager
def _in_one(
    shape: Shape, machine: Machine, provider_port: int, wrappers: Wrappers | None = None
) -> Iterator[Target]:
    """Run everything in one process on SQLite."""
    name = f"{WHOLE}{shape.suffix}"
    folder = _folder(machine, name, shape)
    ports = {GATEWAY: _ports()}
    file = _configured(folder, provider_port, ports, _sqlite(folder), shape)
    command = _command(WHOLE, ("serve", "--config", str(file)), wrappers or {})
    with machine.running(name, command, env=_environment(folder)) as program:
        port = ports[GATEWAY][0]
        seconds = program.first_answer(port, Route.MESSAGES, shape.entrances[Route.MESSAGES])
        yield Target(name, port, (program.pid,), shape.entrances, seconds, "SQLite", shape.modes)


@contextlib.contextmanager
def _in_many(
    shape: Shape, machine: Machine, provider_port: int, wrappers: Wrappers | None = None
) -> Iterator[Target]:
    """Run every part as a process of its own over TCP, on PostgreSQL where it is."""
    name = f"apart{shape.suffix}"
    folder = _folder(machine, name, shape)
    ports = {part: _ports() for part in shape.parts}
    with contextlib.ExitStack() as stack:
        databases = stack.enter_context(_databases(folder))
        file = _configured(folder, provider_port, ports, databases, shape)
        _migrate(machine, folder, file)
        programs = {
            part: stack.enter_context(
                machine.running(
                    part,
                    _command(part, ("serve", part, "--config", str(file)), wrappers or {}),
                    env=_environment(folder),
                )
            )
            for part in shape.parts
        }
        port, entrance = ports[GATEWAY][0], shape.entrances[Route.MESSAGES]
        programs[GATEWAY].first_answer(port, Route.MESSAGES, entrance)
        seconds = programs[shape.parts[0]].first_answer(port, Route.MESSAGES, entrance)
        yield Target(
            name=name,
            port=port,
            pids=tuple(program.pid for program in programs.values()),
            entrances=shape.entrances,
            start_seconds=seconds,
            note=databases.note,
            modes=shape.modes,
            stages={
                stage: StageServer(ports[stage.part][0], programs[stage.part].pid)
                for stage in Stage
                if stage.part in programs
            },
        )


embedded = functools.partial(_in_one, REQUESTED)
apart = functools.partial(_in_many, REQUESTED)
embedded_deciding = functools.partial(_in_one, DECIDING)
apart_deciding = functools.partial(_in_many, DECIDING)


def _folder(machine: Machine, name: str, shape: Shape) -> Path:
    folder = machine.folder / name
    folder.mkdir()
    (folder / "catalog.toml").write_text(shape.models)
    return folder


def _configured(
    folder: Path,
    provider_port: int,
    ports: Mapping[str, tuple[int, int]],
    databases: Databases,
    shape: Shape,
) -> Path:
    file = folder / "pointsman.toml"
    urls = (databases.gateway, databases.credentials)
    file.write_text(
        configuration(ports, provider_port, urls, ENCRYPTION_KEY, strategy=shape.strategy)
    )
    return file


def _ports() -> tuple[int, int]:
    return settled_port(), settled_port()


def _sqlite(folder: Path) -> Databases:
    return Databases(
        f"sqlite:///{folder}/pointsman.db", f"sqlite:///{folder}/credentials.db", "SQLite"
    )


@contextlib.contextmanager
def _databases(folder: Path) -> Iterator[Databases]:
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(running_postgres())
        except PostgresUnavailableError:
            yield _sqlite(folder)
            return
        url = stack.enter_context(server.fresh_database()).replace("+asyncpg", "")
        yield Databases(url, url, "PostgreSQL")


def _migrate(machine: Machine, folder: Path, file: Path) -> None:
    command = own_program(CLI, "migrate", "up", "--config", str(file))
    with machine.running("migrate", command, env=_environment(folder)) as program:
        if code := program.process.wait(MIGRATION_SECONDS):
            raise BenchError(f"migrate ended with {code}: {program.log.read_text()}")


def _command(
    part: str, arguments: Sequence[str], wrappers: Mapping[str, Sequence[str]]
) -> Sequence[str]:
    wrapper = wrappers.get(part)
    return (*wrapper, *arguments) if wrapper else own_program(CLI, *arguments)


def _environment(folder: Path) -> Mapping[str, str]:
    return {
        "HOME": str(folder),
        "PYTHONPATH": ":".join((".", "protos/gen")),
        "POINTSMAN_BOOTSTRAP_KEY": ROUTER_KEY,
    }
