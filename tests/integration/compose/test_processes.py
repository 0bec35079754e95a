"""The commands of the compose file as processes, each with the packages of its image alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest

from services.cli.app import Part
from services.runtime.parts import PORTS
from tests.fakes.children import free_port
from tests.fakes.process import RunningProcess
from tests.fakes.upstream import FakeUpstream
from tests.fakes.valkey import find_program
from tests.integration.cli.pointsman import environment
from tests.integration.compose import dockerfile
from tests.integration.compose.composition import CONFIG, FILLED, Service, composition
from tests.integration.compose.images import command

WHOLE = composition()
START_S = 30.0
STOP_S = 20.0
KEYS = {"ANTHROPIC_API_KEY": "key-of-anthropic"}
"""What `keys.env` holds."""
MODEL = "claude-sonnet-5"
GATEWAY = "POINTSMAN_GATEWAY"


class Stack:
    """What runs of the compose file, on this machine's loopback and on stores of the tests."""

    def __init__(self, home: Path, moved: Mapping[str, str], provider_url: str) -> None:
        self._home = home
        self._moved = moved
        self._provider_url = provider_url
        self.running: dict[str, RunningProcess] = {}
        self.port = 0

    @asynccontextmanager
    async def up(self, names: Sequence[str]) -> AsyncIterator[None]:
        """Run services in this order, each when those before it are healthy or have ended."""
        async with AsyncExitStack() as stack:
            for name in names:
                service = WHOLE.services[name]
                process = await stack.enter_async_context(self._process(service))
                self.running[name] = process
                if service.healthcheck is None:
                    assert await process.wait(START_S) == 0, self.written()
                    continue
                line = await process.wait_for_event("serving", START_S)
                self.port = int(str(line.fields["port"]))
                await self._become_healthy(service, int(str(line.fields["ops_port"])))
            yield
            for name in reversed(names):
                if WHOLE.services[name].healthcheck is not None:
                    assert await self.running[name].terminate(STOP_S) == 0, self.written()

    def written(self) -> str:
        """Return everything that the processes wrote."""
        return "\n".join(line.text for process in self.running.values() for line in process.lines)

    def _process(self, service: Service) -> RunningProcess:
        stage = dockerfile.stages()[service.target]
        told = {name: self._moved.get(name, was) for name, was in service.environment.items()}
        keys = KEYS if service.env_file else {}
        return RunningProcess(
            command(stage.extras, *(service.command or stage.command)),
            env=environment(self._home, **{**told, **keys, **self._added(service)}),
            cwd=self._home,
        )

    def _added(self, service: Service) -> Mapping[str, str]:
        """Return what a container need not be told: it has ports of its own, and real providers."""
        listens = [name for name in service.environment if name.endswith("__LISTEN")]
        tables = [name.removesuffix("__LISTEN") for name in listens]
        return {
            "POINTSMAN_PROVIDERS__ANTHROPIC__BASE_URL": self._provider_url,
            **{f"{table}__OPS_LISTEN": "127.0.0.1:0" for table in tables},
            **{f"{table}__RPC_LISTEN": "127.0.0.1:0" for table in tables if table == GATEWAY},
            **{f"{table}__LAME_DUCK_SECONDS": "0" for table in tables},
        }

    async def _become_healthy(self, service: Service, ops_port: int) -> None:
        assert service.healthcheck is not None
        _, _, *probe, address = service.healthcheck.test
        here = f"127.0.0.1:{ops_port}"
        assert address.startswith("127.0.0.1:")
        async with asyncio.timeout(START_S):
            while await self._probe(*probe, here) != 0:  # noqa: ASYNC110 - as an engine asks
                await asyncio.sleep(0.2)

    async def _probe(self, *arguments: str) -> int:
        python = command(frozenset())[0]
        env = environment(self._home)
        async with RunningProcess((python, *arguments), env=env, cwd=self._home) as probe:
            return await probe.wait()


