"""A running router whose operators take a model out of automatic picking, and put it back."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx

from services.embedded.host import Stage
from services.embedded.settings import Settings
from services.runtime.catalog import load_catalog
from services.runtime.settings import CatalogSettings

KEY, ADMIN = "rk_0123456789abcdef01234567", "admin-token-of-tests"
PATH = "/admin/v1/automatic-exclusions"
BODY = {"model": "auto", "messages": [{"role": "user", "content": "Prove that 7 is a prime."}]}


@contextlib.asynccontextmanager
async def running(home: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Give a client of a whole router in this process."""
    settings = Settings.model_validate(
        {
            "gateway": {
                "listen": "127.0.0.1:0",
                "rpc_listen": "",
                "database": f"sqlite:///{home}/p.db",
                "bootstrap_key": KEY,
                "admin_token": ADMIN,
            },
            "services": {"credentials": {"database": f"sqlite:///{home}/c.db"}},
            "providers": {"anthropic": {"api_key": "never-sent"}},
        }
    )
    stage = Stage(settings, load_catalog(CatalogSettings(), home))
    async with contextlib.AsyncExitStack() as stack:
        for bundle in stage.bundles:
            stack.push_async_callback(bundle.aclose)
            await bundle.start()
        stack.push_async_callback(stage.edge.aclose)
        await stage.edge.start()
        url = f"http://127.0.0.1:{stage.edge.port}"
        headers = {"x-router-key": KEY, "authorization": f"Bearer {ADMIN}"}
        yield await stack.enter_async_context(
            httpx.AsyncClient(base_url=url, headers=headers, trust_env=False, timeout=30)
        )


async def picked(client: httpx.AsyncClient) -> str:
    """Return the model that would serve a request."""
    headers = {"authorization": ""}
    answer = await client.post("/v1/route", json=BODY, headers=headers)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["model"])


async def put(client: httpx.AsyncClient, *models: str) -> dict[str, object]:
    """Store a list and return what the router says of it."""
    answer = await client.put(PATH, json={"excluded": [{"model": name} for name in models]})
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


async def test_an_excluded_model_is_not_picked_until_it_is_put_back(tmp_path: Path) -> None:
    async with running(tmp_path) as client:
        before = (await client.get(PATH)).json()
        first = await picked(client)
        assert before["excluded"] == []
        told = await put(client, first)
        assert told["excluded"] == [{"model": first, "reason": ""}]
        assert told["config_version"] != before["config_version"]
        second = await picked(client)
        assert second != first
    async with running(tmp_path) as client:
        assert (await client.get(PATH)).json() == told
        assert await picked(client) == second
        assert (await put(client))["config_version"] == before["config_version"]
        assert await picked(client) == first
