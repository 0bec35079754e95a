"""LangChain's chat models against providers of every dialect, streamed and whole."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from services.domain.vocab import WireFamily
from services.domain.wire.model import StopReason
from tests.e2e.deployments import Deployment
from tests.e2e.families import PATHS, O, model_of
from tests.e2e.settings import ROUTER_KEY
from tests.e2e.talkers import Place, Talker
from tests.e2e.talkers.langchain import LANGCHAIN
from tests.fakes.upstream import FakeUpstream, Fault, ToolCall, Usage
from tests.unit.domain.wire.recorded import FAMILIES
from tests.unit.domain.wire.recorded.answers import STOPS, Call, Told
from tests.unit.domain.wire.recorded.answers import Usage as Counts
from tests.unit.domain.wire.recorded.requests import PNG
from tests.unit.domain.wire.recorded.upstreams import read

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    # Google's SDK derives its session from aiohttp's, which aiohttp warns of.
    pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning"),
]

CITIES = ("Oslo", "Tromsø")
CALLS = tuple(ToolCall("get_weather", {"city": city}) for city in CITIES)
SPENT = Usage(input=100, cached=900, output=40)

by_client = pytest.mark.parametrize("client", FAMILIES, ids=lambda family: family.value)
by_upstream = pytest.mark.parametrize("upstream", FAMILIES, ids=lambda family: family.value)
by_streaming = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest_asyncio.fixture(loop_scope="module")
async def talker(
    families: Deployment,
    provider: FakeUpstream,
    client: WireFamily,
    upstream: WireFamily,
    *,
    streamed: bool,
) -> AsyncIterator[Talker]:
    provider.clear()
    place = Place(families.url, ROUTER_KEY, model_of(upstream), streamed)
    async with LANGCHAIN[client](place) as opened:
        yield opened


@pytest.mark.spec("XLT-224")
@by_client
@by_upstream
@by_streaming
async def test_a_conversation_with_tools(
    provider: FakeUpstream, talker: Talker, client: WireFamily, upstream: WireFamily
) -> None:
    end, use = (STOPS[client][stop] for stop in (StopReason.END_TURN, StopReason.TOOL_USE))
    provider.script(Fault(text="Grüß Gott 😀", usage=SPENT))
    assert bare(await talker.ask("Hello", PNG)) == told(end, text="Grüß Gott 😀")

    provider.script(Fault(thinking="They ask.", calls=CALLS, usage=SPENT))
    calling = await talker.ask("How is the weather?")
    # LangChain leaves out what Chat Completions upstreams tell of their thoughts.
    thinking = "" if client is O else "They ask."
    calls: tuple[Call, ...] = tuple(("get_weather", {"city": city}) for city in CITIES)
    assert bare(calling) == told(use, thinking=thinking, calls=calls)
    assert len(set(calling.call_ids)) == len(CITIES)

    provider.script(Fault(text="It is sunny.", usage=SPENT))
    assert bare(await talker.answer("Sun")) == told(end, text="It is sunny.")

    assert len(provider.requests) == 3
    assert all(PATHS[upstream] in request.path for request in provider.requests)
    if client is not upstream:
        _assert_told(upstream, provider.requests[-1].body)


def _assert_told(upstream: WireFamily, body: bytes) -> None:
    """Assert that a strict provider reads the whole conversation, each call with its result."""
    asked = read(upstream, body)
    entries = [entry for entry in asked.entries if entry.kind != "thinking"]
    kinds = [(entry.role, entry.kind) for entry in entries]
    texts = [("user", "text"), ("user", "image"), ("assistant", "text"), ("user", "text")]
    assert kinds == [*texts, *[("assistant", "call")] * 2, *[("user", "result")] * 2]
    assert entries[1].words == PNG
    assert [entry.words for entry in entries if entry.kind == "result"] == ["Sun"] * 2
    assert [name for name, _, _ in asked.tools] == ["get_weather"]


def bare(heard: Told) -> Told:
    return replace(heard, call_ids=(), model="")


def told(stop: str, text: str = "", thinking: str = "", calls: tuple[Call, ...] = ()) -> Told:
    """Return what is to be understood of an answer, less ids and the model's name."""
    counts = Counts(prompt=1000, cached=900, output=40, reasoning=0)
    return Told(text=text, thinking=thinking, calls=calls, stop=stop, usage=counts)
