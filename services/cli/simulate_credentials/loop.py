"""A closed loop: accounts whose windows run out, and requests that choose among them."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from services.cli.simulate_credentials.ledger import START_UNIX_S
from services.cli.simulate_credentials.replay import PROVIDER, RULES, account
from services.credentials.model import (
    BindingRef,
    Credential,
    Cursor,
    CursorKey,
    InFlight,
    Phase,
    Pool,
    Query,
    Report,
)
from services.credentials.policy.evidence import Seen, observe, swept
from services.credentials.policy.selection import Terms, decide
from services.credentials.policy.view import View

WINDOW_S = 5 * 3_600.0
WARN_RATIO = 0.8
REQUESTS = 3_000
PAUSE_S = 34
"""Mean time between requests: nearly all that the accounts can serve is asked."""
MODEL = "m"
NOBODY = InFlight({}, {})
_UNIFIED = "anthropic-ratelimit-unified-"


@dataclass(slots=True)
class Tally:
    """What requests met."""

    requests: int = 0
    rejections: int = 0
    """429s that upstreams answered; a caller sees none that another account made good."""
    errors: int = 0
    """Requests that no account served."""
    avoidable: int = 0
    """Of these, the ones during which some account had room."""


class _Window:
    """The true state of one account's window; somebody else uses it too."""

    def __init__(self, capacity: int, offset_s: float, foreign: float) -> None:
        self._capacity = capacity
        self._offset_s = offset_s
        self._foreign = foreign
        self._used = 0.0
        self.end_unix_s = 0.0

    def pass_to(self, now: float, randomness: random.Random) -> None:
        """Move on in time."""
        end = ((now + self._offset_s) // WINDOW_S + 1) * WINDOW_S - self._offset_s
        if end != self.end_unix_s:
            self.end_unix_s, self._used = end, 0.0
        self._used += self._foreign * randomness.random()

    @property
    def has_room(self) -> bool:
        """Whether a request would be served."""
        return self._used < self._capacity

    def ask(self) -> tuple[int, tuple[tuple[str, str], ...]]:
        """Return the status and the headers of an answer."""
        status, word = 429, "rejected"
        if self.has_room:
            self._used += 1
            is_near = self._used >= WARN_RATIO * self._capacity
            status, word = 200, "allowed_warning" if is_near else "allowed"
        return status, (
            (f"{_UNIFIED}status", word),
            (f"{_UNIFIED}5h-status", word),
            (f"{_UNIFIED}5h-reset", f"{self.end_unix_s:.0f}"),
        )


class Loop:
    """Three accounts of unlike size, and one rule that reads what they say."""

    def __init__(self, seed: int, *, is_warning_heard: bool, pause_s: int = PAUSE_S) -> None:
        self._pause_s = pause_s
        self._randomness = random.Random(seed)  # noqa: S311 - a reproducible world
        self._is_warning_heard = is_warning_heard
        sizes = (400, 250, 150)
        self._accounts = {f"c{n}": account(f"c{n}") for n in range(1, len(sizes) + 1)}
        self._windows = {
            f"c{n}": _Window(size, n * 5_000.0, n / 12) for n, size in enumerate(sizes, 1)
        }
        self._seen: dict[str, Seen] = {}
        self._cursors: dict[CursorKey, Cursor] = {}
        self._number = 0

    def run(self, requests: int = REQUESTS) -> Tally:
        """Return what that many requests met."""
        tally, now = Tally(), START_UNIX_S
        for _ in range(requests):
            now += self._randomness.randint(1, 2 * self._pause_s)
            for window in self._windows.values():
                window.pass_to(now, self._randomness)
            tally.requests += 1
            self._request(tally, now)
        return tally

    def _request(self, tally: Tally, now: float) -> None:
        tried: frozenset[str] = frozenset()
        had_room = any(window.has_room for window in self._windows.values())
        while True:
            picked = self._pick(tried, now)
            if picked is None:
                tally.errors += 1
                tally.avoidable += had_room
                return
            status, headers = self._windows[picked.id].ask()
            self._hear(picked, status, headers, now)
            if status == 200:
                return
            tally.rejections += 1
            tried |= {picked.id}

    def _pick(self, tried: frozenset[str], now: float) -> Credential | None:
        for name, one in self._accounts.items():
            self._accounts[name] = swept(one, now).credential
        pool = Pool.of(1, self._accounts.values())
        binding = BindingRef(MODEL, PROVIDER)
        self._number += 1
        found = decide(
            Query(f"a{self._number}", "t", f"a{self._number}/1", (binding,), tried=tried),
            binding,
            View.of(pool.visible_to("t", PROVIDER), RULES.subject(MODEL), now),
            1,
            NOBODY,
            lambda key: self._cursors.get(key, Cursor()),
            "",
            Terms(),
            now,
            is_gateway_exclusive=False,
        )
        if found.pick is None:
            return None
        self._cursors[found.pick.cursor_key] = found.pick.cursor
        return found.pick.credential

    def _hear(
        self, picked: Credential, status: int, headers: tuple[tuple[str, str], ...], now: float
    ) -> None:
        if status == 200 and not self._is_warning_heard:
            headers = ()
        report = Report(
            f"g{self._number}",
            f"a{self._number}",
            1,
            1,
            Phase.HEADERS,
            credential_id=picked.id,
            model_id=MODEL,
            http_status=status,
            headers=headers,
            send_unix_s=now,
            observe_unix_s=now,
            credential_version=1,
        )
        step = observe(picked, report, self._seen.get(picked.id, {}), RULES, now)
        self._accounts[picked.id] = replace(step.credential)
        self._seen[picked.id] = step.seen
