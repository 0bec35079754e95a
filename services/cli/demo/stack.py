"""A whole router of the demo's own, in a process beside it, on the sandbox provider.

Its models have made-up list prices, so that there is something to save; nothing is paid.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from services.embedded.sandbox.server import Sandbox
from services.runtime.launch import StartError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

START_S = 30.0
STOP_S = 10.0
LARGE = "demo-large"
"""The dearest model of the demo, which its sessions ask for."""

_CONFIGURATION = """
[gateway]
listen = "127.0.0.1:0"
rpc_listen = "127.0.0.1:0"
ops_listen = "127.0.0.1:0"
database = "sqlite:///{folder}/gateway.db"
bootstrap_key = "{key}"

[routing]
strategy = "{strategy}"

[services.credentials]
database = "sqlite:///{folder}/credentials.db"

[providers.demo-messages]
family = "anthropic"
base_url = "{url}"

[providers.demo-chat]
family = "openai_chat"
base_url = "{url}/v1"

[catalog]
extend = ["catalog.toml"]

[log]
format = "json"
level = "info"
"""

_MODEL = """
[[models]]
id = "{name}"
tier = "{tier}"
context_window = 200000
{bindings}
"""

_BINDING = """
[[models.bindings]]
provider = "{provider}"
upstream_id = "{upstream}"
input_usd_per_mtok = {input}
output_usd_per_mtok = {output}
cache_read_multiplier = 0.1
cache_write_multiplier = 1.25
"""
SERVING = ("serving", "router_serving")
"""Log events that name the port of a part."""


@dataclass(frozen=True, slots=True)
class Model:
    """One made-up model; prices in USD per million tokens."""

    tier: str
    input_usd: float
    output_usd: float
    upstream: str
    providers: tuple[str, str]
    """Its bindings in order."""


_MODELS: Mapping[str, Model] = {
    LARGE: Model("top", 15.0, 75.0, "sandbox-large", ("demo-messages", "demo-chat")),
    "demo-medium": Model("mid", 1.0, 5.0, "sandbox-small", ("demo-messages", "demo-chat")),
    "demo-small": Model("low", 0.25, 1.25, "sandbox-small", ("demo-chat", "demo-messages")),
}


_PARTS: Mapping[object, str] = {"serving": "gateway", "router_serving": "router"}
"""Events that tell a port."""


@dataclass(frozen=True, slots=True)
class Stack:
    """A router that runs."""

    server: str
    rpc: str
    key: str


@contextlib.asynccontextmanager
async def own_stack(strategy: str) -> AsyncIterator[Stack]:
    """Run a router for the length of a block; nothing of it is left.

    Raises:
        StartError: it does not come up.
    """
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pointsman-demo-")))
        sandbox = Sandbox()
        stack.push_async_callback(sandbox.aclose)
        await sandbox.start()
        key = f"rk_{secrets.token_hex(20)}"
        (folder / "catalog.toml").write_text(_catalog())
        (folder / "pointsman.toml").write_text(
            _CONFIGURATION.format(folder=folder, key=key, url=sandbox.url, strategy=strategy)
        )
        process = await _process(folder)
        stack.push_async_callback(_stop, process)
        ports = await _ports(process)
        yield Stack(f"http://127.0.0.1:{ports['gateway']}", f"127.0.0.1:{ports['router']}", key)


async def _process(folder: Path) -> asyncio.subprocess.Process:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("POINTSMAN_") and not name.endswith("_API_KEY")
    }
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "services.cli", "serve", "--config", str(folder / "pointsman.toml")),
        env={**kept, "HOME": str(folder)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )


async def _ports(process: asyncio.subprocess.Process) -> dict[str, int]:
    """Return the ports by part, once all of it serves; its output is read on and dropped."""
    ports: dict[str, int] = {}
    last = ""
    lines = process.stdout
    if lines is None:
        raise StartError("the demo's router has no output")
    try:
        async with asyncio.timeout(START_S):
            while not {"gateway", "router"} <= ports.keys():
                line = await lines.readline()
                if not line:
                    raise StartError(f"the demo's router did not start: {last}")
                last = line.decode(errors="replace").strip() or last
                _note(line, ports)
    except TimeoutError:
        raise StartError(f"the demo's router did not start within {START_S:g} s: {last}") from None
    process_output = asyncio.ensure_future(_drop(lines))
    process_output.set_name("demo-output")
    return ports


def _note(line: bytes, ports: dict[str, int]) -> None:
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError:
        return
    if isinstance(fields, dict) and fields.get("event") in SERVING:
        ports[str(fields.get("service"))] = int(fields.get("port", 0))


async def _drop(lines: asyncio.StreamReader) -> None:
    """Read on, so that the process never waits for its output."""
    while await lines.readline():
        pass


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(STOP_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _catalog() -> str:
    return "".join(
        _MODEL.format(
            name=name,
            tier=model.tier,
            bindings="".join(
                _BINDING.format(
                    provider=provider,
                    upstream=model.upstream,
                    input=model.input_usd,
                    output=model.output_usd,
                )
                for provider in model.providers
            ),
        )
        for name, model in _MODELS.items()
    )
