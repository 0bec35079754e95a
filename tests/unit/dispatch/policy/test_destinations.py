"""Where a tenant's endpoint may be."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.dispatch.policy.destinations import is_allowed, literal_of

PRIVATE = (
    "0.0.0.0",  # noqa: S104 - an address to refuse, not one to listen at
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fc00::1",
    "fe80::1",
    "fe80::1%eth0",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::7f00:1",
    "64:ff9b::10.0.0.1",
    "2002:7f00:1::",
    "not-an-address",
    "",
)
PUBLIC = ("1.1.1.1", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8")


@pytest.mark.parametrize("address", PRIVATE)
def test_what_is_not_public_is_refused_in_whatever_form(address: str) -> None:
    assert not is_allowed(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_allowed(address)


def test_the_operator_may_permit_a_network() -> None:
    inside = (ipaddress.ip_network("10.1.0.0/16"), ipaddress.ip_network("fc00::/7"))
    for address in ("10.1.2.3", "::ffff:10.1.2.3", "fc00::1"):
        assert is_allowed(address, inside)
    for address in ("10.2.0.1", "127.0.0.1", "::1"):
        assert not is_allowed(address, inside)


@given(st.ip_addresses(v=4))
def test_a_form_of_ipv6_never_opens_what_ipv4_closes(address: ipaddress.IPv4Address) -> None:
    for written in (f"::ffff:{address}", f"64:ff9b::{address}"):
        assert is_allowed(written) == is_allowed(str(address))


@pytest.mark.parametrize(
    ("host", "expected"),
    [("[::1]", "::1"), ("127.0.0.1", "127.0.0.1"), ("example.org", ""), ("", "")],
)
def test_a_host_is_an_address_or_a_name(host: str, expected: str) -> None:
    assert literal_of(host) == expected
