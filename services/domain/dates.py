"""Dates as HTTP headers write them."""

from __future__ import annotations

import datetime as dt
from email.utils import parsedate_to_datetime


def http_date(text: str) -> float | None:
    """Return seconds since 1970 of an HTTP date; None: it is none.

    One that names no zone is in UTC: the oldest of the three forms has none.

    Source: RFC 9110 §5.6.7.
    """
    try:
        date = parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=dt.UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
