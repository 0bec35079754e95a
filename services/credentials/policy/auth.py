"""How a credential authenticates."""

from __future__ import annotations

from services.credentials.model import AuthScheme
from services.domain.vocab import CredentialKind, WireFamily

_BY_KIND = {
    CredentialKind.CLAUDE_OAUTH: AuthScheme.CLAUDE_OAUTH,
    CredentialKind.CODEX_OAUTH: AuthScheme.CODEX_OAUTH,
    CredentialKind.GEMINI_OAUTH: AuthScheme.GEMINI_OAUTH,
    CredentialKind.NONE: AuthScheme.NONE,
}
_BY_FAMILY = {
    WireFamily.ANTHROPIC: AuthScheme.X_API_KEY,
    WireFamily.GEMINI: AuthScheme.X_GOOG_API_KEY,
}


def scheme_of(kind: CredentialKind, family: WireFamily | None) -> AuthScheme:
    """Return the form on the wire: a plan's own, else the one of the provider's dialect."""
    by_kind = _BY_KIND.get(kind)
    if by_kind is not None:
        return by_kind
    return AuthScheme.BEARER if family is None else _BY_FAMILY.get(family, AuthScheme.BEARER)
