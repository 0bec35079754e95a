"""The strategy `cluster` through the whole product: embedded, and as seven processes."""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from pathlib import Path

import httpx
import orjson
import pytest

from services.runtime.catalog import load_catalog
from services.runtime.settings import CatalogSettings
from tests.e2e.deployments import Deployment
from tests.e2e.settings import CHAT, MESSAGES, TWIN, Wishes
from tests.fakes.upstream import FakeUpstream, Fault, Match, RecordedRequest, Usage

pytestmark = pytest.mark.asyncio(loop_scope="module")

DEAR, CHEAP = "dear", "cheap"
UPSTREAM_DEAR, UPSTREAM_CHEAP = "dear-upstream", "cheap-upstream"
ELSEWHERE = (*load_catalog(CatalogSettings(), Path()).models, MESSAGES, CHAT, TWIN)


def _model(name: str, tier: str, skill: float, provider: str, prices: tuple[float, ...]) -> str:
    return f"""
[[models]]
id = "{name}"
tier = "{tier}"
skill = {skill}
context_window = 400000
[[models.bindings]]
provider = "{provider}"
upstream_id = "{name}-upstream"
input_usd_per_mtok = {prices[0]}
output_usd_per_mtok = {prices[1]}
cache_read_multiplier = {prices[2]}
cache_write_multiplier = {prices[3]}
"""


WISHES = Wishes(
    strategy="cluster",
    routing=f"excluded_models = {orjson.dumps(ELSEWHERE).decode()}\nsummarizer_model = '{CHEAP}'",
    scorer="risk_price_usd = 0.5",
    models=_model(DEAR, "top", 0.95, "anthropic", (5.0, 25.0, 0.1, 1.25))
    + _model(CHEAP, "mid", 0.5, "openai", (0.3, 1.2, 0.2, 1.0)),
)
"""Short prompts are worth the dear model; in long ones its price outweighs the risk."""

HARD = "Prove that every finite integral domain is a field, and explain each step of the argument."
LONG = "The log goes on. " * 24_000
"""About 100,000 tokens."""
WARM = Usage(input=20, output=60, cached=0, written=8_000)
BACK_SECONDS = 15.0
SUMMARY = "They asked for a proof; it was given."


@pytest.fixture
def routed(deployment: Deployment, provider: FakeUpstream) -> Deployment:
    provider.clear()
    return deployment


async def ask(
    deployment: Deployment,
    session: str,
    messages: list[dict[str, object]],
    **members: object,
) -> httpx.Response:
    body = {"model": DEAR, "max_tokens": 1000, "messages": messages, **members}
    async with deployment.client(**{"x-claude-code-session-id": session}) as client:
        return await client.post("/v1/messages", json=body)


def user(words: str) -> dict[str, object]:
    return {"role": "user", "content": words}


def assistant(words: str) -> dict[str, object]:
    return {"role": "assistant", "content": words}


def decision(answer: httpx.Response) -> tuple[str, str]:
    assert answer.status_code == 200, answer.text
    return answer.headers["x-router-decision"], answer.headers["x-router-model"]


async def bring_back(deployment: Deployment, part: str) -> None:
    """Start a part again and wait until new sessions are served."""
    await deployment.start(part)
    async with asyncio.timeout(BACK_SECONDS):
        while (await ask(deployment, fresh_session(), [user(HARD)])).status_code != 200:
            pass


def fresh_session() -> str:
    return str(uuid.uuid4())


async def test_a_conversation_is_scored_pinned_and_switched_with_a_summary(
    routed: Deployment, provider: FakeUpstream
) -> None:
    provider.script(Fault(usage=WARM), times=None, match=Match(model=UPSTREAM_DEAR))
    session = fresh_session()
    history = [user(HARD)]
    reason, model = decision(await ask(routed, session, history))
    assert reason.startswith("cluster:")
    assert model == DEAR

    history += [assistant("Here is the proof."), user("And the converse?")]
    assert decision(await ask(routed, session, history)) == ("stay_same_model", DEAR)

    provider.script(Fault(text=SUMMARY), match=Match(model=UPSTREAM_CHEAP))
    history += [assistant(LONG), user("Go on.")]
    reason, model = decision(await ask(routed, session, history))
    assert (reason, model) == ("switch_value_positive", CHEAP)
    writing, answering = provider.requests[-2:]
    assert writing.model == answering.model == UPSTREAM_CHEAP
    assert len(writing.body) > len(LONG)
    assert len(answering.body) < 10_000
    assert SUMMARY in answering.body.decode()
    assert "Go on." in answering.body.decode()

    history += [assistant("Gone on."), user("Thanks.")]
    decision(await ask(routed, session, history))
    assert len(provider.requests) == 5, "a kept summary is not paid for again"
    assert SUMMARY in provider.requests[-1].body.decode()
    assert "Gone on." in provider.requests[-1].body.decode()


