"""What dispatch needs from outside: providers, and the credentials service."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from services.dispatch.model.access import Access, Report, SecretQuery
    from services.dispatch.model.plan import HeaderPairs
    from services.domain.vocab import WireFamily


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One configured provider."""

    name: str
    family: WireFamily
    base_url: str
    is_vendor: bool
    """Whether it is the family's own vendor."""
    header_timeout_s: float
    is_dual: bool = False
    """Whether it is asked on Responses or on Chat, as each turn wants."""
    is_original: bool = True
    """Whether it is at its vendor's own address."""
    codex_base_url: str = ""
    """Where Codex plans are served; empty: at ``base_url``."""


@dataclass(frozen=True, slots=True)
class UpstreamRequest:
    """One HTTP request to a provider; an empty ``body`` makes it a GET."""

    provider: str
    url: str
    headers: HeaderPairs = field(repr=False)
    body: bytes = field(default=b"", repr=False)
    header_timeout_s: float = 30.0
    proxy_url: str = field(default="", repr=False)
    """Proxy to go through; empty: none."""
    is_address_checked: bool = False
    """Whether the address is a tenant's: only public ones, or those permitted, are connected to."""


class UpstreamAnswer(Protocol):
    """An answer whose headers came."""

    @property
    def http_status(self) -> int:
        """Return the status."""
        ...

    @property
    def headers(self) -> HeaderPairs:
        """Return all headers, names in lower case."""
        ...

    @property
    def is_all_here(self) -> bool:
        """Return whether the whole body came: to read it is to wait for nothing."""
        ...

    async def read(self) -> bytes | None:
        """Return the next bytes as the socket gives them, decoded from any content encoding.

        None at the body's end.

        Raises:
            AttemptFault: the body broke off, as STREAM_INCOMPLETE, or is unreadable, as
                BAD_RESPONSE.
        """
        ...

    async def aclose(self) -> None:
        """Give the connection back when the body was read to its end, else close the socket."""
        ...


class Upstream(Protocol):
    """Sends requests to providers."""

    async def open(self, request: UpstreamRequest) -> UpstreamAnswer:
        """Return the answer as soon as its headers are there.

        Raises:
            AttemptFault: TRANSPORT or HEADER_TIMEOUT.
        """
        ...


@dataclass(frozen=True, slots=True)
class Memo:
    """A feature that was given up at a place: an endpoint, or a model there."""

    place: str
    """A digest."""
    feature: str
    left_s: float
    """How long it holds from now on."""


class SharedMemos(Protocol):
    """Tells other replicas what was learned; all of it may be lost."""

    def learned(self, memo: Memo) -> None:
        """Tell the others; never waits."""
        ...


class Credentials(Protocol):
    """Gives key material and hears what came of its use."""

    async def acquire(self, query: SecretQuery) -> Access:
        """Return what lets an attempt authenticate.

        Raises:
            CredentialDenied: none can be had, or the service does not answer and none is held.
        """
        ...

    def report(self, report: Report) -> None:
        """Queue a report; never waits."""
        ...
