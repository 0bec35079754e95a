"""A running router whose catalog files change."""

from __future__ import annotations

import signal
from pathlib import Path

import httpx
import pytest

from tests.fakes.process import RunningProcess
from tests.fakes.upstream import FakeUpstream
from tests.integration.cli.pointsman import environment
from tests.integration.embedded.acme import CATALOG, START_S, TOKEN, configured, served

LATER_S = 10.0
HEADERS = {"authorization": f"Bearer {TOKEN}"}


def replace(home: Path, text: str) -> None:
    """Put another file in the place of the catalog's, whole."""
    aside = home / "acme.toml.new"
    aside.write_text(text)
    aside.replace(home / "acme.toml")


async def port_of(process: RunningProcess) -> int:
    line = await process.wait_for_event("serving", START_S)
    port = line.fields["port"]
    assert isinstance(port, int)
    return port


async def ids(client: httpx.AsyncClient) -> set[str]:
    answer = await client.get("/v1/models")
    return {model["id"] for model in answer.json()["data"]}


async def status_of(client: httpx.AsyncClient, model: str) -> int:
    said = [{"role": "user", "content": "Hello"}]
    answer = await client.post("/v1/chat/completions", json={"model": model, "messages": said})
    return answer.status_code


@pytest.mark.spec("SCO-64", "OPS-98")
async def test_models_come_and_go_without_a_restart(tmp_path: Path, upstream: FakeUpstream) -> None:
    configured(tmp_path, upstream)
    env = environment(tmp_path, POINTSMAN_BOOTSTRAP_KEY=TOKEN, POINTSMAN_LOG__FORMAT="json")
    async with served(tmp_path, "", env) as process:
        url = f"http://127.0.0.1:{await port_of(process)}"
        async with httpx.AsyncClient(base_url=url, headers=HEADERS, trust_env=False) as client:
            assert await status_of(client, "acme-large") == 200
            assert await status_of(client, "acme-new") == 404
            replace(tmp_path, CATALOG + CATALOG.replace("acme-large", "acme-new"))
            process.send_signal(signal.SIGHUP)
            most = (await process.wait_for_event("catalog_reloaded", LATER_S)).fields["models"]
            assert isinstance(most, int)
            assert {"acme-large", "acme-new"} <= await ids(client)
            assert await status_of(client, "acme-new") == 200
            replace(tmp_path, "[[models]]\nid = 'acme-new'\n")
            failed = await process.wait_for_event("config_reload_failed", LATER_S)
            assert "acme.toml: model 'acme-new': needs at least one" in str(failed.fields)
            assert await status_of(client, "acme-new") == 200
            replace(tmp_path, CATALOG)
            await process.wait_for_line(
                lambda line: line.has(event="catalog_reloaded", models=most - 1), LATER_S
            )
            assert "acme-new" not in await ids(client)
            assert await status_of(client, "acme-new") == 404
            assert await status_of(client, "acme-large") == 200
