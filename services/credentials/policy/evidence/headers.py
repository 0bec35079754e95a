"""Reads headers about quota: Claude's unified windows, Codex windows, waits and key limits."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.credentials.model import CODEX_WINDOWS, UNIFIED_WINDOWS, WINDOW_LENGTHS_S
from services.credentials.policy.evidence.rules import Doubt
from services.credentials.policy.evidence.times import instant, later, number, span_s
from services.domain.dates import http_date

if TYPE_CHECKING:
    from collections.abc import Iterable

UNIFIED = "anthropic-ratelimit-unified-"
CODEX = "x-codex-"
SHOWN_CHARACTERS = 32
TRUSTED_OFFSET_S = 30.0
"""A clock that is off by less is taken for right: the header has whole seconds, and time passes
under way."""
CODEX_CLEAR_POINTS = 5.0
LONGEST_WINDOW_S = 31 * 86_400.0
"""No vendor has a longer one."""

CLAIMS = frozenset(
    {
        "five_hour",
        "seven_day",
        "seven_day_opus",
        "seven_day_sonnet",
        "five_hour_overage_included",
        "seven_day_overage_included",
        "overage",
    }
)
_KEY_LIMITS = ("requests", "tokens", "input-tokens", "output-tokens")


class Status(enum.StrEnum):
    """Names what an upstream says about a window."""

    ALLOWED = "allowed"
    ALLOWED_WARNING = "allowed_warning"
    REJECTED = "rejected"


_STATUSES = {status.value: status for status in Status}


@dataclass(frozen=True, slots=True)
class WindowSignal:
    """What one response said about one window; None: nothing."""

    name: str
    length_s: float
    status: Status | None = None
    reset_unix_s: float | None = None
    utilization_ratio: float | None = None

    @property
    def is_recovered(self) -> bool:
        """Whether it says that the window is not used up."""
        if self.status is Status.REJECTED:
            return False
        ratio = self.utilization_ratio
        return self.status is not None or (ratio is not None and ratio < 1.0)


@dataclass(frozen=True, slots=True)
class Signals:
    """What the headers of one response said about quota."""

    windows: tuple[WindowSignal, ...] = ()
    aggregate: Status | None = None
    reset_unix_s: float | None = None
    """Reset of the answer as a whole."""
    claim: str = ""
    """Which window bound the answer; one that is not known is left out."""
    is_overage_permitted: bool = False
    is_in_overage: bool | None = None
    offset_s: float = 0.0
    """How far our clock is ahead of the upstream's, where that counts."""
    lane: tuple[str, ...] = ()
    """Windows that such headers can speak of."""
    doubts: tuple[Doubt, ...] = ()

    @property
    def is_paid(self) -> bool:
        """Whether the answer was paid for beyond the plan."""
        return self.claim == "overage" or self.is_in_overage is True

    def window(self, name: str) -> WindowSignal | None:
        """Return what was said about a window; None: nothing at all."""
        return next((one for one in self.windows if one.name == name), None)

    def status(self, name: str) -> Status | None:
        """Return the own status of a window; None: it has none here."""
        found = self.window(name)
        return None if found is None else found.status


NO_SIGNALS = Signals()


