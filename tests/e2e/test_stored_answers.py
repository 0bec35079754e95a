"""Who goes on from an answer that a provider keeps stays on the account that keeps it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest
import pytest_asyncio

from tests.e2e import deployments
from tests.e2e.deployments import Deployment
from tests.e2e.families import R, four_families, key_of, model_of
from tests.fakes.upstream import FakeUpstream, Fault, Match

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECOND = "second-key"
SECOND_ENTRY = f"""
[[credentials]]
provider = "of-{R.value}"
label = "second"
secret = "{SECOND}"
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pooled(
    provider: FakeUpstream, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Deployment]:
    wishes = four_families(provider.base_url)
    wishes = replace(
        wishes, tables=wishes.tables + SECOND_ENTRY, credentials="session_affinity = false\n"
    )
    async with deployments.embedded(tmp_path_factory.mktemp("home"), provider, wishes) as running:
        yield running


async def _ask(client: httpx.AsyncClient, words: str, after: str = "") -> httpx.Response:
    body = {"model": model_of(R), "input": words}
    return await client.post(
        "/v1/responses", json={**body, **({"previous_response_id": after} if after else {})}
    )


@pytest.mark.spec("XLT-78")
async def test_a_throttled_account_is_not_left_for_one_that_does_not_know_the_answer(
    pooled: Deployment, provider: FakeUpstream
) -> None:
    async with pooled.client() as client:
        issued = {}
        for number in range(4):
            answer = await _ask(client, f"hello {number}")
            issued[provider.requests[-1].key] = answer.json()["id"]
        assert set(issued) == {key_of(R), SECOND}
        for key, answer_id in issued.items():
            for _ in range(2):
                assert (await _ask(client, "go on", answer_id)).status_code == 200
                assert provider.requests[-1].key == key

        provider.clear()
        provider.script(
            Fault(status=429, retry_after=600, message="slow down"),
            times=None,
            match=Match(key=f"{SECOND}$"),
        )
        refused = await _ask(client, "go on", issued[SECOND])
        assert refused.status_code == 429
        assert "slow down" in refused.text
        assert refused.headers["retry-after"] == "600"
        assert {one.key for one in provider.requests} == {SECOND}

        assert (await _ask(client, "something else")).status_code == 200
        assert (await _ask(client, "go on", issued[key_of(R)])).status_code == 200
        assert provider.requests[-1].key == key_of(R)
        provider.clear()
