"""Challenge pages of an edge are told from errors of the provider and of its proxies."""

from __future__ import annotations

import pytest

from services.dispatch.policy.challenge import is_challenge_page

HTML = (("content-type", "text/html; charset=UTF-8"),)
WAITING = b"""<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title></head>
<body><script>window._cf_chl_opt = {};</script></body></html>"""
BROKEN = b"<html><head><title>503 Service Temporarily Unavailable</title></head></html>"


@pytest.mark.spec("CRD-88")
@pytest.mark.parametrize(
    ("status", "headers", "body", "is_challenge"),
    [
        (403, HTML, WAITING, True),
        (503, HTML, b"\n " + WAITING, True),
        (429, (), b"<html><form id='challenge-form'></form></html>", True),
        (403, (("CF-Mitigated", "challenge"),), b"", True),
        (403, HTML, b"<HTML><body>Please solve the CAPTCHA</body></HTML>", True),
        (403, HTML, BROKEN, False),
        (503, HTML, BROKEN, False),
        (500, HTML, WAITING, False),
        (200, HTML, WAITING, False),
        (None, (), WAITING, False),
        (403, (), b'{"error":{"message":"just a moment <html>"}}', False),
        (403, (), b"", False),
    ],
)
def test_a_page_that_asks_for_a_human_is_a_challenge(
    status: int | None, headers: tuple[tuple[str, str], ...], body: bytes, *, is_challenge: bool
) -> None:
    assert is_challenge_page(status, headers, body) is is_challenge
