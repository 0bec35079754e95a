"""A plan can pay while any of its accounts can; what was never observed is not exhausted."""

from __future__ import annotations

import pytest

from services.credentials.model import (
    Credential,
    InFlight,
    Mark,
    MarkKind,
    PlanStatus,
    Pool,
    Usage,
    WindowUse,
)
from services.credentials.policy.eligibility import snapshot_of
from services.credentials.policy.plans import coarse, plan_colours
from services.domain.vocab import CredentialKind, CredentialOwner
from tests.unit.credentials.cases import NOW, TENANT, credential

SPENT = Mark(MarkKind.QUOTA, NOW, NOW + 600, window="7d")
WARNED = Mark(MarkKind.WARNING, NOW, NOW + 600, window="5h")
PAID = Mark(MarkKind.OVERAGE, NOW, NOW + 600)
FAMILY = Mark(MarkKind.QUOTA, NOW, NOW + 600, window="7d_oi", family="opus")


def account(name: str = "c1", *marks: Mark, **spec: object) -> Credential:
    return credential(name, kind=CredentialKind.CLAUDE_OAUTH, marks=marks, **spec)


def use(ratio: float | None, reset: float | None = NOW + 600, window: str = "5h") -> WindowUse:
    return WindowUse(window, ratio, reset)


@pytest.mark.spec("CRD-112")
@pytest.mark.parametrize(
    ("pool", "usage", "status"),
    [
        ([account()], (), PlanStatus.UNKNOWN),
        ([account()], (use(0.4),), PlanStatus.ACTIVE),
        ([account()], (use(None),), PlanStatus.ACTIVE),
        ([account()], (use(0.999),), PlanStatus.EXHAUSTED),
        ([account()], (use(1.2),), PlanStatus.EXHAUSTED),
        ([account()], (use(1.2, NOW),), PlanStatus.UNKNOWN),
        ([account("c1", PAID)], (use(1.2),), PlanStatus.ACTIVE),
        ([account("c1", SPENT)], (), PlanStatus.EXHAUSTED),
        ([account("c1", SPENT), account("c2")], (), PlanStatus.UNKNOWN),
        ([account("c1", SPENT), account("c2", SPENT)], (), PlanStatus.EXHAUSTED),
        ([account("c1", SPENT), account("c2")], (use(0.2),), PlanStatus.ACTIVE),
        ([account("c1", FAMILY)], (use(0.2),), PlanStatus.ACTIVE),
        ([account("c1", WARNED)], (use(0.9),), PlanStatus.ACTIVE),
        ([account(is_enabled=False)], (use(0.2),), PlanStatus.UNAVAILABLE),
        ([account(is_enabled=False), account("c2", SPENT)], (), PlanStatus.EXHAUSTED),
    ],
)
def test_the_state_of_a_plan(pool: list[Credential], usage: Usage, status: PlanStatus) -> None:
    (plan,) = plan_colours(pool, lambda _: usage, NOW)
    assert (plan.status, plan.owner) == (status, CredentialOwner.OPERATOR)


def test_a_plan_shows_the_windows_behind_its_state() -> None:
    pool = [account("c1", SPENT, WARNED), credential("key")]
    (plan,) = plan_colours(pool, lambda _: (use(0.42), use(0.9, NOW, "7d_oi")), NOW)
    assert [(w.window, w.utilization_ratio, w.is_warned, w.is_rejected) for w in plan.windows] == [
        ("5h", 0.4, True, False),
        ("7d", None, False, True),
    ]
    assert plan.utilization_ratio == 0.4


def test_use_is_told_in_steps_so_that_snapshots_seldom_change() -> None:
    def version(ratio: float, reset: float) -> str:
        found = snapshot_of(
            Pool.of(1, [account()]), TENANT, InFlight({}, {}), NOW, lambda _: (use(ratio, reset),)
        )
        return found.version

    assert version(0.40, NOW + 600.0) == version(0.41, NOW + 600.4)
    assert version(0.40, NOW + 600) != version(0.46, NOW + 600)
    assert coarse((use(0.9989),))[0].utilization_ratio == 0.95
    assert coarse((use(0.999),))[0].utilization_ratio == 1.0
