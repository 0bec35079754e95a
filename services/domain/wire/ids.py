"""Ids of tool calls: made ones, and those that a dialect finds too long."""

from __future__ import annotations

import hashlib

from services.domain.wire.state.sealing import has_state

_MAX_ID_LENGTH = 64


def short_id(call_id: str) -> str:
    """Return ``call_id``, or a digest of the same length limit when it is too long.

    One that carries state keeps it: the body is on its way to another part of the product, since no
    vendor is sent such an id.
    """
    if len(call_id) <= _MAX_ID_LENGTH or has_state(call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()
    return f"call_{digest[:40]}"


def made_call_id(response_id: str, ordinal: int) -> str:
    """Return the id of a call whose upstream gave none: the same for the same answer."""
    digest = hashlib.sha256(f"{response_id}:{ordinal}".encode("utf-8", "replace")).hexdigest()
    return f"call_{digest[:24]}"
