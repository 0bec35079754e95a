"""What lets an attempt authenticate, and what is told about it afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.dispatch.model.enums import AuthScheme, EndKind
from services.domain.copying import replace

if TYPE_CHECKING:
    from services.dispatch.model.enums import CredentialBucket, SecretPurpose
    from services.dispatch.model.plan import ActionRef, BindingRef, Eligibility, HeaderPairs
    from services.domain.vocab import CredentialKind, CredentialOwner, FailureClass


@dataclass(frozen=True, slots=True)
class Attribution:
    """Says, without naming it, which credential served."""

    fingerprint: str
    kind: CredentialKind
    owner: CredentialOwner
    bucket: CredentialBucket
    is_subscription_served: bool = False


@dataclass(frozen=True, slots=True)
class Grant:
    """The use of one credential; never holds key material."""

    grant_id: str
    binding: BindingRef
    attribution: Attribution
    credential_id: str = ""
    credential_version: int = 0
    secret_cache_key: str = ""
    """Empty: the secret may not be held."""
    presented_hash: str = ""


@dataclass(frozen=True, slots=True)
class Presented:
    """A credential that the caller brought; lives for the action only."""

    secret: str = field(repr=False)
    presented_hash: str
    kind: CredentialKind
    provider: str
    account_id: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Auth:
    """How to authenticate to an upstream."""

    scheme: AuthScheme
    secret: str = field(default="", repr=False)
    account_id: str = field(default="", repr=False)
    header_name: str = ""
    headers: HeaderPairs = field(default=(), repr=False)


NO_AUTH = Auth(AuthScheme.NONE)
"""For providers that ask for no key."""


@dataclass(frozen=True, slots=True)
class Access:
    """A grant with its key material; an empty ``base_url`` is the provider's."""

    grant: Grant
    auth: Auth
    base_url: str = ""
    proxy_url: str = field(default="", repr=False)
    """Proxy that the credential asks for; empty: none."""
    is_tenant_given: bool = False
    """Whether a tenant says where to send: the addresses are checked before they are used."""


@dataclass(frozen=True, slots=True)
class SecretQuery:
    """Which secret is wanted: that of ``grant``, else the best for ``binding``."""

    action: ActionRef
    binding: BindingRef
    purpose: SecretPurpose
    idempotency_key: str
    eligibility: Eligibility | None = None
    grant: Grant | None = None
    tried: tuple[str, ...] = ()
    required_credential_id: str = field(default="", repr=False)
    """The only credential that will do; empty: any."""
    timeout_s: float = 5.0
    rejected_version: int = 0
    """Version of the grant's secret that the upstream just refused; 0: none."""

    def anew(self) -> SecretQuery:
        """Return the question without the grant, which turned out to be of no use."""
        return replace(self, grant=None)


class CredentialDenied(Exception):  # noqa: N818 - a verdict of a peer, not a defect
    """No secret can be had. ``is_all_tried``: only because every candidate was tried before."""

    def __init__(
        self,
        failure_class: FailureClass,
        message: str,
        *,
        retry_after_s: float | None = None,
        is_all_tried: bool = False,
    ) -> None:
        super().__init__(message)
        self.failure_class = failure_class
        self.retry_after_s = retry_after_s
        self.is_all_tried = is_all_tried


@dataclass(frozen=True, slots=True)
class HeadersSeen:
    """Response headers came; ``headers`` are those about quota and time."""

    http_status: int
    headers: HeaderPairs
    receive_unix_s: float


@dataclass(frozen=True, slots=True)
class StillAlive:
    """The attempt runs on."""

    last_byte_unix_s: float


@dataclass(frozen=True, slots=True)
class Ended:
    """The attempt is over."""

    kind: EndKind
    end_unix_s: float
    http_status: int | None = None
    error_body: bytes = field(default=b"", repr=False)
    is_model_not_found: bool = False
    is_challenge_page: bool = False
    headers: HeaderPairs = ()
    """Headers about quota and time that were not reported before."""


@dataclass(frozen=True, slots=True)
class Report:
    """One event of one attempt; (grant, attempt, sequence) is its identity."""

    grant: Grant
    action_id: str
    attempt_number: int
    sequence_number: int
    send_unix_s: float | None
    event: HeadersSeen | StillAlive | Ended

    @property
    def is_droppable(self) -> bool:
        """Whether it may be lost under pressure: signs of life, and headers of a success."""
        match self.event:
            case StillAlive():
                return True
            case HeadersSeen(http_status=status):
                return 200 <= status < 300
            case _:
                return False

    @property
    def attempt(self) -> tuple[str, str, int]:
        """Which attempt it is about."""
        return self.action_id, self.grant.grant_id, self.attempt_number

    def with_headers_of(self, earlier: Report) -> Report | None:
        """Return one report in the place of two of an attempt; None: each says its own."""
        seen, ended = earlier.event, self.event
        if not isinstance(seen, HeadersSeen) or not isinstance(ended, Ended):
            return None
        if ended.kind is not EndKind.SUCCEEDED or ended.http_status != seen.http_status:
            return None
        return replace(self, event=replace(ended, headers=seen.headers))
