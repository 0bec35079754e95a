"""Key material of one credential; nothing that prints a value shows any of it."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.credentials.model.credential import CredentialSpec


@dataclass(frozen=True, slots=True, repr=False)
class Secrets:
    """Secrets of one credential; empty texts are not set."""

    value: str = ""
    """The key, or the access token of an OAuth kind."""
    refresh_token: str = ""
    id_token: str = ""
    account_id: str = ""
    project_id: str = ""
    proxy_url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    """Further headers: lower-case name and value."""
    expire_unix_s: float | None = field(default=None)
    """When the access token expires; None: it does not, or that is not known."""
    issue_unix_s: float | None = field(default=None)
    """When the access token was had by a refresh; None: a person gave it."""

    def __repr__(self) -> str:
        return "Secrets([masked])"

    @property
    def suffix(self) -> str:
        """The last 4 characters of a value that is longer than 16, else empty."""
        return self.value[-4:] if len(self.value) > 16 else ""


class AuthScheme(enum.StrEnum):
    """Names how key material goes on the wire."""

    X_API_KEY = "x_api_key"
    BEARER = "bearer"
    X_GOOG_API_KEY = "x_goog_api_key"
    CLAUDE_OAUTH = "claude_oauth"
    CODEX_OAUTH = "codex_oauth"
    GEMINI_OAUTH = "gemini_oauth"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Material:
    """What dispatch needs to authenticate one request, and until when it may hold it."""

    scheme: AuthScheme
    secrets: Secrets
    spec: CredentialSpec
    cache_until_unix_s: float | None = None
    """None: for this attempt only."""
    is_tenant_given: bool = False
    """Whether a tenant, not the configuration, says where the credential is used."""
