"""Random events through every row of the table of states: product and table never differ."""

from __future__ import annotations

import pytest

from services.credentials.model import Credential, MarkKind
from services.credentials.policy.standing import standing_of
from tests.fakes.clock import FakeClock
from tests.unit.credentials.rows.product import RULES, Product, blocks_of, is_given_up
from tests.unit.credentials.rows.table import Table
from tests.unit.credentials.rows.words import (
    ACCOUNTS,
    LEASED,
    MODELS,
    PROVIDER,
    PROXY,
    REFUSALS,
    SILENT,
    Done,
    Fate,
    Told,
)

SHORT, LONG = 250, 100_000
WHOLE_LOOK = 10
"""Every so many events all accounts are compared, not only the one that the event is about."""
SESSIONS = ("s0", "s1", "s2")


class Play:
    """Tells one story to both."""

    def __init__(self, seed: int) -> None:
        self._fate = Fate(seed)
        self._clock = FakeClock()
        self._product = Product(self._clock)
        self._table = Table(ACCOUNTS)
        self._versions = dict.fromkeys(ACCOUNTS, 1)
        self._count = 0
        self.past: list[Told | Done] = []
        self.told: set[str] = set()
        """Words of events, and rows that were active, over the whole story."""

    async def step(self) -> None:
        """Let something happen and compare everything that it may have changed."""
        self._clock.advance(self._fate.pause())
        now = int(self._clock.now_unix_s())
        event = self._fate.event(now)
        self.past = [*self.past[-9:], event]
        self.told.add(event.what)
        if isinstance(event, Told):
            if event.is_of_old_secret and self._versions[event.account] == 1:
                return  # it never had another one
            self._product.on_told(event)
            self._table.on_told(event, now)
        else:
            if event.what == "login":
                self._versions[event.account] += 1
            await self._product.on_done(event)
            self._table.on_done(event, now)
        self._count += 1
        is_whole = self._count % WHOLE_LOOK == 0
        for name in ACCOUNTS if is_whole or not event.account else (event.account,):
            self._compare(name, now)
        if is_whole or event.what in ("bind", "leave", "off"):
            self._compare_sessions(now)

    def _compare_sessions(self, now: int) -> None:
        for session in SESSIONS:
            for model in MODELS:
                bound, until = self._table.bound.get((session, model), ("", 0))
                expected = bound if now < until else ""
                assert self._product.bound(session, model) == expected, self.past

    def _compare(self, name: str, now: int) -> None:
        account, state = self._product.accounts[name], self._table.states[name]
        found = blocks_of(account, now)
        for scope, row in list(self._table.active(name, now)):
            if len(row.levels) > 1:
                self._table.settle(name, scope, found.get(scope), now)
        assert found == {s: row.until for s, row in self._table.active(name, now)}, self.past
        assert _ends(account, MarkKind.WARNING, now) == {
            window: one.until
            for window, one in state.warned.items()
            if one.is_on and one.until > now
        }, self.past
        is_paid = state.overage.is_on and state.overage.until > now
        expected = {"": state.overage.until} if is_paid else {}
        assert _ends(account, MarkKind.OVERAGE, now) == expected, self.past
        if state.is_given_up is None:
            state.is_given_up = is_given_up(account)
        assert is_given_up(account) is state.is_given_up, self.past
        if state.is_given_up:
            self._table.unbind(name)
        assert account.spec.is_enabled is state.is_enabled
        assert set(account.bound_families) == state.families, self.past
        assert self._product.grants.count(name) == self._table.held(name, now), self.past
        self._compare_picks(name, now)
        self.told |= {f"{kind}:{bool(model)}" for kind, _, model, _ in found}

    def _compare_picks(self, name: str, now: int) -> None:
        """Compare what a pick would see of an account for every model."""
        account = self._product.accounts[name]
        closed = name in self._product.paths.closed([account])
        way = (PROVIDER[name], PROXY.get(name, ""))
        assert closed is (now < self._table.closed.get(way, (0, 0, 0))[1]), self.past
        scopes = [scope for scope, _ in self._table.active(name, now)]
        for model in MODELS:
            family = RULES.subject(model).family
            blocked = any(m in ("", model) and f in ("", family) for _, _, m, f in scopes)
            standing = standing_of(account, RULES.subject(model), now)
            assert (standing.verdict is not None) is blocked, self.past
            is_set_back = name in self._product.setbacks.of(model)
            assert is_set_back is (now < self._table.failed.get((name, model), 0)), self.past


def _ends(account: Credential, kind: MarkKind, now: float) -> dict[str, float | None]:
    return {m.window: m.expire_unix_s for m in account.active_marks(now) if m.kind is kind}


EVERYTHING = {
    *REFUSALS,
    *SILENT,
    *LEASED,
    "served",
    "throttled",
    *("reset", "login", "sweep", "off", "on", "bind", "leave"),
    *("quota:True", "quota:False", "auth:True", "auth:False", "billing:False", "unsupported:True"),
}


@pytest.mark.spec("CRD-116", "CRD-1", "CRD-117")
@pytest.mark.parametrize("seed", range(4))
async def test_product_and_table_agree_over_a_short_story(seed: int) -> None:
    play = Play(seed)
    for _ in range(SHORT):
        await play.step()


@pytest.mark.slow
@pytest.mark.spec("CRD-116")
async def test_product_and_table_agree_over_100_000_events() -> None:
    play = Play(2_026)
    for _ in range(LONG):
        await play.step()
    assert play.told >= EVERYTHING
