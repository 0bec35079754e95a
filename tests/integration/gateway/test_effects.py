"""What attempts say of models reaches the session, and decides the next action of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from gateway.model import (
    AttemptFailed,
    AttemptStarted,
    BindingRef,
    Effect,
    EffectKind,
    Failed,
    Head,
    Part,
    Tail,
)
from gateway.sessions.model import Strike
from gateway.sessions.strikes import strike_model
from services.domain.catalog import Catalog, build_catalog
from services.domain.errors import Reason, RouterError
from services.domain.vocab import FailureClass, WireFamily
from services.domain.wire.model import StopReason, Usage
from services.runtime.clock import SystemClock
from tests.integration.gateway.test_deciding import BIG, SMALL, Routed, _turns

USED = Usage(fresh_input=100, output=40)
BODY = b'{"type":"message","content":[],"usage":{"input_tokens":1,"output_tokens":1}}'


@pytest.fixture
async def routed(tmp_path: Path) -> AsyncIterator[Routed]:
    running = Routed(tmp_path / "ledger")
    await running.stack.start()
    yield running
    await running.stack.aclose()


def failed(failure: FailureClass, kind: EffectKind | None, *, is_rescued: bool) -> AttemptFailed:
    effect = Effect(kind, BIG, "acme") if kind is not None else None
    return AttemptFailed(
        "acme",
        failure,
        if_rescued=effect if is_rescued else None,
        if_unserved=None if is_rescued else effect,
    )


def answered(model: str = SMALL, **facts: object) -> Sequence[Part]:
    """Return the parts of an answer that a rescue gave."""
    head = Head(
        binding=BindingRef(model, "globex", model, 1, 100_000),
        wire_family=WireFamily.ANTHROPIC,
        http_status=200,
        headers=(("content-type", "application/json"),),
        is_stream=False,
        plan_index=-1,
        planned_provider="acme",
        fingerprint="abcd1234",
    )
    tail = Tail(USED, StopReason.END_TURN, **facts)  # type: ignore[arg-type]  # facts by name
    return (AttemptStarted(2, "globex", model, cause="sibling"), head, BODY, tail)


async def ask(routed: Routed, *parts: Part) -> tuple[int, str, str]:
    """Return status, reason and model of one more action, answered by these parts."""
    routed.dispatch.steps = parts
    status, headers, _ = await routed.ask(_turns(1))
    return status, headers.get("x-router-decision", ""), headers.get("x-router-model", "")


@pytest.mark.spec("DSP-113", "DSP-251")
@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (FailureClass.UPSTREAM_STATUS, EffectKind.DEMOTE),
        (FailureClass.RATE_LIMITED, EffectKind.COOLDOWN),
    ],
)
async def test_a_model_whose_failure_was_rescued_is_not_chosen_next(
    routed: Routed, failure: FailureClass, kind: EffectKind
) -> None:
    first = await ask(routed, failed(failure, kind, is_rescued=True), *answered())
    assert first == (200, "sibling_failover", SMALL)
    routed.dispatch.steps = ()
    await routed.ask(_turns(1))
    assert routed.dispatch.served == [BIG, SMALL]


@pytest.mark.spec("DSP-252")
async def test_what_says_nothing_of_a_model_changes_nothing(routed: Routed) -> None:
    await ask(routed, failed(FailureClass.OVERLOADED, None, is_rescued=True), *answered())
    routed.dispatch.steps = ()
    await routed.ask(_turns(1))
    assert routed.dispatch.served == [BIG, BIG]


@pytest.mark.spec("DSP-256")
async def test_two_overloads_that_the_client_saw_put_the_provider_last(routed: Routed) -> None:
    unserved = failed(FailureClass.OVERLOADED, EffectKind.COUNT_OVERLOAD, is_rescued=False)
    overloaded = Failed(FailureClass.OVERLOADED, 529, wire_family=WireFamily.ANTHROPIC)
    for _ in range(2):
        status, _, _ = await ask(routed, unserved, overloaded)
        assert status == 529
    routed.dispatch.steps = ()
    await routed.ask(_turns(1))
    providers = [binding.provider for binding in routed.dispatch.orders[-1].plan.bindings]
    assert providers == ["globex", "acme"]


@pytest.mark.spec("DSP-256")
@pytest.mark.parametrize("usage", [USED, Usage(), None])
async def test_an_answer_between_two_overloads_parts_them(
    routed: Routed, usage: Usage | None
) -> None:
    unserved = failed(FailureClass.OVERLOADED, EffectKind.COUNT_OVERLOAD, is_rescued=False)
    overloaded = Failed(FailureClass.OVERLOADED, 529, wire_family=WireFamily.ANTHROPIC)
    cleared = Effect(EffectKind.CLEAR_COUNTS, BIG, "acme")
    answer = (*answered(BIG)[:-1], Tail(usage, StopReason.END_TURN, effect=cleared))
    for steps in ((unserved, overloaded), answer, (unserved, overloaded)):
        await ask(routed, *steps)
    strikes = (await routed.session()).strikes
    assert (strikes.overloads, strikes.disabled_providers) == (1, ())


@pytest.mark.spec("DSP-257")
async def test_a_request_that_a_model_can_never_take_ends_its_pin(routed: Routed) -> None:
    unfit = failed(FailureClass.SCHEMA, EffectKind.EVICT_PIN, is_rescued=True)
    await ask(routed, unfit, *answered())
    session = await routed.session()
    assert session.pin is not None
    assert not session.pin.is_named


@pytest.mark.spec("DSP-107")
async def test_after_a_refusal_of_policy_the_session_leaves_its_vendor(routed: Routed) -> None:
    served = answered(BIG, refusal_seen=True)
    await ask(routed, *served)
    await ask(routed, AttemptStarted(1, "acme", BIG, cause="cyber_refusal"), *answered()[1:])
    session = await routed.session()
    assert session.pin is not None
    assert session.pin.choice.reason == "cyber-refusal-repin"
    assert session.pin.choice.model_id == SMALL


async def test_every_plan_offers_what_was_scored_besides(routed: Routed) -> None:
    await routed.ask()
    plan = routed.dispatch.orders[0].plan
    assert [(row.cause.value, row.bindings[0].model_id) for row in plan.rescues] == [
        ("sibling", SMALL)
    ]


@pytest.fixture
async def narrow(tmp_path: Path) -> AsyncIterator[Routed]:
    """Give a gateway whose best model has a window that a long history nearly fills."""
    running = Routed(tmp_path / "ledger", catalog=_windows(11_000, 13_000))
    await running.stack.start()
    yield running
    await running.stack.aclose()


def _windows(big: int, small: int) -> Catalog:
    price = {"input_usd_per_mtok": 1.0, "output_usd_per_mtok": 1.0}
    rows = [
        {
            "id": name,
            "tier": tier,
            "context_window": window,
            "bindings": [{"provider": provider, **price} for provider in ("acme", "globex")],
        }
        for name, tier, window in ((BIG, "top", big), (SMALL, "mid", small))
    ]
    return build_catalog([{"models": rows}])


async def test_after_a_refusal_for_length_the_next_action_goes_to_a_larger_window(
    narrow: Routed,
) -> None:
    too_long = FailureClass.CONTEXT_OVERFLOW
    refused = failed(too_long, EffectKind.CORRECT_ESTIMATE, is_rescued=True)
    started = AttemptStarted(2, "globex", SMALL, cause="larger_window")
    status, reason, model = await ask(narrow, refused, started, *answered()[1:])
    assert (status, reason, model) == (200, "larger_window", SMALL)
    narrow.dispatch.steps = ()
    await narrow.ask(_turns(1))
    await narrow.ask(_turns(0))
    assert narrow.dispatch.served == [BIG, SMALL, BIG]


async def test_where_no_window_is_larger_the_next_action_is_not_sent_at_all(
    narrow: Routed,
) -> None:
    too_long = FailureClass.CONTEXT_OVERFLOW
    unserved = Failed(too_long, 400, wire_family=WireFamily.ANTHROPIC)
    for name in (BIG, SMALL):
        told = Effect(EffectKind.CORRECT_ESTIMATE, name, "acme")
        missed = AttemptFailed("acme", too_long, if_unserved=told)
        narrow.scorer.picks = [name]
        await ask(narrow, missed, unserved)
    asked = len(narrow.dispatch.orders)
    narrow.dispatch.steps = ()
    narrow.scorer.refusal = RouterError(Reason.NO_ELIGIBLE_PROVIDER, "nothing may serve")
    status, _, _ = await narrow.ask(_turns(1))
    assert status == 413
    assert len(narrow.dispatch.orders) == asked


@pytest.mark.spec("DSP-255")
async def test_after_a_cooldown_one_action_probes_and_the_others_wait_for_what_it_finds(
    routed: Routed,
) -> None:
    await routed.ask(_turns(1))
    address = (await routed.session()).address
    ended = Strike(BIG, "cooling", SystemClock().now_unix_s() - 1)
    routed.sessions.change(address, lambda session: strike_model(session, ended, 0.0))
    start, head, body, tail = answered(BIG)
    routed.dispatch.steps = (start, head, 0.5, body, tail)
    probing = asyncio.create_task(routed.ask(_turns(1)))
    async with asyncio.timeout(5):
        while len(routed.dispatch.orders) < 2:  # noqa: ASYNC110 - the fake tells nobody
            await asyncio.sleep(0.01)
    routed.dispatch.steps = ()
    await routed.ask(_turns(1))
    assert routed.dispatch.served == [BIG, BIG, SMALL]
    await probing
    assert not (await routed.sessions.recall(address)).session.strikes.models


@pytest.mark.spec("DSP-191", "DSP-255")
async def test_a_client_that_leaves_a_probe_keeps_nobody_from_the_model(routed: Routed) -> None:
    await routed.ask(_turns(1))
    address = (await routed.session()).address
    ended = Strike(BIG, "cooling", SystemClock().now_unix_s() - 1)
    routed.sessions.change(address, lambda session: strike_model(session, ended, 0.0))
    start, head, body, tail = answered(BIG)
    routed.dispatch.steps = (start, head, 30.0, body, tail)
    probing = asyncio.create_task(routed.ask(_turns(1)))
    async with asyncio.timeout(5):
        while len(routed.dispatch.orders) < 2:  # noqa: ASYNC110 - the fake tells nobody
            await asyncio.sleep(0.01)
    probing.cancel()
    await asyncio.wait((probing,))
    async with asyncio.timeout(5):
        while (await routed.sessions.recall(address)).session.strikes.models:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    routed.dispatch.steps = ()
    await routed.ask(_turns(1))
    assert routed.dispatch.served == [BIG, BIG, BIG]
