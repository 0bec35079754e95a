"""OpenAI's two dialects through the whole product: each turn where it can be said."""

from __future__ import annotations

import asyncio

import httpx
import orjson
import pytest
import pytest_asyncio

from services.domain.vocab import WireFamily
from tests.e2e.deployments import Deployment
from tests.e2e.faults import WORDS, asked, read
from tests.e2e.settings import CHAT, Wishes
from tests.fakes.upstream import FakeUpstream, Fault, Match

pytestmark = pytest.mark.asyncio(loop_scope="module")

MODERN = "modern"
"""A model that wants Responses; `CHAT` wants nothing in particular."""
WISHES = Wishes(
    models=f"""
[[models]]
id = "{MODERN}"
tier = "mid"
context_window = 200000
max_output_tokens = 32000
[[models.bindings]]
provider = "openai"
wire_family = "openai_responses"
upstream_id = "upstream-{MODERN}"
input_usd_per_mtok = 1.0
output_usd_per_mtok = 2.0
"""
)
ON_CHAT, ON_RESPONSES = "/v1/chat/completions", "/v1/responses"


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def clean(provider: FakeUpstream) -> None:
    provider.clear()


async def ask(
    deployment: Deployment, family: WireFamily, model: str, *, is_stream: bool, **more: object
) -> httpx.Response:
    path, body = asked(family, model, is_stream=is_stream)
    content = orjson.dumps({**orjson.loads(body), **more})
    async with deployment.client() as client:
        return await client.post(
            path, content=content, headers={"content-type": "application/json"}
        )


@pytest.mark.spec("DSP-220", "DSP-223", "XLT-126", "XLT-127")
@pytest.mark.parametrize("is_stream", [True, False], ids=["stream", "whole"])
async def test_every_client_gets_its_own_dialect_from_responses(
    embedded: Deployment, provider: FakeUpstream, is_stream: bool
) -> None:
    async def one(family: WireFamily) -> None:
        answer = await ask(embedded, family, MODERN, is_stream=is_stream)
        said = read(family, answer, is_stream=is_stream)
        assert (answer.status_code, said.text, said.is_ended) == (200, WORDS, True)

    async with asyncio.TaskGroup() as group:
        for family in WireFamily:
            group.create_task(one(family))
    assert [request.path for request in provider.requests] == [ON_RESPONSES] * 4


@pytest.mark.spec("DSP-220", "XLT-126")
async def test_what_chat_alone_can_say_is_asked_there(
    embedded: Deployment, provider: FakeUpstream
) -> None:
    family = WireFamily.OPENAI_CHAT
    answer = await ask(embedded, family, MODERN, is_stream=False, stop=["END"])
    assert answer.status_code == 200
    await ask(embedded, family, CHAT, is_stream=False)
    assert [request.path for request in provider.requests] == [ON_CHAT] * 2


@pytest.mark.spec("DSP-224", "XLT-78")
async def test_what_leans_on_stored_state_is_asked_where_it_is_stored(
    embedded: Deployment, provider: FakeUpstream
) -> None:
    answer = await ask(
        embedded,
        WireFamily.OPENAI_RESPONSES,
        CHAT,
        is_stream=False,
        previous_response_id="resp_1",
    )
    assert answer.status_code == 200
    (request,) = provider.requests
    assert request.path == ON_RESPONSES
    assert request.json["previous_response_id"] == "resp_1"


@pytest.mark.spec("DSP-62", "DSP-143", "DSP-225")
async def test_an_endpoint_without_responses_serves_on_chat_from_then_on(
    embedded: Deployment, provider: FakeUpstream
) -> None:
    """Last in this module: what it teaches stays for an hour."""
    provider.script(Fault(status=404, body={"detail": "x"}), match=Match(path="responses"))
    for family in (WireFamily.ANTHROPIC, WireFamily.OPENAI_RESPONSES):
        answer = await ask(embedded, family, MODERN, is_stream=True)
        said = read(family, answer, is_stream=True)
        assert (answer.status_code, said.text, said.is_ended) == (200, WORDS, True)
    assert [request.path for request in provider.requests] == [ON_RESPONSES, ON_CHAT, ON_CHAT]
