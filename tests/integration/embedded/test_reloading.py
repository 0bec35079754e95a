"""A running router whose catalog files change."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import httpx
import pytest

from tests.fakes.process import LogLine, RunningProcess
from tests.fakes.upstream import FakeUpstream, Fault, Match
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


SECOND = '[[credentials]]\nprovider = "acme"\nlabel = "second"\nsecret = "canary-second"\n'
"""An account of the same provider that serves before the other."""


@pytest.mark.spec("OPS-98", "OPS-99")
async def test_settings_come_and_go_without_a_restart(
    tmp_path: Path, upstream: FakeUpstream
) -> None:
    configured(tmp_path, upstream)
    large = CATALOG.replace('"acme-large"', '"acme-large"\nfallbacks = ["acme-small"]')
    replace(tmp_path, large + CATALOG.replace("acme-large", "acme-small"))
    file = tmp_path / "pointsman.toml"
    plain = file.read_text()
    env = environment(tmp_path, POINTSMAN_BOOTSTRAP_KEY=TOKEN, POINTSMAN_LOG__FORMAT="json")
    async with served(tmp_path, "", env) as process, FakeUpstream() as other:
        url = f"http://127.0.0.1:{await port_of(process)}"
        async with httpx.AsyncClient(base_url=url, headers=HEADERS, trust_env=False) as client:

            async def reloaded(text: str, event: str, times: int = 1, **fields: object) -> LogLine:
                """Change the file, and return the line that was waited for."""
                aside = tmp_path / "pointsman.new"
                aside.write_text(text)
                aside.replace(file)
                process.send_signal(signal.SIGHUP)

                def is_last(line: LogLine) -> bool:
                    found = [each for each in process.lines if each.has(event=event, **fields)]
                    return len(found) >= times and line is found[-1]

                return await process.wait_for_line(is_last, LATER_S)

            async def served_by(key: str) -> None:
                """Return once requests are served by a key; it is adopted just after its line."""
                async with asyncio.timeout(LATER_S):
                    while True:
                        assert await status_of(client, "acme-large") == 200
                        if upstream.requests[-1].key == key:
                            return

            await served_by("canary-upstream-key")
            with_second = plain + SECOND + "priority = 5\n"
            await reloaded(with_second, "pool_reconciled", changed=1, removed=0, times=2)
            await served_by("canary-second")
            await reloaded(plain, "pool_reconciled", changed=0, removed=1)
            await served_by("canary-upstream-key")
            await reloaded(with_second, "pool_reconciled", changed=1, removed=0, times=3)
            await served_by("canary-second")

            await reloaded(plain, "pool_reconciled", changed=0, removed=1, times=2)
            closed = plain.replace("[routing]", '[routing]\nexcluded_models = ["acme-large"]')
            await reloaded(closed, "config_reloaded", keys=["routing.excluded_models"])
            assert await status_of(client, "acme-large") == 400
            wrong = plain.replace("[routing]", '[routing]\nexcluded_model = ["acme-large"]')
            failed = await reloaded(wrong, "config_reload_failed")
            assert "routing.excluded_model: unknown key; did you mean" in str(failed.fields)
            nobody = plain.replace("[routing]", '[routing]\nexcluded_models = ["acme-larg"]')
            failed = await reloaded(nobody, "config_reload_failed", times=2)
            assert "pointsman.toml: routing.excluded_models.0: no model" in str(failed.fields)
            assert await status_of(client, "acme-large") == 400

            alone = plain.replace("[routing]", "[routing]\nsibling_failover = false")
            keys = ["routing.excluded_models", "routing.sibling_failover"]
            await reloaded(alone, "config_reloaded", keys=keys)
            upstream.script(Fault(status=500), times=None, match=Match(model="acme-large"))
            assert await status_of(client, "acme-large") == 500
            await reloaded(plain, "config_reloaded", keys=keys[1:])
            assert await status_of(client, "acme-large") == 200
            assert upstream.requests[-1].model == "acme-small"
            upstream.rules.clear()

            moved = plain.replace(upstream.base_url, other.base_url)
            moved = moved.replace('listen = "127.0.0.1:0"', 'listen = "127.0.0.1:1"', 1)
            waiting = await reloaded(moved, "config_restart_needed")
            assert waiting.fields["keys"] == ["gateway.listen"]
            await process.wait_for_event(
                "config_reloaded", LATER_S, keys=["providers.acme.base_url"]
            )
            before = len(upstream.requests)
            assert await status_of(client, "acme-large") == 200
            assert (len(upstream.requests), len(other.requests)) == (before, 1)
        assert [line.text for line in process.lines if "canary" in line.text] == []
