"""Commands in conversations, over real HTTP, with scripted services behind the gateway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import orjson
import pytest

from gateway.commands.model import MARK
from gateway.eligibility import Policy
from gateway.model.decision import PlanAnswer
from services.domain.catalog import build_catalog
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from tests.integration.gateway.test_deciding import BIG, SMALL, Routed, _row, routed

__all__ = ["routed"]

HARNESS = {"x-app": "cli", "x-claude-code-session-id": "11111111-2222-3333-4444-555555555555"}
Said = list[dict[str, object]]


def user(text: str) -> dict[str, object]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, object]:
    return {"role": "assistant", "content": text}


async def said(routed: Routed, *messages: dict[str, object], **members: object) -> str:
    """Return the words of the answer to a command."""
    status, headers, body = await routed.ask(list(messages), HARNESS, **members)
    assert status == 200
    assert headers["x-router-decision"] == "command"
    response = codec_for(WireFamily.ANTHROPIC).decode_response(body)
    assert response.model == "router"
    return str(orjson.loads(body)["content"][0]["text"])


async def decided(
    routed: Routed, *messages: dict[str, object], headers: Mapping[str, str] = HARNESS
) -> tuple[str, str]:
    status, answered, _ = await routed.ask(list(messages), headers)
    assert status == 200
    return answered["x-router-model"], answered["x-router-decision"]


@pytest.mark.spec("TRN-72", "TRN-76")
async def test_a_forced_model_serves_all_that_follows_until_it_is_let_go(routed: Routed) -> None:
    told = await said(routed, user("/fm small"))
    assert told.startswith(f"{MARK}small serves this conversation")
    assert routed.dispatch.orders == []
    talk = [user("/fm small"), assistant(told), user("hello")]
    assert await decided(routed, *talk) == (SMALL, "forced_by_command")
    assert routed.order_body() == {
        "model": BIG,
        "max_tokens": 1000,
        "messages": [user("hello")],
    }
    status, headers, _ = await routed.ask([*talk], HARNESS, max_tokens=1)
    assert (status, headers["x-router-model"]) == (200, SMALL)
    assert routed.scorer.asked == []
    await said(routed, *talk, assistant("hi"), user("$ufm"))
    assert await decided(routed, user("another thread")) == (BIG, "cluster:big")


@pytest.mark.spec("TRN-38")
async def test_every_thread_of_the_session_is_forced_and_no_other_session(routed: Routed) -> None:
    await said(routed, user("/force-model small"))
    assert await decided(routed, user("a thread that begins otherwise")) == (
        SMALL,
        "forced_by_command",
    )
    other = {**HARNESS, "x-claude-code-session-id": "99999999-2222-3333-4444-555555555555"}
    assert await decided(routed, user("hello"), headers=other) == (BIG, "cluster:big")


@pytest.mark.spec("TRN-71")
async def test_a_prompt_below_the_command_is_served_at_once(routed: Routed) -> None:
    assert await decided(routed, user("/fm small:high\nfix it")) == (SMALL, "forced_by_command")
    assert routed.dispatch.orders[-1].plan.effort == "high"
    body = routed.order_body()
    assert isinstance(body, dict)
    assert body["messages"] == [user("fix it")]


@pytest.mark.spec("TRN-73", "TRN-74")
async def test_a_name_that_means_nothing_or_may_not_serve_changes_nothing(routed: Routed) -> None:
    await said(routed, user("/fm small"))
    assert "unknown model 'smal'" in await said(routed, user("/fm smal\nfix it"))
    assert await decided(routed, user("hello")) == (SMALL, "forced_by_command")


@pytest.mark.spec("TRN-70")
async def test_programs_that_are_not_recognised_command_nothing(routed: Routed) -> None:
    status, headers, _ = await routed.ask([user("/fm small")])
    assert (status, headers["x-router-decision"]) == (200, "cluster:big")
    assert routed.order_body() == {
        "model": BIG,
        "max_tokens": 1000,
        "messages": [user("/fm small")],
    }


@pytest.mark.spec("TRN-77")
async def test_after_a_command_the_pin_serves_once_whatever_is_picked(routed: Routed) -> None:
    first = user("hello")
    routed.scorer.picks = [BIG]
    await decided(routed, first)
    routed.scorer.picks = [SMALL]
    routed.planner.answer = PlanAnswer(True, "value_positive")
    told = await said(routed, first, assistant("hi"), user("/rf+"))
    talk = [first, assistant("hi"), user("/rf+"), assistant(told), user("go on")]
    assert await decided(routed, *talk) == (BIG, "continuation")
    assert await decided(routed, *talk, assistant("yes"), user("more")) == (
        SMALL,
        "switch_value_positive",
    )


@pytest.mark.spec("TRN-72")
@pytest.mark.parametrize(
    ("path", "family", "body"),
    [
        (
            "/v1/messages",
            WireFamily.ANTHROPIC,
            {"model": BIG, "max_tokens": 9, "messages": [user("/rf")]},
        ),
        (
            "/v1/chat/completions",
            WireFamily.OPENAI_CHAT,
            {"model": BIG, "messages": [user("/rf")]},
        ),
        ("/v1/responses", WireFamily.OPENAI_RESPONSES, {"model": BIG, "input": "/rf"}),
        (
            "/v1beta/models/big:generateContent",
            WireFamily.GEMINI,
            {"contents": [{"role": "user", "parts": [{"text": "/rf"}]}]},
        ),
    ],
)
async def test_answers_are_in_the_callers_dialect_streamed_or_whole(
    routed: Routed, path: str, family: WireFamily, body: dict[str, object]
) -> None:
    codec = codec_for(family)
    async with routed.stack.session.post(path, json=body, headers=HARNESS) as answer:
        assert answer.status == 200
        response = codec.decode_response(await answer.read())
    assert response.model == "router"
    streamed = path.replace(":generateContent", ":streamGenerateContent?alt=sse")
    sent = body if family is WireFamily.GEMINI else {**body, "stream": True}
    async with routed.stack.session.post(streamed, json=sent, headers=HARNESS) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        observer = codec.observer()
        observer.feed(await answer.read())
        observer.finish()
    assert observer.seen.has_terminal
    assert observer.seen.error is None
    assert routed.dispatch.orders == []
    assert routed.stack.ledger.stored == {}


@pytest.mark.spec("TRN-74")
async def test_a_stored_word_that_an_operator_voids_is_refused_and_told(routed: Routed) -> None:
    await said(routed, user("/fm small"))
    policy = replace(routed.stack.policy, excluded_models=frozenset({SMALL}))
    await _restart(routed, policy)
    status, _, body = await routed.ask([user("hello")], HARNESS)
    assert status == 400
    assert b"small" in body
    assert "may not serve here" in await said(routed, user("/fm small"))


@pytest.mark.spec("TRN-76")
async def test_a_forced_model_gives_way_to_what_passes_and_its_tier_is_kept(
    routed: Routed,
) -> None:
    routed.catalog = build_catalog(
        [
            {
                "models": [
                    _row(BIG, "top", 5.0),
                    {**_row(SMALL, "mid", 1.0), "image_input": False},
                    _row("other", "mid", 2.0),
                ]
            }
        ]
    )
    routed.stack.catalog = routed.scorer.catalog = routed.catalog
    await _restart(routed, routed.stack.policy)
    await said(routed, user("/fm small"))
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A"}}
    seen: dict[str, object] = {"role": "user", "content": [{"type": "text", "text": "look"}, image]}
    assert await decided(routed, seen) == ("other", "forced_yielded_requirement_incompatible")
    assert await decided(routed, user("hello")) == (SMALL, "forced_by_command")


async def _restart(routed: Routed, policy: Policy) -> None:
    """Go on with another policy and the same sessions."""
    await routed.stack.aclose()
    routed.stack.policy = policy
    await routed.stack.start()
