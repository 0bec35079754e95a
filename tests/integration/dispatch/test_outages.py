"""A provider that is down for a while: few probes, everybody served, and back in use soon."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from services.dispatch.model.access import Ended, Grant, SecretQuery
from services.dispatch.model.enums import (
    AttemptCause,
    AttemptOutcome,
    EndKind,
    SecretPurpose,
)
from services.dispatch.model.outcome import Missed
from services.dispatch.model.plan import Eligibility, Order, Plan
from services.dispatch.server.circuits import FAULTS_IN_A_ROW
from services.domain.errors import RouterError
from services.domain.vocab import CredentialKind, CredentialOwner, FailureClass
from tests.fakes.clock import FakeClock
from tests.fakes.credentials import attribution_of
from tests.fakes.upstream import Fault
from tests.integration.dispatch.harness import (
    ANTHROPIC,
    CHAT,
    MODEL,
    Stand,
    rescue,
    rescued_by,
    standing,
)
from tests.integration.dispatch.numbered import CELLS, Cell, kept

DOWN_S, EVERY_S, ACTIONS = 60.0, 4.0, 40


def requests(stand: Stand, provider: str) -> int:
    return len(stand.providers[provider][0].requests)


async def every_four_seconds(
    stand: Stand, clock: FakeClock, order: Callable[[], Order]
) -> list[str]:
    """Return who served 40 actions four seconds apart, while p1 is down for the first 60 s."""
    fake, served = stand.providers["p1"][0], []
    rule = fake.script(Fault(status=503), times=None)
    for number in range(ACTIONS):
        if number * EVERY_S == DOWN_S:
            rule.times = 0
        walking = asyncio.ensure_future(stand.run(order()))
        while not walking.done():
            if clock.sleeper_count:
                clock.advance(0.5)
            await asyncio.sleep(0.001)
        answer = await walking
        assert answer.tail.record.outcome is AttemptOutcome.SERVED
        served.append(answer.tail.record.binding.provider)
        clock.advance(EVERY_S)
    return served


@CELLS
@pytest.mark.parametrize("has_sibling", [False, True])
async def test_a_dead_provider_is_probed_now_and_then_and_back_soon(
    cell: Cell, has_sibling: bool
) -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        clock = FakeClock()
        stand.clock = clock
        names = ("p1",) if has_sibling else ("p1", "p2")
        change = rescued_by(rescue(AttemptCause.SIBLING, "p2")) if has_sibling else None

        def order() -> Order:
            return cell.order(stand, *names, change=change or kept)

        served = await every_four_seconds(stand, clock, order)
        down = round(DOWN_S / EVERY_S)
        assert served[:down] == ["p2"] * down
        back = served.index("p1")
        assert (back - down) * EVERY_S <= 30
        assert set(served[back:]) == {"p1"}
        probes = requests(stand, "p1") - served.count("p1")
        assert probes <= (9 if has_sibling else 8)


def broken(stand: Stand, provider: str) -> None:
    """Let a provider's model be known as down."""
    stage = stand.stage()
    ref = stand.order(provider).plan.bindings[0].ref
    for _ in range(3):
        stage.circuits.failed(ref, FailureClass.TRANSPORT)


async def test_what_is_down_is_passed_over_and_its_grant_let_go() -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        broken(stand, "p1")
        answer = await stand.run(stand.order())
        assert [row.cause for row in answer.started] == [AttemptCause.FIRST, AttemptCause.HOP]
        skipped = answer.missed[0].record
        assert (skipped.outcome, skipped.failure_class, skipped.send_count) == (
            AttemptOutcome.SKIPPED,
            FailureClass.TRANSPORT,
            0,
        )
        assert requests(stand, "p1") == 0
        assert answer.tail.record.plan_index == 1


async def test_what_is_down_is_asked_when_nothing_else_is_left() -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        broken(stand, "p1")
        stand.providers["p2"][0].script(Fault(status=503), times=None)
        answer = await stand.run(stand.order())
        assert [row.binding.provider for row in answer.started] == ["p1", "p2", "p1"]
        assert answer.tail.record.outcome is AttemptOutcome.SERVED
        assert answer.tail.record.plan_index == 0


async def test_a_lone_binding_that_is_down_is_asked_and_retried_like_any() -> None:
    async with standing(ANTHROPIC) as stand:
        broken(stand, "p1")
        stand.providers["p1"][0].script(Fault(status=503), times=2)
        answer = await stand.run(stand.order())
        assert len(answer.missed) == 2
        assert answer.tail.record.outcome is AttemptOutcome.SERVED


async def test_the_rescue_goes_first_while_the_planned_model_is_down() -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        broken(stand, "p1")
        change = rescued_by(rescue(AttemptCause.SIBLING, "p2"))
        answer = await stand.run(stand.order("p1", change=change))
        assert [row.cause for row in answer.started] == [AttemptCause.FIRST, AttemptCause.SIBLING]
        assert requests(stand, "p1") == 0
        stand.providers["p2"][0].script(Fault(status=500), times=None)
        answer = await stand.run(stand.order("p1", change=change))
        causes = [row.cause for row in answer.started]
        assert causes[:2] == [AttemptCause.FIRST, AttemptCause.SIBLING]
        assert causes[-1] is AttemptCause.HOP
        assert answer.tail.record.binding.provider == "p1"


