"""Times as upstreams write them: instants, spans, and midnight where a vendor counts its days.

Instants are remembered: an account says the same reset with every answer.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from functools import lru_cache

from services.credentials.model import CALENDAR_END_UNIX_S
from services.domain.dates import http_date

MAX_CHARACTERS = 40
"""Longer texts are no times."""
MILLISECONDS_FROM = 1e11
"""From here on a number means milliseconds since 1970: as seconds it would be the year 5138."""

_SPAN = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)(ms|us|µs|ns|h|m|s)")
_UNITS_S = {"h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def number(text: str) -> float | None:
    """Return a finite number that is not negative; None: the text is none."""
    text = text.strip()
    if not text or len(text) > MAX_CHARACTERS:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


@lru_cache(maxsize=4_096)
def instant(text: str) -> float | None:
    """Return seconds since 1970: of epoch seconds or milliseconds, RFC 3339 or an HTTP date.

    None: the text is none of these, or not after 1970, or after 9999.
    """
    text = text.strip()
    if not text or len(text) > MAX_CHARACTERS:
        return None
    value = number(text)
    if value is None:
        value = _iso(text)
    elif value >= MILLISECONDS_FROM:
        value /= 1_000
    if value is None:
        value = http_date(text)
    return value if value is not None and 0 < value < CALENDAR_END_UNIX_S else None


def later(unix_s: float, seconds: float) -> float | None:
    """Return the instant so many seconds later; None: it is after 9999."""
    found = unix_s + seconds
    return found if found < CALENDAR_END_UNIX_S else None


def span_s(text: str) -> float | None:
    """Return seconds of a span such as ``6m0s``, ``20ms``, ``37.5s`` or bare seconds."""
    text = text.strip()
    bare = number(text)
    if bare is not None:
        return bare
    if not text or len(text) > MAX_CHARACTERS:
        return None
    total, end = 0.0, 0
    for part in _SPAN.finditer(text):
        if part.start() != end:
            return None
        total += float(part[1]) * _UNITS_S[part[2]]
        end = part.end()
    return total if end == len(text) else None


def pacific_midnight(now_unix_s: float) -> float:
    """Return the next midnight on the west coast of the United States.

    Daily quotas of Gemini start anew then. Summer time lasts from 2 am on the second Sunday of
    March to 2 am on the first Sunday of November.
    """
    day = _pacific(now_unix_s).date() + dt.timedelta(days=1)
    standard = dt.datetime.combine(day, dt.time(), dt.timezone(dt.timedelta(hours=-8)))
    # At midnight of a change's day the old offset holds still, so the day before decides.
    return standard.timestamp() - (3_600.0 if _is_summer(day, dt.time()) else 0.0)


def _pacific(now_unix_s: float) -> dt.datetime:
    standard = dt.datetime.fromtimestamp(now_unix_s, dt.timezone(dt.timedelta(hours=-8)))
    is_summer = _is_summer(standard.date(), standard.time())
    return standard + dt.timedelta(hours=1) if is_summer else standard


def _is_summer(day: dt.date, standard_time: dt.time) -> bool:
    """Return whether summer time holds at an instant given in standard time."""
    start = _sunday(day.year, 3, 2)
    end = _sunday(day.year, 11, 1)
    if day in (start, end):
        # The clock goes on at 2 am standard time, and back at 1 am standard time.
        return standard_time >= dt.time(2) if day == start else standard_time < dt.time(1)
    return start < day < end


def _sunday(year: int, month: int, which: int) -> dt.date:
    first = dt.date(year, month, 1)
    return first + dt.timedelta(days=(6 - first.weekday()) % 7 + 7 * (which - 1))


def _iso(text: str) -> float | None:
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=dt.UTC)).timestamp()