def moved(databases: tuple[str, str], valkey_url: str) -> Mapping[str, str]:
    """Return the variables that name a place, as they are on this machine.

    `databases` are the URLs of gateway and credentials.
    """
    places = {
        "POINTSMAN_CONFIG": str(CONFIG),
        "POINTSMAN_GATEWAY__DATABASE": databases[0],
        "POINTSMAN_GATEWAY__LISTEN": "127.0.0.1:0",
        "POINTSMAN_SERVICES__CREDENTIALS__DATABASE": databases[1],
        "POINTSMAN_SHARED__VALKEY_URL": valkey_url,
    }
    for name in PORTS:
        address = f"127.0.0.1:{free_port()}"
        places[f"POINTSMAN_SERVICES__{name.upper()}__LISTEN"] = address
        places[f"POINTSMAN_SERVICES__{name.upper()}__TARGET"] = f"dns:///{address}"
    return places


@pytest.mark.spec("OPS-155")
@pytest.mark.timeout(180)
async def test_the_commands_of_the_containers_serve_together(
    tmp_path: Path, postgres_url: str, valkey_url: str, upstream: FakeUpstream
) -> None:
    database = postgres_url.replace("postgresql+asyncpg://", "postgresql://")
    stack = Stack(tmp_path, moved((database, database), valkey_url), upstream.base_url)
    wired = {"migrate", *Part}
    async with stack.up([name for name in WHOLE.start_order() if name in wired]):
        await answers_come(stack, upstream)


@pytest.mark.spec("OPS-155")
async def test_the_command_of_the_embedded_container_serves(
    tmp_path: Path, upstream: FakeUpstream
) -> None:
    databases = (f"sqlite:///{tmp_path}/pointsman.db", f"sqlite:///{tmp_path}/credentials.db")
    stack = Stack(tmp_path, moved(databases, ""), upstream.base_url)
    async with stack.up(["embedded"]):
        await answers_come(stack, upstream)


async def answers_come(stack: Stack, upstream: FakeUpstream) -> None:
    """Ask on both surfaces: the provider gets the key of `keys.env`, no log gets a secret."""
    key = FILLED["POINTSMAN_BOOTSTRAP_KEY"]
    said = [{"role": "user", "content": "Hello"}]
    body = {"model": MODEL, "max_tokens": 64, "messages": said}
    async with httpx.AsyncClient(headers={"x-router-key": key}, trust_env=False) as client:
        for path in ("/v1/messages", "/v1/chat/completions"):
            url = f"http://127.0.0.1:{stack.port}{path}"
            answer = await client.post(url, json=body, timeout=20)
            assert answer.status_code == 200, answer.text + stack.written()
    assert {seen.headers["x-api-key"] for seen in upstream.requests} == set(KEYS.values())
    for secret in (key, *KEYS.values(), FILLED["ENCRYPTION_KEY"]):
        assert secret not in stack.written()


async def test_valkey_takes_its_command_and_asks_for_the_password(tmp_path: Path) -> None:
    valkey, port = WHOLE.services["valkey"], free_port()
    (script,) = valkey.command
    script = script.replace("exec valkey-server", f"exec {find_program()}")
    line = (*valkey.entrypoint, f"{script} --bind 127.0.0.1 --port {port}")
    async with RunningProcess(line, env=dict(valkey.environment), cwd=tmp_path) as process:
        await process.wait_for_line(lambda line: "Ready to accept connections" in line.text)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"PING\r\nAUTH %b\r\nPING\r\n" % FILLED["VALKEY_PASSWORD"].encode())
        async with asyncio.timeout(5):
            answers = [await reader.readline() for _ in range(3)]
        writer.close()
        assert answers[0].startswith(b"-NOAUTH")
        assert answers[1:] == [b"+OK\r\n", b"+PONG\r\n"]
        assert await process.terminate() == 0