@pytest.mark.spec("DSP-180")
async def test_a_whole_answer_may_take_longer_to_begin_than_a_stream() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.header_timeout_s = 0.3
        stand.budget = replace(stand.budget, same_binding_retries=0)
        stand.providers["p1"][0].script(Fault(delay=0.5), times=None)
        stream = await stand.run(stand.order())
        assert stream.unserved.fault.failure_class is FailureClass.HEADER_TIMEOUT
        whole = await stand.run(stand.order(is_stream=False))
        assert whole.tail.record.outcome is AttemptOutcome.SERVED


async def test_an_unused_grant_is_given_back() -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        stand.credentials.keys = {"p1": ["key-a"]}
        access = await stand.credentials.acquire(first_query(stand))
        stand.credentials.queries.clear()
        broken(stand, "p1")

        def granted(plan: Plan) -> Plan:
            return replace(plan, grant=access.grant)

        answer = await stand.run(stand.order(change=granted))
        assert answer.tail.record.binding.provider == "p2"
        assert stand.credentials.endings[0].kind is EndKind.NOT_SENT
        assert stand.credentials.reports[0].grant == access.grant


async def test_a_grant_is_given_back_when_the_caller_leaves_before_its_use() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.credentials.keys = {"p1": ["key-a"]}
        parts = stand.walk(stand.order()).parts()
        await anext(parts)
        await parts.aclose()
        assert [end.kind for end in stand.credentials.endings] == [EndKind.NOT_SENT]
        assert requests(stand, "p1") == 0


async def test_a_grant_is_given_back_when_a_rotation_is_not_waited_for() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.credentials.keys = {"p1": ["key-a", "key-b"]}
        stand.providers["p1"][0].script(Fault(status=429))
        parts = stand.walk(stand.order()).parts()
        async for part in parts:
            if isinstance(part, Missed):
                break
        await parts.aclose()
        told = [(row.grant.credential_id, row.event) for row in stand.credentials.reports]
        ends = [(name, event.kind) for name, event in told if isinstance(event, Ended)]
        assert ends == [("key-a", EndKind.FAILED), ("key-b", EndKind.NOT_SENT)]


async def test_a_grant_is_given_back_when_its_provider_has_no_client_or_its_body_no_form() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.credentials.keys = {"p1": ["key-a"]}
        grant = (await stand.credentials.acquire(first_query(stand))).grant

        def granted(plan: Plan) -> Plan:
            return replace(plan, grant=grant)

        answer = await stand.run(stand.order("p9", "p1", change=granted))
        assert answer.tail.record.outcome is AttemptOutcome.SERVED
        assert stand.credentials.endings[0].kind is EndKind.NOT_SENT
        assert stand.credentials.reports[0].grant == grant
        stand.credentials.reports.clear()
        with pytest.raises(RouterError):
            await stand.run(replace(stand.order(change=granted), body=b"{"))
        assert [end.kind for end in stand.credentials.endings] == [EndKind.NOT_SENT]


async def test_a_dead_proxy_of_one_credential_takes_the_provider_from_nobody_else() -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        stand.credentials.proxies = {"p1": "http://127.0.0.1:1"}
        for _ in range(FAULTS_IN_A_ROW):
            answer = await stand.run(stand.order())
            assert answer.missed[0].record.failure_class is FailureClass.TRANSPORT
        stand.credentials.proxies = {}
        answer = await stand.run(stand.order())
        assert answer.tail.record.binding.provider == "p1"


def first_query(stand: Stand) -> SecretQuery:
    """Return the question for a secret of the first binding."""
    order = stand.order()
    return SecretQuery(order.action, order.plan.bindings[0].ref, SecretPurpose.SERVE, "k")


def at_own_endpoint(plan: Plan) -> Plan:
    """Return the plan whose first binding is at an address that its tenant gave."""
    attribution = attribution_of("own-key", CredentialKind.GATEWAY, CredentialOwner.TENANT)
    return replace(plan, grant=Grant("g", plan.bindings[0].ref, attribution, "own-key"))


@pytest.mark.parametrize("is_exclusive", [True, False])
async def test_a_tenants_own_endpoint_is_asked_while_the_provider_is_down_for_others(
    is_exclusive: bool,
) -> None:
    async with standing(CHAT, CHAT) as stand:
        broken(stand, "p1")
        stand.credentials.keys = {"p1": ["own-key"]}
        order = stand.order(change=lambda plan: plan if is_exclusive else at_own_endpoint(plan))
        if is_exclusive:
            own = Eligibility(
                "inst-1", is_gateway_exclusive=True, gateway_models={"p1": frozenset({MODEL})}
            )
            order = replace(order, eligibility=own)
        answer = await stand.run(order)
        assert [row.cause for row in answer.started] == [AttemptCause.FIRST]
        assert answer.tail.record.binding.provider == "p1"


async def test_a_binding_of_a_deployed_credential_is_passed_over_all_the_same() -> None:
    async with standing(CHAT, CHAT) as stand:
        broken(stand, "p1")
        stand.credentials.keys = {"p1": ["key-a"]}
        grant = (await stand.credentials.acquire(first_query(stand))).grant
        answer = await stand.run(stand.order(change=lambda plan: replace(plan, grant=grant)))
        assert answer.tail.record.binding.provider == "p2"