class Fields:
    """Headers by lower-case name, blanks around values removed; of repeats the first counts."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self.values: dict[str, str] = {}
        self._disagreeing: set[str] = set()
        self.doubts: list[Doubt] = []
        for name, value in pairs:
            key, text = name.strip().lower(), value.strip()
            if self.values.setdefault(key, text).casefold() != text.casefold():
                self._disagreeing.add(key)

    def text(self, name: str) -> str:
        """Return a value; empty: it is absent."""
        return self.values.get(name, "")

    def status(self, name: str) -> Status | None:
        """Return a status; None: absent, unknown, or repeated with another value."""
        text = self.values.get(name)
        if text is None:
            return None
        if name in self._disagreeing:
            self.doubts.append(Doubt("disagreeing_status", name))
            return None
        status = _STATUSES.get(text.casefold())
        if status is None:
            self.doubts.append(Doubt("unknown_status", name, shown(text)))
        return status


def shown(text: str) -> str:
    """Return a foreign text as it may be shown: printable and short."""
    return "".join(c if c.isprintable() else "?" for c in text[:SHOWN_CHARACTERS])


def unified(pairs: Iterable[tuple[str, str]], receive_unix_s: float) -> Signals:
    """Return what the unified headers of a Claude account say; resets are in our time."""
    fields = Fields(pairs)
    if not any(name.startswith(UNIFIED) for name in fields.values):
        return NO_SIGNALS
    offset_s = _offset_s(fields, receive_unix_s)
    windows = []
    for name in UNIFIED_WINDOWS:
        status = fields.status(f"{UNIFIED}{name}-status")
        reset = _reset(fields.text(f"{UNIFIED}{name}-reset"), offset_s)
        used = number(fields.text(f"{UNIFIED}{name}-utilization"))
        if status is not None or reset is not None or used is not None:
            windows.append(WindowSignal(name, WINDOW_LENGTHS_S[name], status, reset, used))
    permitted = fields.status(f"{UNIFIED}overage-status")
    return Signals(
        windows=tuple(windows),
        aggregate=fields.status(f"{UNIFIED}status"),
        reset_unix_s=_reset(fields.text(f"{UNIFIED}reset"), offset_s),
        claim=_claim(fields),
        is_overage_permitted=permitted in (Status.ALLOWED, Status.ALLOWED_WARNING),
        is_in_overage=_flag(fields.text(f"{UNIFIED}overage-in-use")),
        offset_s=offset_s,
        lane=UNIFIED_WINDOWS,
        doubts=tuple(fields.doubts),
    )


def codex(pairs: Iterable[tuple[str, str]], receive_unix_s: float, warn_percent: float) -> Signals:
    """Return what the headers of a Codex account say; a percentage is a warning from
    ``warn_percent`` on, none where that is 0."""
    fields = Fields(pairs)
    if not any(name.startswith(CODEX) for name in fields.values):
        return NO_SIGNALS
    windows = []
    for name in CODEX_WINDOWS:
        percent = number(fields.text(f"{CODEX}{name}-used-percent"))
        minutes = number(fields.text(f"{CODEX}{name}-window-minutes"))
        reset = instant(fields.text(f"{CODEX}{name}-reset-at"))
        after_s = number(fields.text(f"{CODEX}{name}-reset-after-seconds"))
        if reset is None and after_s is not None:
            reset = later(receive_unix_s, after_s)
        if percent is not None or reset is not None:
            length_s = min(minutes * 60.0, LONGEST_WINDOW_S) if minutes else WINDOW_LENGTHS_S[name]
            status = _codex_status(percent, warn_percent)
            used = None if percent is None else percent / 100.0
            windows.append(WindowSignal(name, length_s, status, reset, used))
    return Signals(windows=tuple(windows), lane=CODEX_WINDOWS)


def wait_until(pairs: Iterable[tuple[str, str]], receive_unix_s: float) -> float | None:
    """Return until when a refused request is to wait; None: nothing that counts says so.

    ``retry-after-ms`` is the finest; then ``retry-after``; then the resets of key limits of which
    nothing remains.
    """
    fields = Fields(pairs)
    fine = number(fields.text("retry-after-ms"))
    if fine:
        return receive_unix_s + fine / 1_000
    text = fields.text("retry-after")
    seconds = number(text)
    if seconds:
        return receive_unix_s + seconds
    if text and seconds is None:
        date = http_date(text)
        if date is not None and date > receive_unix_s:
            return date
    resets = [reset for reset in _spent_limits(fields, receive_unix_s) if reset > receive_unix_s]
    return max(resets, default=None)


def _spent_limits(fields: Fields, receive_unix_s: float) -> Iterable[float]:
    for name in _KEY_LIMITS:
        if number(fields.text(f"anthropic-ratelimit-{name}-remaining")) == 0:
            reset = instant(fields.text(f"anthropic-ratelimit-{name}-reset"))
            if reset is not None:
                yield reset
    for name in ("requests", "tokens"):
        if number(fields.text(f"x-ratelimit-remaining-{name}")) == 0:
            wait_s = span_s(fields.text(f"x-ratelimit-reset-{name}"))
            if wait_s is not None:
                yield receive_unix_s + wait_s


def _codex_status(percent: float | None, warn_percent: float) -> Status | None:
    if percent is None or not warn_percent:
        return None
    if percent >= warn_percent:
        return Status.ALLOWED_WARNING
    return Status.ALLOWED if percent < warn_percent - CODEX_CLEAR_POINTS else None


def _claim(fields: Fields) -> str:
    text = fields.text(f"{UNIFIED}representative-claim").casefold()
    if text and text not in CLAIMS:
        fields.doubts.append(Doubt("unknown_claim", f"{UNIFIED}representative-claim", shown(text)))
        return ""
    return text


def _flag(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.casefold())


def _offset_s(fields: Fields, receive_unix_s: float) -> float:
    date = http_date(fields.text("date")) if fields.text("date") else None
    if date is None or abs(receive_unix_s - date) <= TRUSTED_OFFSET_S:
        return 0.0
    fields.doubts.append(Doubt("clock_offset", "date"))
    return receive_unix_s - date


def _reset(text: str, offset_s: float) -> float | None:
    found = instant(text)
    return None if found is None else later(found, offset_s)