async def test_tool_results_are_scored_and_keep_their_model(
    routed: Deployment, provider: FakeUpstream
) -> None:
    session = fresh_session()
    tool = {"name": "look", "description": "Looks", "input_schema": {"type": "object"}}
    history = [user(HARD)]
    first = decision(await ask(routed, session, history, tools=[tool]))
    call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "seen"}
    history += [
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]
    reason, model = decision(await ask(routed, session, history, tools=[tool]))
    assert reason == "stay_same_model"
    assert model == first[1]


@pytest.mark.spec("TRN-29")
async def test_probes_and_titles_are_hard_pinned_and_leave_no_pin(
    routed: Deployment, provider: FakeUpstream
) -> None:
    session = fresh_session()
    probe = await ask(routed, session, [user(HARD)], max_tokens=1)
    assert decision(probe) == ("hard_pin_probe", CHEAP)
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    shape = {"format": {"type": "json_schema", "schema": schema}}
    title = await ask(routed, session, [user(HARD)], output_config=shape)
    assert decision(title) == ("hard_pin_title_gen", CHEAP)
    reason, model = decision(await ask(routed, session, [user(HARD)]))
    assert reason.startswith("cluster:")
    assert model == DEAR


def rounds(count: int, words: str) -> list[dict[str, object]]:
    """Return a history of so many questions and answers."""
    said = [(user(f"question {n}"), assistant(f"answer {n}: {words}")) for n in range(count)]
    return [message for pair in said for message in pair]


@pytest.mark.spec("HND-40", "HND-53", "HND-63")
async def test_a_conversation_that_outgrows_the_windows_goes_on_with_a_summary(
    routed: Deployment, provider: FakeUpstream
) -> None:
    session, history = fresh_session(), [user(HARD)]
    assert decision(await ask(routed, session, history))[1] == DEAR
    provider.script(Fault(text=SUMMARY), match=Match(body="nine numbered"))
    history += [assistant("Here is the proof."), *rounds(20, "word " * 14_000), user("Go on.")]
    decision(await ask(routed, session, history))
    writing, answering = provider.requests[-2:]
    assert writing.model == UPSTREAM_DEAR, "what the session is pinned to writes it"
    assert b"answer 3: word" in writing.body
    sent = answering.body.decode()
    assert SUMMARY in sent
    assert HARD in sent, "the user's words are there word for word"
    assert "answer 3: word" not in sent
    assert "answer 19: word" in sent

    history += [assistant("Gone on."), user("Thanks.")]
    decision(await ask(routed, session, history))
    assert len(provider.requests) == 4, "what is kept is not paid for again"
    again = provider.requests[-1].body.decode()
    assert SUMMARY in again
    assert "Gone on." in again


@pytest.mark.spec("DSP-162")
async def test_after_a_refusal_for_length_the_next_action_is_compacted(
    routed: Deployment, provider: FakeUpstream
) -> None:
    session = fresh_session()
    history = [user(HARD), assistant("Proven."), *rounds(20, "word " * 7_000), user("Go on.")]
    provider.script(Fault(status=400, message="prompt is too long: 500000 tokens"), times=None)
    refused = await ask(routed, session, history)
    assert refused.status_code in (400, 413), refused.text
    provider.clear()
    provider.script(Fault(text=SUMMARY), match=Match(body="nine numbered"))
    decision(await ask(routed, session, history))
    assert "answer 3: word" not in provider.requests[-1].body.decode()


async def test_a_switch_whose_summary_fails_sends_the_full_history(
    routed: Deployment, provider: FakeUpstream
) -> None:
    provider.script(Fault(usage=WARM), times=None, match=Match(model=UPSTREAM_DEAR))
    provider.script(Fault(status=400), match=Match(model=UPSTREAM_CHEAP))
    session = fresh_session()
    history = [user(HARD)]
    await ask(routed, session, history)
    history += [assistant(LONG), user("Go on.")]
    assert decision(await ask(routed, session, history)) == ("switch_value_positive", CHEAP)
    assert len(provider.requests[-1].body) > len(LONG)


