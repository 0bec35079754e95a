"""Other gateways as targets, each in an environment of its own below `.bench/peers`.

`python -m tests.bench.peers` makes those environments.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping

from tests.bench.machine import ROOT, BenchError, Machine
from tests.bench.ports import settled_port
from tests.bench.shapes import BURST_MODEL, PACED_MODEL, Entrance, Route, Target

FOLDER = ROOT / ".bench" / "peers"
LITELLM = FOLDER / "litellm" / "bin" / "litellm"
PORTKEY = FOLDER / "portkey" / "node_modules/@portkey-ai/gateway/build/start-server.js"

LITELLM_REQUIREMENT = "litellm[proxy]==1.108.7"
LITELLM_KEY = "sk-bench"
LITELLM_ENVIRONMENT: Mapping[str, str] = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "ERROR",
    "LITELLM_TELEMETRY": "False",
    "NO_DOCS": "True",
}

PORTKEY_PACKAGE = {
    "private": True,
    "dependencies": {"@portkey-ai/gateway": "1.15.2"},
    # Under the newer server adapter that it resolves to, every stream answers 500.
    "overrides": {"@hono/node-server": "1.13.8"},
}


def is_installed(name: str) -> bool:
    """Tell whether a peer can be measured."""
    if name == "litellm":
        return LITELLM.exists()
    return PORTKEY.exists() and shutil.which("node") is not None


@contextlib.contextmanager
def litellm(machine: Machine, provider_port: int) -> Iterator[Target]:
    """Run the LiteLLM proxy with one worker and without a database."""
    file = machine.folder / "litellm.json"
    file.write_text(json.dumps(_litellm_configuration(provider_port)))
    port = settled_port()
    address = ("--host", "127.0.0.1", "--port", str(port))
    command = (str(LITELLM), "--config", str(file), *address, "--num_workers", "1")
    environment = {**LITELLM_ENVIRONMENT, "HOME": str(machine.folder), "PYTHONPATH": ""}
    with machine.running("litellm", command, env=environment) as program:
        entrances = {
            Route.MESSAGES: _litellm_entrance("anthropic"),
            Route.CHAT: _litellm_entrance("openai"),
            Route.CHAT_TO_MESSAGES: _litellm_entrance("anthropic"),
        }
        seconds = program.first_answer(port, Route.MESSAGES, entrances[Route.MESSAGES])
        yield Target("litellm", port, (program.pid,), entrances, seconds, "1 worker")


@contextlib.contextmanager
def portkey(machine: Machine, provider_port: int) -> Iterator[Target]:
    """Run the Portkey gateway."""
    port = settled_port()
    command = (shutil.which("node") or "node", str(PORTKEY), f"--port={port}", "--headless")
    environment = {
        "HOME": str(machine.folder),
        "NODE_ENV": "production",
        "TRUSTED_CUSTOM_HOSTS": "localhost,127.0.0.1",
    }
    with machine.running("portkey", command, env=environment) as program:
        entrances = {
            Route.MESSAGES: _portkey_entrance("anthropic", provider_port),
            Route.CHAT: _portkey_entrance("openai", provider_port),
        }
        seconds = program.first_answer(port, Route.CHAT, entrances[Route.CHAT])
        yield Target("portkey", port, (program.pid,), entrances, seconds)


def install() -> None:
    """Make the environments of all peers.

    Raises: subprocess.CalledProcessError.
    """
    folder = LITELLM.parents[1]
    venv.create(folder, with_pip=True)
    subprocess.run(
        [str(folder / "bin/python"), "-m", "pip", "install", "-q", LITELLM_REQUIREMENT], check=True
    )
    npm = shutil.which("npm")
    if npm is None:
        raise BenchError("npm: not found; Portkey needs Node.js 20 or newer")
    project = FOLDER / "portkey"
    project.mkdir(parents=True, exist_ok=True)
    (project / "package.json").write_text(json.dumps(PORTKEY_PACKAGE))
    subprocess.run([npm, "install", "--no-audit", "--no-fund"], cwd=project, check=True)


def _litellm_configuration(provider_port: int) -> Mapping[str, object]:
    bases = {
        "anthropic": f"http://127.0.0.1:{provider_port}",
        "openai": f"http://127.0.0.1:{provider_port}/v1",
    }
    return {
        "model_list": [
            {
                "model_name": f"{vendor}-{model}",
                "litellm_params": {
                    "model": f"{vendor}/{model}",
                    "api_base": base,
                    "api_key": "x",
                },
            }
            for vendor, base in bases.items()
            for model in (BURST_MODEL, PACED_MODEL)
        ],
        "litellm_settings": {"telemetry": False, "request_timeout": 60},
        "general_settings": {"master_key": LITELLM_KEY},
    }


def _litellm_entrance(vendor: str) -> Entrance:
    headers = {"Authorization": f"Bearer {LITELLM_KEY}"}
    return Entrance(headers, f"{vendor}-{BURST_MODEL}", f"{vendor}-{PACED_MODEL}")


def _portkey_entrance(vendor: str, provider_port: int) -> Entrance:
    return Entrance(
        {
            "x-portkey-provider": vendor,
            "x-portkey-custom-host": f"http://127.0.0.1:{provider_port}/v1",
            "Authorization": "Bearer x",
            "x-api-key": "x",
        }
    )


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["install"]):
        raise SystemExit("usage: python -m tests.bench.peers [install]")
    try:
        install()
    except (BenchError, subprocess.CalledProcessError) as error:
        raise SystemExit(str(error)) from None
