"""Pointsman as a target: all in one process, and as three processes over TCP."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.machine import BenchError, Machine, own_program
from tests.bench.ports import settled_port
from tests.bench.shapes import BURST_MODEL, PACED_MODEL, Entrance, Route, Target
from tests.fakes.postgres import PostgresUnavailableError, running_postgres

CLI = "services.cli"
ENCRYPTION_KEY = base64.b64encode(bytes(range(32))).decode()
ROUTER_KEY = "rk_benchbenchbenchbenchbenchbench"
PARTS = ("credentials", "dispatch", "gateway")
"""In the order they start; the gateway is what clients ask."""

WHOLE = "embedded"
MIGRATION_SECONDS = 60.0

CATALOG = f"""
[[models]]
id = "messages-burst"
tier = "mid"
context_window = 200000
[[models.bindings]]
provider = "canned-messages"
upstream_id = "{BURST_MODEL}"
input_usd_per_mtok = 1.0
output_usd_per_mtok = 1.0

[[models]]
id = "messages-paced"
tier = "mid"
context_window = 200000
[[models.bindings]]
provider = "canned-messages"
upstream_id = "{PACED_MODEL}"
input_usd_per_mtok = 1.0
output_usd_per_mtok = 1.0

[[models]]
id = "chat-burst"
tier = "mid"
context_window = 200000
[[models.bindings]]
provider = "canned-chat"
upstream_id = "{BURST_MODEL}"
input_usd_per_mtok = 1.0
output_usd_per_mtok = 1.0

[[models]]
id = "chat-paced"
tier = "mid"
context_window = 200000
[[models.bindings]]
provider = "canned-chat"
upstream_id = "{PACED_MODEL}"
input_usd_per_mtok = 1.0
output_usd_per_mtok = 1.0
"""

CONFIGURATION = """
[gateway]
listen = "127.0.0.1:{gateway}"
ops_listen = "127.0.0.1:{gateway_ops}"
rpc_listen = ""
lame_duck_seconds = 0
database = "{gateway_database}"

[routing]
strategy = "requested"

[providers.canned-messages]
family = "anthropic"
base_url = "http://127.0.0.1:{provider}"
api_key = "x"

[providers.canned-chat]
family = "openai_chat"
base_url = "http://127.0.0.1:{provider}/v1"
api_key = "x"

[catalog]
extend = ["catalog.toml"]

[services.credentials]
database = "{credentials_database}"
encryption_keys = ["{encryption_key}"]
{credentials_table}
[services.dispatch]
{dispatch_table}
"""

ADDRESSES = """listen = "127.0.0.1:{port}"
ops_listen = "127.0.0.1:{ops_port}"
target = "dns:///127.0.0.1:{port}"
lame_duck_seconds = 0
"""


@dataclass(frozen=True, slots=True)
class Databases:
    """Where gateway and credentials keep their rows."""

    gateway: str
    credentials: str
    note: str


def _entrance(provider: str, *, is_messages: bool) -> Entrance:
    name = "x-api-key" if is_messages else "Authorization"
    value = ROUTER_KEY if is_messages else f"Bearer {ROUTER_KEY}"
    return Entrance({name: value}, f"{provider}-burst", f"{provider}-paced")


ENTRANCES: Mapping[Route, Entrance] = {
    Route.MESSAGES: _entrance("messages", is_messages=True),
    Route.CHAT: _entrance("chat", is_messages=False),
    Route.MESSAGES_TO_CHAT: _entrance("chat", is_messages=True),
    Route.CHAT_TO_MESSAGES: _entrance("messages", is_messages=False),
}


@contextlib.contextmanager
def embedded(
    machine: Machine, provider_port: int, wrappers: Mapping[str, Sequence[str]] | None = None
) -> Iterator[Target]:
    """Run everything in one process on SQLite; `wrappers` puts a program before a part."""
    folder = _folder(machine, "embedded")
    port = settled_port()
    file = _configured(folder, provider_port, port, _sqlite(folder), "", "")
    command = _command(WHOLE, ("serve", "--config", str(file)), wrappers or {})
    with machine.running(WHOLE, command, env=_environment(folder)) as program:
        seconds = program.first_answer(port, Route.MESSAGES, ENTRANCES[Route.MESSAGES])
        yield Target(WHOLE, port, (program.pid,), ENTRANCES, seconds, "SQLite")


@contextlib.contextmanager
def apart(
    machine: Machine, provider_port: int, wrappers: Mapping[str, Sequence[str]] | None = None
) -> Iterator[Target]:
    """Run gateway, credentials and dispatch as processes over TCP, on PostgreSQL where it is."""
    folder = _folder(machine, "apart")
    port = settled_port()
    with contextlib.ExitStack() as stack:
        databases = stack.enter_context(_databases(folder))
        tables = (_addresses(), _addresses())
        file = _configured(folder, provider_port, port, databases, *tables)
        _migrate(machine, folder, file)
        programs = [
            stack.enter_context(
                machine.running(
                    part,
                    _command(part, ("serve", part, "--config", str(file)), wrappers or {}),
                    env=_environment(folder),
                )
            )
            for part in PARTS
        ]
        programs[-1].first_answer(port, Route.MESSAGES, ENTRANCES[Route.MESSAGES])
        seconds = programs[0].first_answer(port, Route.MESSAGES, ENTRANCES[Route.MESSAGES])
        pids = tuple(program.pid for program in programs)
        yield Target("apart", port, pids, ENTRANCES, seconds, databases.note)


def _folder(machine: Machine, name: str) -> Path:
    folder = machine.folder / name
    folder.mkdir()
    (folder / "catalog.toml").write_text(CATALOG)
    return folder


def _configured(
    folder: Path,
    provider_port: int,
    port: int,
    databases: Databases,
    credentials_table: str,
    dispatch_table: str,
) -> Path:
    file = folder / "pointsman.toml"
    file.write_text(
        CONFIGURATION.format(
            gateway=port,
            gateway_ops=settled_port(),
            gateway_database=databases.gateway,
            credentials_database=databases.credentials,
            encryption_key=ENCRYPTION_KEY,
            provider=provider_port,
            credentials_table=credentials_table,
            dispatch_table=dispatch_table,
        )
    )
    return file


def _addresses() -> str:
    return ADDRESSES.format(port=settled_port(), ops_port=settled_port())


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
