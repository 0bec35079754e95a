"""Who weighs models is told how much of a lane's windows is unused, and of nobody by name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.credentials.codec.eligibility import encode_snapshot
from services.credentials.model import (
    Credential,
    InFlight,
    Mark,
    MarkKind,
    Pool,
    Usage,
    WindowUse,
)
from services.credentials.policy.eligibility import snapshot_of
from services.credentials.policy.headroom import headroom_of
from services.domain.vocab import CredentialKind
from tests.unit.credentials.cases import NOW, TENANT, credential

SPENT = Mark(MarkKind.QUOTA, NOW, NOW + 600, window="7d")
THROTTLED = Mark(MarkKind.QUOTA, NOW, NOW + 600, model_id="m")
OPUS_SPENT = Mark(MarkKind.QUOTA, NOW, NOW + 600, window="7d_oi", family="opus")


def account(name: str = "c1", *marks: Mark, families: tuple[str, ...] = ()) -> Credential:
    made = credential(name, kind=CredentialKind.CLAUDE_OAUTH, marks=marks)
    return replace(made, bound_families=families)


def use(window: str, ratio: float | None, reset: float = NOW + 600) -> WindowUse:
    return WindowUse(window, ratio, reset)


@pytest.mark.spec("CRD-114")
@pytest.mark.parametrize(
    ("one", "usage", "left"),
    [
        (account(), (), None),
        (account(), (use("5h", 0.2),), 0.8),
        (account(), (use("5h", 0.2), use("7d", 0.75)), 0.25),
        (account(), (use("5h", 0.2), use("7d", 0.75, NOW)), 0.8),
        (account(), (use("5h", 0.9, NOW),), None),
        (account(), (use("5h", None),), None),
        (account(), (use("5h", 1.3),), 0.0),
        (account(), (use("primary", 0.5), use("secondary", 0.9)), 0.1),
        (account(), (use("5h", 0.2), use("7d_oi", 0.9)), 0.8),
        (account("c1", SPENT), (use("5h", 0.2),), 0.0),
        (account("c1", THROTTLED), (use("5h", 0.2),), 0.8),
        (account("c1", OPUS_SPENT), (use("5h", 0.2),), 0.8),
    ],
)
def test_the_lowest_window_that_binds_everything_counts(
    one: Credential, usage: Usage, left: float | None
) -> None:
    assert headroom_of([one], lambda _: usage, NOW).ratio == left


@pytest.mark.spec("CRD-114", "CRD-50")
def test_a_family_is_bound_by_the_window_that_it_was_seen_to_draw_on() -> None:
    usage = (use("5h", 0.2), use("7d_oi", 0.9))
    found = headroom_of([account(families=("opus",))], lambda _: usage, NOW)
    assert (found.ratio, found.by_family) == (0.8, (("opus", 0.1),))
    blocked = headroom_of([account("c1", OPUS_SPENT)], lambda _: usage, NOW)
    assert blocked.by_family == (("opus", 0.0),)
    past = headroom_of([account(families=("opus",))], lambda _: (use("7d_oi", 0.9, NOW),), NOW)
    assert (past.ratio, past.by_family) == (None, (("opus", None),))


@pytest.mark.spec("CRD-114")
def test_the_best_account_counts_and_a_spent_one_beside_an_unknown_one_says_nothing() -> None:
    known = {"c1": (use("5h", 0.9),), "c2": (use("5h", 0.4),)}
    pool = [account("c1"), account("c2"), account("c3")]
    assert headroom_of(pool, lambda name: known.get(name, ()), NOW).ratio == 0.6
    assert headroom_of([account("c1", SPENT), pool[2]], lambda _: (), NOW).ratio is None
    off = credential("c2", kind=CredentialKind.CLAUDE_OAUTH, is_enabled=False)
    assert headroom_of([pool[0], off], lambda name: known.get(name, ()), NOW).ratio == 0.1


@pytest.mark.spec("CRD-114")
def test_it_is_told_with_the_provider_and_names_no_account() -> None:
    pool = Pool.of(1, [account("secret-name", families=("opus",)), credential("k", provider="q")])
    usage = (use("5h", 0.5), use("7d_oi", 0.7))
    told = encode_snapshot(snapshot_of(pool, TENANT, InFlight({}, {}), NOW, lambda _: usage))
    p, q = told.providers
    assert p.headroom_ratio == 0.5
    assert [(one.family, one.headroom_ratio) for one in p.family_headrooms] == [("opus", 0.3)]
    assert q.headroom_ratio == 0.5
    unseen = encode_snapshot(snapshot_of(pool, TENANT, InFlight({}, {}), NOW)).providers[0]
    assert not unseen.HasField("headroom_ratio")
    assert "secret-name" not in str(told)


@pytest.mark.spec("CRD-114")
@given(st.lists(st.floats(0, 1.5), min_size=1, max_size=4), st.floats(0, 1.5))
def test_more_use_never_leaves_more(ratios: list[float], more: float) -> None:
    def left(*used: float) -> float:
        usage = tuple(use(name, ratio) for name, ratio in zip("abcde", used, strict=False))
        found = headroom_of([account()], lambda _: usage, NOW).ratio
        assert found is not None
        return found

    assert left(*ratios, more) <= left(*ratios)
    assert 0 <= left(*ratios) <= 1
