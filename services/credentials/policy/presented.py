"""What a credential that a caller presented is, by its shape."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from services.domain.vocab import CredentialKind, WireFamily

if TYPE_CHECKING:
    from services.credentials.model import Presented

MAX_SECRET_BYTES = 16 * 1024

_VENDOR_OF_SURFACE = {
    WireFamily.ANTHROPIC: "anthropic",
    WireFamily.OPENAI_CHAT: "openai",
    WireFamily.OPENAI_RESPONSES: "openai",
    WireFamily.GEMINI: "google",
}
_SHAPES: tuple[tuple[str, str, CredentialKind], ...] = (
    ("sk-ant-oat", "anthropic", CredentialKind.CLAUDE_OAUTH),
    ("sk-ant-api", "anthropic", CredentialKind.API_KEY),
    ("AIza", "google", CredentialKind.API_KEY),
    ("ya29.", "google", CredentialKind.GEMINI_OAUTH),
)
_FOREIGN = ("rk_", "sk-ant-", "sk-or-", "xai-", "fw_", "tgp_", "gsk_")
"""Starts of tokens that no rule above takes and that are nobody's on any surface: our own routing
keys first."""
_OPENAI_SHAPES = ("sk-", "sess-")
_JWT = re.compile(r"^eyJ[\w-]+\.[\w-]+\.[\w-]*$")
_PRINTABLE = re.compile(r"^[\x21-\x7e]+$")


def recognise(presented: Presented) -> tuple[str, CredentialKind] | None:
    """Return provider and kind of a presented credential; None: it is ignored.

    The shape decides. A token shaped for another provider than that of the surface is ignored, as
    is a routing key, so that neither ever reaches an upstream.
    """
    token = presented.secret
    if not token or len(token) > MAX_SECRET_BYTES or not _PRINTABLE.match(token):
        return None
    vendor = _VENDOR_OF_SURFACE[presented.surface]
    found = _by_shape(token, vendor, has_account=bool(presented.account_id))
    return found if found is not None and found[0] == vendor else None


def _by_shape(token: str, vendor: str, *, has_account: bool) -> tuple[str, CredentialKind] | None:
    for start, provider, kind in _SHAPES:
        if token.startswith(start):
            return provider, kind
    if token.startswith(_FOREIGN):
        return None
    if _JWT.match(token):
        return ("openai", CredentialKind.CODEX_OAUTH) if has_account else None
    if vendor == "openai" or token.startswith(_OPENAI_SHAPES):
        return "openai", CredentialKind.API_KEY
    return None
