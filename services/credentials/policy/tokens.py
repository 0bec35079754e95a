"""Ids of grants that every replica of a deployment can tell from made-up ones."""

from __future__ import annotations

import base64
import binascii
import struct
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from services.credentials.model import BindingRef, Bucket, Grant
    from services.credentials.policy.hashing import Hasher

NONCE_BYTES = 9
_EXPIRY = struct.Struct(">I")
_TAG_DIGITS = 40

Scope: TypeAlias = tuple[str, ...]
"""What a grant is for."""


def scope_of(
    action_id: str,
    installation_id: str,
    credential_id: str,
    presented_hash: str,
    binding: BindingRef,
    bucket: Bucket,
) -> Scope:
    """Return what a grant is for, as its id authenticates it."""
    return (
        action_id,
        installation_id,
        credential_id,
        presented_hash,
        binding.model_id,
        binding.provider,
        binding.upstream_id,
        bucket.name,
    )


def grant_id(hasher: Hasher, scope: Scope, nonce: bytes, redeem_until_unix_s: float) -> str:
    """Return the id of a grant: a nonce and an end, authenticated together with what it grants."""
    head = nonce + _EXPIRY.pack(int(redeem_until_unix_s))
    tag = bytes.fromhex(hasher.grant(*scope, head.hex())[:_TAG_DIGITS])
    return base64.urlsafe_b64encode(head + tag).decode().rstrip("=")


def is_genuine(hasher: Hasher, grant: Grant, now_unix_s: float) -> bool:
    """Return whether some replica gave this grant, and it may still be redeemed."""
    try:
        text = grant.id + "=" * (-len(grant.id) % 4)
        raw = base64.b64decode(text, altchars=b"-_", validate=True)
        (until,) = _EXPIRY.unpack_from(raw, NONCE_BYTES)
    except (binascii.Error, ValueError, struct.error):
        return False
    scope = scope_of(
        grant.action_id,
        grant.installation_id,
        grant.credential_id,
        grant.presented_hash,
        grant.binding,
        grant.bucket,
    )
    expected = grant_id(hasher, scope, raw[:NONCE_BYTES], until)
    return hasher.is_same(expected, grant.id) and now_unix_s < until
