from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from gateway.identity import (
    legible,
    presented_of,
    relayed_headers,
    router_key_of,
    wants_long_context,
)
from services.domain.vocab import WireFamily

A = WireFamily.ANTHROPIC


@pytest.mark.spec("XLT-19", "OPS-17")
def test_the_router_key_is_looked_for_in_a_fixed_order() -> None:
    headers = {
        "x-router-key": " rk_1 ",
        "authorization": "BEARER  rk_2 ",
        "x-api-key": "rk_3",
        "x-goog-api-key": "rk_4",
    }
    found = []
    while headers:
        found.append(router_key_of(headers, "rk_5"))
        del headers[next(iter(headers))]
    found.append(router_key_of(headers, " rk_5 "))
    assert found == ["rk_1", "rk_2", "rk_3", "rk_4", "rk_5"]


def test_only_the_bearer_scheme_counts() -> None:
    assert router_key_of({"authorization": "Basic rk_1"}, "") == ""
    assert router_key_of({"authorization": "rk_1"}, "") == ""


@pytest.mark.spec("XLT-20")
def test_credentials_count_as_brought_only_beside_a_dedicated_key() -> None:
    headers = {"authorization": "Bearer sk-mine", "x-api-key": "sk-too"}
    assert presented_of(headers, A) == ()
    brought = presented_of({"x-router-key": "rk_1", **headers}, A)
    assert [item.presented_secret for item in brought] == ["sk-mine", "sk-too"]


@pytest.mark.spec("XLT-20", "DSP-210")
@given(
    st.sampled_from(["rk_", "ra_"]),
    st.text("abcXYZ019", min_size=1, max_size=40),
    st.sampled_from(["Bearer", "bearer", "BEARER"]),
)
def test_a_token_shaped_like_ours_is_never_relayed(prefix: str, body: str, scheme: str) -> None:
    headers = {"x-router-key": "rk_1", "authorization": f"{scheme} {prefix}{body}"}
    assert presented_of(headers, A) == ()


def test_no_token_shows_in_a_repr() -> None:
    brought = presented_of({"x-router-key": "rk_secret1", "x-api-key": "sk-secret2"}, A)
    assert brought
    assert "secret" not in repr(brought)


@pytest.mark.spec("XLT-22")
def test_bytes_that_are_no_text_are_replaced() -> None:
    plain = {"X-App": "cli"}
    assert legible(plain) is plain
    odd = {"X-App": b"caf\xe9".decode("utf-8", "surrogateescape"), "User-Agent": "caf\u00e9"}
    assert legible(odd) == {"x-app": "caf\ufffd", "user-agent": "caf\u00e9"}
    twice = CIMultiDict([("X-App", "caf\u00e9"), ("x-app", "other")])
    assert legible(twice)["x-app"] == twice["x-app"]


@pytest.mark.spec("XLT-22")
def test_cookies_and_forwarding_headers_are_not_relayed() -> None:
    headers = {
        "anthropic-version": "2023-06-01",
        "cookie": "a=b",
        "x-forwarded-for": "1.2.3.4",
        "accept-encoding": "br",
        "authorization": "Bearer x",
        "user-agent": " ua ",
    }
    relayed = relayed_headers(headers)
    assert relayed == (("anthropic-version", "2023-06-01"), ("user-agent", "ua"))


@pytest.mark.spec("XLT-27")
def test_the_long_window_is_asked_for_by_header_or_tag() -> None:
    assert wants_long_context({"anthropic-beta": "a,context-1m-2025-08-07"}, "m")
    assert wants_long_context({}, "m[1m] ")
    assert not wants_long_context({}, "m")
