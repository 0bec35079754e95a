"""Each part in a process of its own, joined by addresses from the environment."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from tests.fakes.process import RunningProcess
from tests.fakes.upstream import FakeUpstream
from tests.integration.cli.pointsman import environment
from tests.integration.embedded.acme import START_S, TOKEN, configured, served


class Parts:
    """The parts that run, by name, each told where the earlier ones are."""

    def __init__(self, home: Path, stack: AsyncExitStack) -> None:
        self._home = home
        self._stack = stack
        self._targets: dict[str, str] = {}
        self.running: list[RunningProcess] = []

    async def start(self, name: str) -> int:
        """Start a part and return its port."""
        env = environment(self._home, POINTSMAN_BOOTSTRAP_KEY=TOKEN, **self._targets)
        process = served(self._home, name, env)
        self.running.append(await self._stack.enter_async_context(process))
        line = await process.wait_for_event("serving", START_S)
        port = line.fields["port"]
        assert isinstance(port, int)
        self._targets[f"POINTSMAN_SERVICES__{name.upper()}__TARGET"] = f"127.0.0.1:{port}"
        return port

    def written(self) -> str:
        """Return everything that the parts wrote."""
        return "\n".join(line.text for process in self.running for line in process.lines)


@pytest.mark.spec("OPS-1")
async def test_the_parts_serve_together_over_tcp(tmp_path: Path, upstream: FakeUpstream) -> None:
    configured(tmp_path, upstream)
    async with AsyncExitStack() as stack:
        parts = Parts(tmp_path, stack)
        for name in ("credentials", "dispatch"):
            await parts.start(name)
        port = await parts.start("gateway")
        said = [{"role": "user", "content": "Hello"}]
        body = {"model": "acme-large", "max_tokens": 64, "messages": said}
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", headers={"x-router-key": TOKEN}, trust_env=False
        ) as client:
            for path in ("/v1/chat/completions", "/v1/messages"):
                answer = await client.post(path, json=body, timeout=20)
                assert answer.status_code == 200, answer.text + parts.written()
            sandbox = {**body, "model": "sandbox-large"}
            assert (await client.post("/v1/messages", json=sandbox)).status_code == 404
        assert "canary" not in parts.written()
        assert TOKEN not in parts.written()
