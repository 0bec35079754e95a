"""The fast tier: asked for where it is sold, told where it served, and given up when it is full."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from services.dispatch.codec.parts import message_of
from services.dispatch.model.plan import ActionRef, Order, Plan
from services.domain.vocab import CredentialKind, WireFamily
from tests.fakes.clock import FakeClock
from tests.fakes.upstream import Fault
from tests.integration.dispatch.harness import ANTHROPIC, CHAT, Stand, standing

RESPONSES, GEMINI = WireFamily.OPENAI_RESPONSES, WireFamily.GEMINI
MEMBERS = {ANTHROPIC: ("speed", "fast"), CHAT: ("service_tier", "priority")}
MEMBERS[RESPONSES] = MEMBERS[CHAT]
FULL = Fault(status=429, message="Fast mode is out of capacity", retry_after=30)


def fast(plan: Plan) -> Plan:
    bindings = tuple(replace(each, is_fast_allowed=True) for each in plan.bindings)
    return replace(plan, bindings=bindings)


def selling(stand: Stand, kind: CredentialKind = CredentialKind.API_KEY) -> None:
    """Let the first provider be a vendor that sells a fast tier, asked with a key of that kind."""
    stand.is_fast_sold = True
    stand.endpoints["p1"] = replace(stand.stage().endpoints["p1"], is_vendor=True)
    stand.credentials.keys["p1"] = ["key"]
    stand.credentials.kinds["p1"] = kind


def order(stand: Stand, family: WireFamily) -> Order:
    return stand.order("p1", family=family, is_stream=False, change=fast)


@pytest.mark.spec("DSP-230", "DSP-232")
@pytest.mark.parametrize("family", list(MEMBERS))
@pytest.mark.parametrize("client", [ANTHROPIC, CHAT])
async def test_it_is_asked_for_in_the_words_of_each_vendor_and_told(
    family: WireFamily, client: WireFamily
) -> None:
    async with standing(family) as stand:
        selling(stand)
        answer = await stand.run(order(stand, client))
        (request,) = stand.providers["p1"][0].requests
        name, value = MEMBERS[family]
        assert request.json[name] == value
        is_beta_told = "fast-mode" in request.headers.get("anthropic-beta", "")
        assert is_beta_told == (family is ANTHROPIC)
        assert answer.head.is_fast_tier
        assert message_of(answer.tail).tail.attempt.is_fast_tier


@pytest.mark.spec("DSP-230")
@pytest.mark.parametrize("kind", [CredentialKind.CLAUDE_OAUTH, CredentialKind.GATEWAY])
async def test_plans_and_gateways_never_pay_for_it(kind: CredentialKind) -> None:
    async with standing(ANTHROPIC) as stand:
        selling(stand, kind)
        answer = await stand.run(order(stand, ANTHROPIC))
        assert "speed" not in stand.providers["p1"][0].requests[0].json
        assert not answer.head.is_fast_tier


@pytest.mark.spec("DSP-230")
async def test_without_a_price_or_a_wish_the_plain_tier_serves() -> None:
    async with standing(ANTHROPIC) as stand:
        selling(stand)
        plain = await stand.run(stand.order("p1", is_stream=False))
        stand.is_fast_sold = False
        unsold = await stand.run(order(stand, ANTHROPIC))
        assert not any("speed" in each.json for each in stand.providers["p1"][0].requests)
        assert not plain.tail.record.is_fast_tier
        assert not unsold.tail.record.is_fast_tier


@pytest.mark.spec("DSP-230")
async def test_a_tier_that_the_client_chose_stays() -> None:
    async with standing(CHAT) as stand:
        selling(stand)
        asked = order(stand, CHAT)
        body = {**orjson.loads(asked.body), "service_tier": "flex"}
        answer = await stand.run(replace(asked, body=orjson.dumps(body)))
        assert stand.providers["p1"][0].requests[0].json["service_tier"] == "flex"
        assert not answer.head.is_fast_tier


@pytest.mark.spec("DSP-60", "DSP-231", "DSP-232")
async def test_where_it_is_full_the_plain_tier_serves_in_the_same_attempt_at_its_price() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.clock = clock = FakeClock()
        selling(stand)
        stand.providers["p1"][0].script(FULL)
        answer = await stand.run(order(stand, ANTHROPIC))
        assert answer.tail.attempt_count == 1
        assert not answer.head.is_fast_tier
        assert not answer.tail.record.is_fast_tier
        await stand.run(order(stand, ANTHROPIC))
        other = replace(order(stand, ANTHROPIC), action=ActionRef("action-2", "inst-2"))
        await stand.run(other)
        clock.advance(300)
        await stand.run(order(stand, ANTHROPIC))
        told = [each.json.get("speed") for each in stand.providers["p1"][0].requests]
        assert told == ["fast", None, None, "fast", "fast"]


@pytest.mark.spec("DSP-60", "DSP-250")
async def test_a_full_tier_is_held_against_no_credential_and_a_throttle_is() -> None:
    async with standing(ANTHROPIC) as stand:
        selling(stand)
        stand.providers["p1"][0].script(FULL)
        await stand.run(order(stand, ANTHROPIC))
        assert stand.credentials.statuses == [200]
        stand.memos = None
        stand.providers["p1"][0].script(Fault(status=429, retry_after=30), times=None)
        answer = await stand.run(order(stand, ANTHROPIC))
        assert stand.credentials.statuses == [200, 429, 429, 429]
        assert answer.unserved.fault.http_status == 429


@pytest.mark.spec("DSP-232")
@pytest.mark.parametrize(("is_stream", "is_late"), [(True, False), (True, True), (False, False)])
async def test_what_the_vendor_served_on_the_plain_tier_after_all_is_told_as_such(
    is_stream: bool, is_late: bool
) -> None:
    async with standing(CHAT) as stand:
        selling(stand)
        asked = stand.order("p1", family=CHAT, is_stream=is_stream, change=fast)
        usual = (await stand.run(asked)).chunks
        end = usual.rindex(b'"object"') if is_late else usual.index(b'"object"')
        less = usual[:end] + b'"service_tier":"default",' + usual[end:]
        kind = "text/event-stream" if is_stream else "application/json"
        dripping = Fault(body=less, content_type=kind, chunk_delay=0.01 if is_stream else 0)
        stand.providers["p1"][0].script(dripping)
        answer = await stand.run(asked)
        assert stand.providers["p1"][0].requests[-1].json["service_tier"] == "priority"
        assert answer.chunks == less
        assert answer.head.is_fast_tier is is_late
        assert not answer.tail.record.is_fast_tier


async def test_a_refusal_of_what_is_no_parameter_of_the_body_is_not_asked_again() -> None:
    async with standing(ANTHROPIC) as stand:
        selling(stand)
        asked = order(stand, ANTHROPIC)
        tool = {"name": "f", "input_schema": {"type": "object", "properties": {"seed": {}}}}
        body = orjson.dumps({**orjson.loads(asked.body), "tools": [tool]})
        stand.providers["p1"][0].script(
            Fault(status=400, error_type="invalid_request_error", message="unknown field `seed`"),
            times=None,
        )
        answer = await stand.run(replace(asked, body=body))
        assert answer.unserved.records[0].send_count == 1
        assert answer.unserved.records[0].is_fast_tier


@pytest.mark.spec("DSP-231")
async def test_a_hop_leaves_it_behind_with_the_binding_that_sells_it() -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        selling(stand)
        stand.providers["p1"][0].script(Fault(status=503))
        answer = await stand.run(stand.order(is_stream=False, change=fast))
        assert stand.providers["p1"][0].requests[0].json["speed"] == "fast"
        assert "speed" not in stand.providers["p2"][0].requests[0].json
        assert answer.missed[0].record.is_fast_tier
        assert not answer.head.is_fast_tier