async def test_fifty_actions_of_one_session_at_once_are_all_served(
    routed: Deployment, provider: FakeUpstream
) -> None:
    session = fresh_session()
    asked = [ask(routed, session, [user(HARD)]) for _ in range(50)]
    answers = await asyncio.gather(*asked)
    assert {decision(answer)[1] for answer in answers} == {DEAR}
    history = [user(HARD), assistant("Done."), user("Thanks")]
    assert decision(await ask(routed, session, history)) == ("stay_same_model", DEAR)


async def test_apart_and_embedded_decide_alike_and_send_the_same_bytes(
    embedded: Deployment, apart: Deployment, provider: FakeUpstream
) -> None:
    sent: list[list[tuple[str, bytes]]] = []
    decided: list[list[tuple[str, str]]] = []
    for deployment in (embedded, apart):
        provider.clear()
        provider.script(Fault(usage=WARM), times=None, match=Match(model=UPSTREAM_DEAR))
        provider.script(Fault(text=SUMMARY), match=Match(model=UPSTREAM_CHEAP))
        session, history = fresh_session(), [user(HARD)]
        made = [decision(await ask(deployment, session, history))]
        for said, asked in (("Here.", "And then?"), (LONG, "Go on."), ("Gone on.", "Thanks.")):
            history = [*history, assistant(said), user(asked)]
            made.append(decision(await ask(deployment, session, history)))
        decided.append(made)
        sent.append([_bytes(request) for request in provider.requests])
    assert decided[0] == decided[1]
    assert [model for _, model in decided[0]][:3] == [DEAR, DEAR, CHEAP]
    assert sent[0] == sent[1]


def _bytes(request: RecordedRequest) -> tuple[str, bytes]:
    """Return what was sent where, less the session's key: that is of the router key's id."""
    return request.path, re.sub(rb'"prompt_cache_key":"[0-9a-f]+"', b"", request.body)


@pytest.mark.spec("HND-131")
async def test_without_handover_what_fits_no_window_is_413(
    apart: Deployment, provider: FakeUpstream
) -> None:
    provider.clear()
    session, history = fresh_session(), [user(HARD)]
    await ask(apart, session, history)
    await apart.kill("handover")
    long = [*history, assistant("So."), *rounds(20, "word " * 14_000), user("Go on.")]
    assert (await ask(apart, session, long)).status_code == 200, "within the window"
    longer = [*history, assistant("So."), *rounds(30, "word " * 14_000), user("Go on.")]
    refused = await ask(apart, session, longer)
    assert refused.status_code == 413
    assert refused.json()["error"]["type"] == "invalid_request_error"
    await bring_back(apart, "handover")


async def test_without_handover_a_switch_keeps_the_full_history(
    apart: Deployment, provider: FakeUpstream
) -> None:
    provider.clear()
    provider.script(Fault(usage=WARM), times=None, match=Match(model=UPSTREAM_DEAR))
    session, history = fresh_session(), [user(HARD)]
    await ask(apart, session, history)
    await apart.kill("handover")
    history += [assistant(LONG), user("Go on.")]
    assert decision(await ask(apart, session, history)) == ("switch_value_positive", CHEAP)
    assert len(provider.requests[-1].body) > len(LONG)
    await bring_back(apart, "handover")


@pytest.mark.spec("TRN-92")
async def test_without_the_planner_pins_are_kept(apart: Deployment, provider: FakeUpstream) -> None:
    provider.clear()
    session, history = fresh_session(), [user(HARD)]
    assert decision(await ask(apart, session, history))[1] == DEAR
    await apart.kill("planner")
    history += [assistant(LONG), user("Go on.")]
    started = time.monotonic()
    assert decision(await ask(apart, session, history)) == ("planner_unavailable_pin", DEAR)
    assert time.monotonic() - started < 2.0
    await bring_back(apart, "planner")


async def test_without_the_scorer_pinned_sessions_are_served_and_others_told_to_wait(
    apart: Deployment, provider: FakeUpstream
) -> None:
    provider.clear()
    session, history = fresh_session(), [user(HARD)]
    assert decision(await ask(apart, session, history))[1] == DEAR
    await apart.kill("scorer")
    history += [assistant("Here."), user("Thanks.")]
    assert decision(await ask(apart, session, history)) == ("scorer_unavailable_pin", DEAR)
    other = await ask(apart, fresh_session(), [user(HARD)])
    assert other.status_code == 503
    assert other.headers["retry-after"] == "1"
    assert other.json()["type"] == "error"
    await bring_back(apart, "scorer")
