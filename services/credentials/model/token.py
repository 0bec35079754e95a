"""What passes between the service and a token endpoint; nothing that prints a value shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.credentials.model.record import Sealed


@dataclass(frozen=True, slots=True)
class TokenClient:
    """The program that an account was logged in with, as its token endpoint knows it."""

    client_id: str
    client_secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """One question for new tokens."""

    url: str
    fields: Mapping[str, str] = field(repr=False)
    is_form: bool = False
    """Whether the fields go as a form; else as JSON."""
    proxy_url: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class TokenReply:
    """What a token endpoint said."""

    http_status: int | None
    """None: there was no answer, or not in time."""
    body: bytes = field(default=b"", repr=False)
    is_lost: bool = False
    """Whether the question may have come there, and its answer did not come back."""
    retry_after: str = ""
    """When it wants to be asked again, in its words; empty: it does not say."""


@dataclass(frozen=True, slots=True)
class Minted:
    """New tokens of an account."""

    value: str = field(repr=False)
    refresh_token: str = field(default="", repr=False)
    """Empty: the old one stays."""
    id_token: str = field(default="", repr=False)
    expire_unix_s: float | None = None


@dataclass(frozen=True, slots=True)
class NotMinted:
    """Why there are no new tokens."""

    code: str
    """A word of ours, for logs and metrics."""
    is_final: bool
    """Whether only a person can help, by logging in."""
    is_doubtful: bool = False
    """Whether the vendor may have spent the refresh token all the same."""
    wait_s: float = 0.0
    """How long the vendor wants to be left alone at least."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to refresh one credential, alone in the whole cluster."""

    credential_id: str = field(repr=False)
    fence: int
    """Rises with every lease of that credential."""
    is_orphaned: bool = False
    """Whether the one before it was never given back: whoever had it may come back yet."""
    is_doubtful: bool = False
    """Whether an earlier question may have been answered without anybody hearing of it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A new pair of tokens that the store may not have yet."""

    credential_id: str = field(repr=False)
    version: int
    """Version of the secret that it replaces."""
    sealed: Sealed
    deployment: str = ""
    """Name of the deployment that kept it: several may share a disk. Empty: it did not say."""
