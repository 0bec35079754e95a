"""The table of states, read by itself: what each row makes of each event, in plain dictionaries.

It is written from the table and shares no rule with the product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.unit.credentials.rows.words import (
    CLAUDE,
    FAMILY,
    LENGTH_S,
    PLANS,
    PROVIDER,
    PROXY,
    WINDOWS,
    Done,
    Told,
)

HOUR, DAY, WEEK = 3_600, 86_400, 7 * 86_400
SLACK = 300
FALLBACK = 1_800
LEASE = 60
BINDING = 3_600

Scope = tuple[str, str, str, str]
"""Kind, window, model, family."""
REFUSED: dict[str, tuple[str, tuple[int, ...]]] = {
    "refused": ("auth", (300,)),
    "unpaid": ("billing", (1_800,)),
    "forbidden": ("auth", (1_800,)),
    "unsupported": ("unsupported", (12 * HOUR,)),
    "no_model": ("unsupported", (60, 600, HOUR, 12 * HOUR)),
}
SPOKEN_FOR_NOBODY = ("fault", "gone", "not_sent", "overloaded", "down", "empty", "challenge")
OF_ONE_SECRET = ("served", "refused", "unpaid", "forbidden")


@dataclass
class Row:
    """One block: since when, until when, and how often in a row."""

    since: int
    until: int
    steps: tuple[int, ...]
    """A ladder of its own; empty: 1 s doubling to 30 min."""
    levels: set[int]
    """Steps of the ladder that it may be on: one that ended long ago may be forgotten or not."""
    ended: int | None = None
    is_fresh: bool = False
    """Whether the next one begins the ladder anew."""
    before: Row | None = None
    """What stands on where this one was over before it was heard of."""

    @property
    def is_on(self) -> bool:
        return self.ended is None


@dataclass
class Warned:
    """One early warning."""

    until: int = 0
    turned: int = 0
    heard: int = 0
    is_on: bool = False


@dataclass
class State:
    """One account."""

    warned: dict[str, Warned] = field(default_factory=lambda: {w: Warned() for w in WINDOWS})
    blocks: dict[Scope, Row] = field(default_factory=dict)
    overage: Warned = field(default_factory=Warned)
    families: set[str] = field(default_factory=set)
    is_given_up: bool | None = False
    """None: it hangs on a step that may be forgotten."""
    is_enabled: bool = True


class Table:
    """Interprets the rows, one event after the other."""

    def __init__(self, accounts: tuple[str, ...]) -> None:
        self.states = {name: State() for name in accounts}
        self.failed: dict[tuple[str, str], int] = {}
        self.closed: dict[tuple[str, str], tuple[int, int, int]] = {}
        """Since, until and level of each way out."""
        self.leases: dict[str, tuple[str, str, int]] = {}
        self.bound: dict[tuple[str, str], tuple[str, int]] = {}

    def lapse(self, name: str, now: int) -> None:
        """End what has come to its end."""
        state = self.states[name]
        for one in (*state.warned.values(), state.overage):
            if one.is_on and one.until <= now:
                one.is_on, one.turned = False, one.until
        for row in state.blocks.values():
            if row.is_on and row.until <= now:
                row.ended = row.until

    def on_done(self, event: Done, now: int) -> None:
        """Rows `enabled`, `lease`, `binding`, and what operators do to all others."""
        match event.what:
            case "off" | "on":
                self.states[event.account].is_enabled = event.what == "on"
                if event.what == "off":
                    self.unbind(event.account)
            case "sweep":
                self.lapse(event.account, now)
            case "reset":
                self._reset(event.account, event.model, now)
            case "login":
                self._login(event.account, now)
            case "open":
                self.leases = {g: one for g, one in self.leases.items() if one[2] > now}
                self.leases[event.name] = (event.account, event.model, now + LEASE)
            case "renew" if self._is_held(event.name, now):
                account, model, _ = self.leases[event.name]
                self.leases[event.name] = (account, model, now + LEASE)
            case "end" if self._is_held(event.name, now):
                account, model, until = self.leases[event.name]
                self.leases[event.name] = ("", model, until)
            case "bind" if self.is_usable(event.account):
                self.bound[event.name, event.model] = (event.account, now + BINDING)
            case "leave":
                self.unbind(event.account)

    def on_told(self, event: Told, now: int) -> None:
        """All rows that evidence moves."""
        self._transient(event, now)
        self._edge(event, now)
        if event.what in SPOKEN_FOR_NOBODY:
            return
        if event.is_of_old_secret and event.what in OF_ONE_SECRET:
            return
        self.lapse(event.account, now)
        state = self.states[event.account]
        family = FAMILY[event.model]
        drew = event.claim.endswith("_overage_included")
        if drew or event.statuses.get("7d_oi") == "rejected":
            state.families.add(family)
        if event.what == "served":
            self._prove(event)
            if event.account in CLAUDE and (event.statuses or event.aggregate or event.claim):
                for name in WINDOWS:
                    self._warn(state.warned[name], name, event, now)
            if event.account == "plan":
                self._overage(state.overage, event, now)
        elif event.what == "throttled":
            self._throttle(event, now)
        elif event.what not in ("unsupported", "no_model") or event.account in PLANS:
            kind, steps = REFUSED[event.what]
            model = "" if event.what in ("refused", "unpaid") else event.model
            self._block((kind, "", model, ""), None, event, now, steps)
            row = state.blocks.get(("auth", "", "", ""))
            is_refused = event.what == "refused" and row is not None and row.is_on
            if is_refused and event.account == "key" and not state.is_given_up:
                state.is_given_up = _is_third(row.levels) if row is not None else False

    def _warn(self, warned: Warned, name: str, event: Told, now: int) -> None:
        own = event.statuses.get(name)
        if own == "rejected" or (own is None and event.aggregate != "allowed"):
            return
        if event.at < max(warned.heard, warned.turned):
            return
        warned.heard = event.at
        if own != "allowed_warning":
            if warned.is_on:
                warned.is_on, warned.turned = False, event.at
            return
        reset = event.resets.get(name)
        if reset is not None and reset <= now:
            return
        until = (
            event.at + FALLBACK if reset is None else min(reset, event.at + LENGTH_S[name] + SLACK)
        )
        if warned.is_on:
            if reset is None and warned.until > event.at + FALLBACK / 2:
                return
            if until != warned.until:
                warned.until, warned.turned = until, event.at
        elif until > now:
            warned.until, warned.turned, warned.is_on = until, event.at, True

    def _overage(self, overage: Warned, event: Told, now: int) -> None:
        if not (event.statuses or event.aggregate or event.claim or event.resets):
            return
        if event.at < overage.turned:
            return
        if event.claim != "overage":
            if overage.is_on:
                overage.is_on, overage.turned = False, event.at
            return
        spent = [w for w in WINDOWS if event.statuses.get(w) == "rejected"]
        resets = [event.resets[w] for w in spent if w in event.resets]
        until = max(resets, default=event.at)
        if until <= event.at:
            until = event.at + FALLBACK
        longest = max((LENGTH_S[w] for w in spent), default=WEEK)
        until = min(until, event.at + longest + SLACK)
        if until <= now:
            return
        if overage.is_on:
            overage.until = until if until > overage.until + 15 else overage.until
        else:
            overage.is_on, overage.until, overage.turned = True, until, event.at

    def _throttle(self, event: Told, now: int) -> None:
        longest = WEEK if event.account in PLANS else DAY
        hint = event.at + min(event.wait, longest) if event.wait else None
        spent = [w for w in WINDOWS if event.statuses.get(w) == "rejected"]
        if not spent:
            self._block(("quota", "", event.model, ""), hint, event, now)
            return
        rest = [event.statuses.get(w) for w in ("5h", "7d")]
        is_apart = all(word in ("allowed", "allowed_warning") for word in rest)
        last = max(spent, key=lambda w: LENGTH_S[w])
        for name in spent:
            until = event.resets.get(name)
            if until is not None and until <= event.at:
                until = None
            if name == last and event.wait:
                until = max(until or 0, event.at + event.wait)
            if until is not None:
                until = min(until, event.at + LENGTH_S[name] + SLACK)
            scopes = [""]
            if spent == ["7d_oi"] and is_apart:
                scopes = sorted(self.states[event.account].families | {FAMILY[event.model]})
            for family in scopes:
                self._block(("quota", name, "", family), until, event, now)

    def _block(
        self, scope: Scope, hint: int | None, event: Told, now: int, steps: tuple[int, ...] = ()
    ) -> None:
        rows = self.states[event.account].blocks
        old = rows.get(scope)
        levels = {0}
        if old is not None:
            if old.ended is None:
                old.until = max(old.until, hint or 0)
                return
            was_lifted = old.ended != old.until
            if event.at < old.ended and was_lifted:
                return
            if event.at < old.ended or event.sent < old.since:
                if hint is not None and hint > now and not old.is_fresh:
                    old.until, old.ended = hint, None
                return
            levels = {0} if old.is_fresh else {level + 1 for level in old.levels}
            memory = DAY if scope[0] == "auth" else HOUR
            if old.ended + memory <= now:
                levels.add(0)
        ends = {level: event.at + _step(level, steps) for level in levels}
        until = hint if hint is not None else max(ends.values())
        if until > now:
            rows[scope] = Row(event.at, until, steps, levels, before=old)

    def settle(self, name: str, scope: Scope, until: int | None, now: int) -> None:
        """Take over which of the possible steps it was; None: of none that still counts."""
        row = self.states[name].blocks[scope]
        if until is None:
            if row.before is not None and row.since + _step(min(row.levels), row.steps) <= now:
                self.states[name].blocks[scope] = row.before
            return
        possible = {lv for lv in row.levels if row.since + _step(lv, row.steps) == until}
        if possible:
            row.levels, row.until = possible, until

    def _prove(self, event: Told) -> None:
        for scope, row in self.states[event.account].blocks.items():
            if event.sent < row.since or not self._is_disproved(scope, event):
                continue
            if row.ended is None:
                row.ended, row.is_fresh = event.at, True
            elif event.at >= row.ended:
                row.is_fresh = True

    @staticmethod
    def _is_disproved(scope: Scope, event: Told) -> bool:
        kind, window, model, family = scope
        concerns = model in ("", event.model) and family in ("", FAMILY[event.model])
        if kind != "quota" or model:
            return concerns
        said = event.statuses.get(window)
        if said is not None:
            return said != "rejected"
        return concerns and event.claim != "overage"

    def _reset(self, name: str, model: str, now: int) -> None:
        self.lapse(name, now)
        state = self.states[name]
        for (_, _, of_model, _), row in state.blocks.items():
            if not model or of_model == model:
                row.ended, row.is_fresh = now if row.ended is None else row.ended, True
        if model:
            return
        for one in (*state.warned.values(), state.overage):
            if one.is_on:
                one.is_on, one.turned = False, now
        state.is_given_up = False

    def _login(self, name: str, now: int) -> None:
        self.lapse(name, now)
        state = self.states[name]
        for (kind, *_), row in state.blocks.items():
            if kind == "auth":
                row.ended, row.is_fresh = now if row.ended is None else row.ended, True
        state.is_given_up = False

    def _transient(self, event: Told, now: int) -> None:
        key = (event.account, event.model)
        if event.what in ("overloaded", "down", "empty"):
            self.failed[key] = now + 60
        elif event.what in ("served", "challenge"):
            self.failed.pop(key, None)

    def _edge(self, event: Told, now: int) -> None:
        way = (PROVIDER[event.account], PROXY.get(event.account, ""))
        since, until, level = self.closed.get(way, (0, 0, -1))
        if event.what == "challenge" and now >= until and event.sent >= since:
            level += 1
            self.closed[way] = (now, now + min(30 * 2 ** min(level, 8), 600), level)
        elif event.what == "served" and way in self.closed and event.sent >= since:
            del self.closed[way]

    def _is_held(self, grant: str, now: int) -> bool:
        return grant in self.leases and now < self.leases[grant][2] and bool(self.leases[grant][0])

    def unbind(self, name: str) -> None:
        """Forget the sessions of an account that can serve no more."""
        self.bound = {key: one for key, one in self.bound.items() if one[0] != name}

    def is_usable(self, name: str) -> bool:
        """Return whether an account may serve at all."""
        return self.states[name].is_enabled and not self.states[name].is_given_up

    def held(self, name: str, now: int) -> int:
        """Return how many leases of an account are held."""
        return sum(who == name and now < until for who, _, until in self.leases.values())

    def active(self, name: str, now: int) -> Iterator[tuple[Scope, Row]]:
        """Yield the blocks that count now."""
        for scope, row in self.states[name].blocks.items():
            if row.is_on and row.until > now:
                yield scope, row


def _is_third(levels: set[int]) -> bool | None:
    thirds = {level >= 2 for level in levels}
    return thirds.pop() if len(thirds) == 1 else None


def _step(level: int, steps: tuple[int, ...]) -> int:
    return steps[min(level, len(steps) - 1)] if steps else min(2 ** min(level, 32), 1_800)
