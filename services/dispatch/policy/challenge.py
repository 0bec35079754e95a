"""Tells pages of a network edge that ask for a human from answers of the provider."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.dispatch.model.plan import HeaderPairs

STATUSES = frozenset({403, 429, 503})
MAX_SEARCHED_BYTES = 64 * 1_024
_SAYS_SO = ("cf-mitigated", "challenge")
"""The header by which Cloudflare marks its challenge pages."""
_PAGE = re.compile(rb"\s{0,64}<(?:!doctype\s{1,9}html|html)\b", re.IGNORECASE)
_CHALLENGE = re.compile(
    rb"cf[-_]chl|challenge-platform|challenge-form|just a moment|attention required"
    rb"|checking your browser|verify (?:that )?you are (?:a )?human|captcha",
    re.IGNORECASE,
)


def is_challenge_page(status: int | None, headers: HeaderPairs, body: bytes) -> bool:
    """Return whether an answer is a challenge of the edge: a page, not JSON, that wants proof of a
    human. An ordinary error page of a broken proxy is none."""
    if status not in STATUSES:
        return False
    if any((name.lower(), value.strip().lower()) == _SAYS_SO for name, value in headers):
        return True
    head = body[:MAX_SEARCHED_BYTES]
    return bool(_PAGE.match(head)) and bool(_CHALLENGE.search(head))
