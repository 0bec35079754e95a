"""The vendors' SDKs against providers of every dialect, streamed and whole, through the product."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest
import pytest_asyncio

from services.domain.vocab import WireFamily
from services.domain.wire.model import StopReason
from tests.e2e.deployments import Deployment
from tests.e2e.families import PATHS, A, G, O, R, key_of, model_of
from tests.e2e.settings import ROUTER_KEY
from tests.e2e.talkers import TALKERS, Place, Refused, Talker
from tests.fakes.upstream import FakeUpstream, Fault, ToolCall, Usage
from tests.unit.domain.wire.recorded import FAMILIES
from tests.unit.domain.wire.recorded.answers import STOPS, Call, Told
from tests.unit.domain.wire.recorded.answers import Usage as Counts
from tests.unit.domain.wire.recorded.requests import PNG
from tests.unit.domain.wire.recorded.upstreams import read

pytestmark = pytest.mark.asyncio(loop_scope="module")

CITIES = ("Oslo", "Tromsø")
CALLS = tuple(ToolCall("get_weather", {"city": city}) for city in CITIES)
SPENT = Usage(input=100, cached=900, output=40, reasoning=12)
LENGTH = {A: "max_tokens", O: "length", R: "max_output_tokens", G: "MAX_TOKENS"}

by_client = pytest.mark.parametrize("client", FAMILIES, ids=lambda family: family.value)
by_upstream = pytest.mark.parametrize("upstream", FAMILIES, ids=lambda family: family.value)
by_streaming = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@dataclass(frozen=True, slots=True)
class Cell:
    """One of the thirty-two: who asks whom, and how."""

    client: WireFamily
    upstream: WireFamily
    is_streamed: bool

    def told(
        self,
        stop: StopReason = StopReason.END_TURN,
        text: str = "",
        thinking: str = "",
        calls: tuple[Call, ...] = (),
    ) -> Told:
        """Return what the SDK must understand of an answer, less ids and the model's name."""
        reasoning = 0 if self.upstream is A else 12
        counts = Counts(1000, 900, 40, None if self.client is A else reasoning)
        word = STOPS[self.client][stop]
        return Told(text=text, thinking=thinking, calls=calls, stop=word, usage=counts)


@pytest.fixture
def cell(client: WireFamily, upstream: WireFamily, *, streamed: bool) -> Cell:
    return Cell(client, upstream, streamed)


@pytest_asyncio.fixture(loop_scope="module")
async def talker(families: Deployment, provider: FakeUpstream, cell: Cell) -> AsyncIterator[Talker]:
    provider.clear()
    place = Place(families.url, ROUTER_KEY, model_of(cell.upstream), cell.is_streamed)
    async with TALKERS[cell.client](place) as opened:
        yield opened


def bare(told: Told) -> Told:
    return replace(told, call_ids=(), model="")


@pytest.mark.spec("XLT-220", "XLT-224", "DSP-124")
@by_client
@by_upstream
@by_streaming
async def test_a_conversation_with_tools(
    provider: FakeUpstream, talker: Talker, cell: Cell
) -> None:
    """Text, an image, thoughts, two calls at once, their results, stops and usage."""
    provider.script(Fault(text="Grüß Gott 😀", usage=SPENT))
    first = await talker.ask("Hello", PNG)
    assert bare(first) == cell.told(text="Grüß Gott 😀")

    provider.script(Fault(thinking="They ask.", calls=CALLS, usage=SPENT))
    calling = await talker.ask("How is the weather?")
    calls: tuple[Call, ...] = tuple(("get_weather", {"city": city}) for city in CITIES)
    assert bare(calling) == cell.told(StopReason.TOOL_USE, thinking="They ask.", calls=calls)

    provider.script(Fault(text="It is ", stop=LENGTH[cell.upstream], usage=SPENT))
    cut = await talker.answer("Sun")
    assert bare(cut) == cell.told(StopReason.MAX_TOKENS, text="It is ")

    assert [request.key for request in provider.requests] == [key_of(cell.upstream)] * 3
    assert all(PATHS[cell.upstream] in request.path for request in provider.requests)
    if cell.client is not cell.upstream:
        asked = read(cell.upstream, provider.requests[-1].body)
        kinds = [(entry.role, entry.kind) for entry in asked.entries if entry.kind != "thinking"]
        assert kinds == [
            ("user", "text"),
            ("user", "image"),
            ("assistant", "text"),
            ("user", "text"),
            ("assistant", "call"),
            ("assistant", "call"),
            ("user", "result"),
            ("user", "result"),
        ]
        assert [entry.words for entry in asked.entries if entry.kind == "result"] == ["Sun"] * 2
        assert asked.entries[1].words == PNG
        assert [name for name, _, _ in asked.tools] == ["get_weather"]


@pytest.mark.spec("XLT-205", "XLT-224")
@by_client
@by_upstream
@by_streaming
async def test_an_error_before_the_answer_keeps_status_and_words(
    provider: FakeUpstream, talker: Talker
) -> None:
    provider.script(Fault(status=400, message="That knob is not known."), times=None)
    with pytest.raises(Refused) as refused:
        await talker.ask("Hello")
    assert refused.value.status == 400
    assert "That knob is not known." in refused.value.message
    assert len(provider.requests) == 1


@pytest.mark.spec("XLT-36", "XLT-224")
@by_client
@by_upstream
@pytest.mark.parametrize("streamed", [True], ids=["streamed"])
async def test_an_error_inside_the_answer_is_one_of_the_sdk(
    provider: FakeUpstream, talker: Talker, cell: Cell
) -> None:
    fault = Fault(error_after={A: 5, O: 3, R: 6, G: 2}[cell.upstream], message="It broke.")
    provider.script(fault, times=None)
    with pytest.raises(Refused) as refused:
        await talker.ask("Hello")
    assert refused.value.status is None
    assert "It broke." in refused.value.message
    assert len(provider.requests) == 1
