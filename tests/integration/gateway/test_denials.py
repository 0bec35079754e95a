"""No credential for the planned model now: the end of a lone plan, else dispatch finds a way."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.model import AttemptFailed, AttemptStarted, Failed, RescueCause
from services.domain.catalog import Catalog, build_catalog
from services.domain.errors import Reason, RouterError
from services.domain.vocab import FailureClass
from tests.integration.gateway.test_deciding import BIG, SMALL, Routed
from tests.integration.gateway.test_effects import answered, ask

COOLING = RouterError(Reason.ALL_CREDENTIALS_COOLING, "all rest", retry_after_s=11.2)
RESTING = [
    (COOLING, 429, "12"),
    (RouterError(Reason.CREDENTIAL_CONCURRENCY, "busy", retry_after_s=0.2), 429, "1"),
    (RouterError(Reason.CREDENTIALS_UNAVAILABLE, "off"), 503, "1"),
    (RouterError(Reason.CREDENTIAL_NEEDS_LOGIN, "login"), 503, None),
]


def only(*names: str) -> Catalog:
    price = {"input_usd_per_mtok": 1.0, "output_usd_per_mtok": 1.0}
    rows = [
        {"id": name, "tier": "top", "bindings": [{"provider": "acme", **price}]} for name in names
    ]
    return build_catalog([{"models": rows}])


@pytest.fixture
async def alone(tmp_path: Path) -> AsyncIterator[Routed]:
    running = Routed(tmp_path / "ledger", catalog=only(BIG))
    running.scorer.risks = {}
    await running.stack.start()
    yield running
    await running.stack.aclose()


@pytest.fixture
async def paired(tmp_path: Path) -> AsyncIterator[Routed]:
    running = Routed(tmp_path / "ledger")
    await running.stack.start()
    yield running
    await running.stack.aclose()


@pytest.mark.parametrize(("denial", "status", "wait"), RESTING)
async def test_a_plan_with_nothing_beside_it_ends_at_the_gateway(
    alone: Routed, denial: RouterError, status: int, wait: str | None
) -> None:
    alone.stack.credentials.refusal = denial
    got, headers, _ = await alone.ask()
    assert got == status
    assert wait is None or headers["retry-after"] == wait
    assert not alone.dispatch.orders
    waits_in_turn = denial.reason is Reason.CREDENTIAL_CONCURRENCY
    assert len(alone.stack.credentials.selections) == (2 if waits_in_turn else 1)


async def test_nobody_waits_in_turn_for_longer_than_the_action_has(tmp_path: Path) -> None:
    running = Routed(tmp_path / "ledger", catalog=only(BIG))
    running.scorer.risks = {}
    short = {"action_budget_seconds": 2.0, "slot_wait_seconds": 5.0}
    running.stack.settings = running.stack.settings.model_copy(update=short)
    running.stack.credentials.refusal = RouterError(Reason.CREDENTIAL_CONCURRENCY, "busy")
    await running.stack.start()
    assert (await running.ask())[0] == 429
    await running.stack.aclose()
    first_s, second_s = running.stack.credentials.waits_s
    assert first_s == 0
    assert 0 < second_s <= 2


@pytest.mark.spec("DSP-110")
@pytest.mark.parametrize("denial", [denial for denial, _, _ in RESTING])
async def test_with_another_model_in_the_plan_it_serves_and_is_named(
    paired: Routed, denial: RouterError
) -> None:
    paired.stack.credentials.refusal = denial
    passed_over = AttemptFailed("acme", FailureClass.CREDENTIALS_COOLING)
    started = AttemptStarted(1, "acme", BIG, cause="first")
    sibling = AttemptStarted(2, "globex", SMALL, cause="sibling")
    got = await ask(paired, started, passed_over, sibling, *answered()[1:])
    assert got == (200, "sibling_failover", SMALL)
    (order,) = paired.dispatch.orders
    assert order.grant is None
    assert len(paired.stack.credentials.selections) == 1
    assert [row.cause for row in order.plan.rescues] == [RescueCause.SIBLING]


async def test_where_that_fails_too_the_answer_is_the_denials_own(paired: Routed) -> None:
    paired.stack.credentials.refusal = COOLING
    paired.dispatch.steps = (
        AttemptStarted(1, "acme", BIG, cause="first"),
        AttemptFailed("acme", FailureClass.CREDENTIALS_COOLING),
        Failed(FailureClass.CREDENTIALS_COOLING, retry_after_s=11.2, attempt_count=2),
    )
    status, headers, _ = await paired.ask()
    assert (status, headers["retry-after"]) == (429, "12")


async def test_what_no_other_model_mends_ends_at_once(paired: Routed) -> None:
    paired.stack.credentials.refusal = RouterError(Reason.NO_ELIGIBLE_PROVIDER, "none")
    status, _, _ = await paired.ask()
    assert status == 400
    assert not paired.dispatch.orders
