"""Which addresses may be connected to on behalf of a tenant.

A tenant's endpoint must not become a way into the deployment's own network. What counts is the
address that is connected to, never the name that led there.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
"""IPv4 addresses as a translating router writes them. Source: RFC 6052 §2.1."""
_COMPATIBLE = ipaddress.IPv6Network("::/96")
"""IPv4 addresses in a form that is no longer given out. Source: RFC 4291 §2.5.5.1."""


def literal_of(host: str) -> str:
    """Return the address that a host is written as, without brackets; empty: it is a name."""
    bare = host.removeprefix("[").removesuffix("]")
    return bare if _parsed(bare) is not None else ""


def is_allowed(address: str, networks: Sequence[Network] = ()) -> bool:
    """Return whether an address is public, or in one of the permitted ``networks``."""
    found = _parsed(address)
    return found is not None and all(_is_fine(each, networks) for each in _meanings(found))


def _parsed(address: str) -> _Address | None:
    try:
        return ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None


def _meanings(address: _Address) -> Iterator[_Address]:
    """Return the address that is reached, behind whatever form it was written in."""
    if isinstance(address, ipaddress.IPv4Address):
        yield address
        return
    low = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    elif address in _TRANSLATED or (address in _COMPATIBLE and int(address) > 1):
        yield low
    else:
        yield address
        if address.sixtofour is not None:
            yield address.sixtofour
        if address.teredo is not None:
            yield from address.teredo


def _is_fine(address: _Address, networks: Sequence[Network]) -> bool:
    if any(address.version == each.version and address in each for each in networks):
        return True
    return address.is_global and not address.is_multicast
