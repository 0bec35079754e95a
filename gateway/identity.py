"""Who asks, read from headers and query: router key and brought credentials. Pure.

Nothing here is trusted: only the router key decides what a caller may do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gateway.model import Presented
from services.domain.vocab import WireFamily

if TYPE_CHECKING:
    from collections.abc import Mapping


ROUTER_KEY_HEADER = "x-router-key"
FORCE_MODEL_HEADER = "x-router-force-model"
EFFORT_HEADER = "x-router-effort"
MAX_CREDENTIAL_BYTES = 16 * 1024

RELAYED_HEADERS = ("anthropic-version", "anthropic-beta", "user-agent")
"""Client headers that providers may see. Never credentials, cookies or forwarding headers."""

_CREDENTIAL_HEADERS = ("authorization", "x-api-key", "x-goog-api-key")
_ROUTER_SHAPE = re.compile(r"^r[ka]_[A-Za-z0-9]")
_MAX_RELAYED_CHARS = 4096


def legible(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Return headers whose bytes that are no UTF-8 are U+FFFD, by name in small letters.

    What is taken from them goes into messages and rows, which hold nothing else.
    """
    if all(map(str.isascii, headers.values())):
        return headers
    found: dict[str, str] = {}
    for name, value in headers.items():
        found.setdefault(
            name.lower(), value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        )
    return found


def router_key_of(headers: Mapping[str, str], query_key: str) -> str:
    """Return the router key of a request; empty: there is none."""
    dedicated = headers.get(ROUTER_KEY_HEADER, "").strip()
    if dedicated:
        return dedicated
    tokens = (_token(headers, name) for name in _CREDENTIAL_HEADERS)
    return next(filter(None, tokens), query_key.strip())


def bearer_token(value: str) -> str:
    """Return the token of an ``Authorization`` header; empty: it is of another scheme."""
    scheme, _, token = value.strip().partition(" ")
    return token.strip() if scheme.casefold() == "bearer" else ""


def presented_of(headers: Mapping[str, str], surface: WireFamily) -> tuple[Presented, ...]:
    """Return the credentials brought for upstream, only beside a dedicated router-key header.

    A header that gave the router key is never relayed; a token shaped like one of ours never
    counts as a brought credential.
    """
    if not headers.get(ROUTER_KEY_HEADER, "").strip():
        return ()
    account = headers.get("chatgpt-account-id", "").strip()
    found: list[Presented] = []
    for name in _CREDENTIAL_HEADERS:
        token = _token(headers, name)
        is_usable = token and not _ROUTER_SHAPE.match(token)
        if is_usable and len(token.encode()) <= MAX_CREDENTIAL_BYTES:
            found.append(Presented(token, surface, account if name == "authorization" else ""))
    return tuple(found)


def _token(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name, "")
    return bearer_token(value) if name == "authorization" else value.strip()


def relayed_headers(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the client headers that may go on to a provider."""
    pairs = ((name, headers.get(name, "").strip()) for name in RELAYED_HEADERS)
    return tuple((name, value) for name, value in pairs if 0 < len(value) <= _MAX_RELAYED_CHARS)


def wants_long_context(headers: Mapping[str, str], model: str) -> bool:
    """Return whether the client asks for the long window, by beta header or by model tag."""
    return "context-1m" in headers.get("anthropic-beta", "") or model.rstrip().endswith("[1m]")
