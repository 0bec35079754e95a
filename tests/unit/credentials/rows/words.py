"""What may happen to a pool, in the words of the table of states."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

ACCOUNTS = ("plan", "frugal", "codex", "key")
"""Claude accounts that pay overage last, or as usual; a Codex account; a plain key."""
PLANS = ("plan", "frugal", "codex")
CLAUDE = ("plan", "frugal")
MODELS = ("m1", "m2", "m3")
FAMILY = {"m1": "f1", "m2": "f1", "m3": "f2", "": ""}
WINDOWS = ("5h", "7d", "7d_oi")
LENGTH_S = {"5h": 5 * 3_600, "7d": 7 * 86_400, "7d_oi": 7 * 86_400}
PROXY = {"key": "http://proxy.test:1"}
"""Who goes another way than the others of its provider."""
PROVIDER = {"plan": "p", "frugal": "p", "codex": "o", "key": "p"}

REFUSALS = ("refused", "unpaid", "forbidden", "unsupported", "no_model")
SILENT = ("fault", "gone", "not_sent", "overloaded", "down", "empty", "challenge")
LEASED = ("open", "renew", "end")


@dataclass(frozen=True)
class Told:
    """An attempt was answered, or ended without an answer."""

    account: str
    what: str
    model: str
    at: int
    sent: int
    statuses: Mapping[str, str] = field(default_factory=dict)
    resets: Mapping[str, int] = field(default_factory=dict)
    aggregate: str = ""
    claim: str = ""
    wait: int = 0
    is_of_old_secret: bool = False


@dataclass(frozen=True)
class Done:
    """Somebody did something: an operator, a timer, a caller."""

    what: str
    account: str = ""
    model: str = ""
    name: str = ""


class Fate:
    """Draws what happens; equal seeds tell equal stories."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._grants = 0

    def pause(self) -> int:
        """Return the seconds until the next event."""
        return self._random.choice((0, 0, 1, 1, 5, 20, 60, 300, 1_800, 7_200, 40_000))

    def event(self, now: int) -> Told | Done:
        """Return the next event."""
        draw = self._random
        account, model = draw.choice(ACCOUNTS), draw.choice(MODELS)
        match draw.randrange(20):
            case 0:
                return Done("reset", account, draw.choice(("", model)))
            case 1:
                return Done(draw.choice(("login", "sweep", "off", "on")), account)
            case 2 | 3:
                return self._leased(account, model)
            case 4:
                session = f"s{draw.randrange(3)}"
                return Done(draw.choice(("bind", "bind", "leave")), account, model, session)
            case _:
                return self._told(account, model, now)

    def _leased(self, account: str, model: str) -> Done:
        what = self._random.choice(LEASED)
        if what == "open":
            self._grants += 1
            return Done(what, account, model, f"g{self._grants}")
        return Done(what, account, model, f"g{self._random.randint(1, self._grants + 1)}")

    def _told(self, account: str, model: str, now: int) -> Told:
        draw = self._random
        late = draw.choice((0, 0, 0, 2, 30, 300))
        at = now - late
        what = draw.choice(("served",) * 9 + ("throttled",) * 5 + REFUSALS + SILENT)
        sent = at - draw.choice((0, 0, 1, 10, 200))
        is_old = draw.randrange(12) == 0
        told = Told(account, what, model, at, sent, is_of_old_secret=is_old)
        if what not in ("served", "throttled"):
            return told
        wait = draw.choice((0, 0, 1, 30, 4_000, 900_000)) if what == "throttled" else 0
        if account not in CLAUDE:
            return Told(account, what, model, at, sent, wait=wait, is_of_old_secret=is_old)
        return self._quotas(told, wait)

    def _quotas(self, told: Told, wait: int) -> Told:
        draw = self._random
        words = ("", "", "allowed", "allowed_warning", "rejected")
        statuses = {name: draw.choice(words) for name in WINDOWS}
        aggregates = ("", "", "allowed", "allowed_warning")
        claims = ("", "", "", "overage", "seven_day_overage_included")
        if told.what == "throttled" and draw.randrange(2):
            statuses = dict.fromkeys(WINDOWS, "")  # a throttle, not a quota
        return Told(
            told.account,
            told.what,
            told.model,
            told.at,
            told.sent,
            {name: word for name, word in statuses.items() if word},
            {
                name: told.at + draw.choice((-5, 40, 5_000, 90_000, 2_000_000))
                for name in WINDOWS
                if draw.randrange(2)
            },
            draw.choice(aggregates) if told.what == "served" else "",
            draw.choice(claims) if told.what == "served" else "",
            wait,
            told.is_of_old_secret,
        )
