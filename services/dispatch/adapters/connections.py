"""Connections to providers: how many are kept, how they are kept alive, where they may lead."""

from __future__ import annotations

import socket
import ssl
from typing import TYPE_CHECKING

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from services.dispatch.model.outcome import AttemptFault, Fault
from services.dispatch.policy.destinations import is_allowed, literal_of
from services.domain.vocab import FailureClass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiohttp.client_proto import ResponseHandler
    from aiohttp.client_reqrep import ConnectionKey

    from services.dispatch.policy.destinations import Network

IDLE_CONNECTION_S = 90.0
MAX_IDLE_PER_HOST = 64
MAX_IDLE = 256
KEEPALIVE_S = 30
RESOLVED_S = 30

_AddrInfo = tuple[int, int, int, str, object]


class Connector(aiohttp.TCPConnector):
    """Opens as many connections as are asked for at once, and keeps few of those that are free.

    A limit on connections in use would let one stream wait for the end of another.
    """

    def __init__(self, trust: ssl.SSLContext, resolver: AbstractResolver) -> None:
        """Take the roots of trust, and what turns names into addresses."""
        super().__init__(
            limit=0,
            keepalive_timeout=IDLE_CONNECTION_S,
            ttl_dns_cache=RESOLVED_S,
            ssl=trust,
            resolver=resolver,
            socket_factory=keepalive_socket,
        )

    def _release(
        self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False
    ) -> None:
        # aiohttp bounds connections in use only; this is where one becomes free.
        is_full = len(self._conns.get(key, ())) >= MAX_IDLE_PER_HOST
        is_full = is_full or sum(map(len, self._conns.values())) >= MAX_IDLE
        is_closing = should_close or is_full or protocol.should_close
        if is_closing:
            # To close is to send first what is left, for ever where the peer reads no more.
            protocol.abort()
        super()._release(key, protocol, should_close=is_closing)


class CheckedResolver(AbstractResolver):
    """Resolves names, and refuses those that lead to a place which is not public.

    What it returns is what is connected to: the check cannot be outrun by a later answer.
    """

    def __init__(self, resolver: AbstractResolver, networks: Sequence[Network]) -> None:
        self._resolver = resolver
        self._networks = networks

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a host.

        Raises:
            AttemptFault: PROVIDER_NOT_CONFIGURED; one of them is not public.
        """
        found = await self._resolver.resolve(host, port, family)
        if not all(is_allowed(each["host"], self._networks) for each in found):
            raise forbidden()
        return found

    async def close(self) -> None:
        """Let go of the resolver."""
        await self._resolver.close()


def check_literal(host: str, networks: Sequence[Network]) -> None:
    """Refuse an address that is written out and not public; such a host is never resolved.

    Raises:
        AttemptFault: PROVIDER_NOT_CONFIGURED.
    """
    address = literal_of(host)
    if address and not is_allowed(address, networks):
        raise forbidden()


def forbidden() -> AttemptFault:
    """Return the fault of an endpoint that may not be connected to. It names no address."""
    message = (
        "the address of the credential's endpoint is not public: change its base_url, or let the"
        " operator add its network to tenant_networks of [services.dispatch]"
    )
    return AttemptFault(Fault(FailureClass.PROVIDER_NOT_CONFIGURED, message=message))


def keepalive_socket(info: _AddrInfo) -> socket.socket:
    """Return a socket that notices a peer which has gone."""
    made = socket.socket(info[0], info[1], info[2])
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_KEEPIDLE"):
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE_S)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, KEEPALIVE_S)
    return made
