"""Finds accounts that share a refresh token, of which only one may use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.model import SystemState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from services.credentials.model import Credential, Secrets


def twins(
    credentials: Iterable[Credential],
    secrets_of: Callable[[str], Secrets],
    digest: Callable[[str], str],
) -> frozenset[str]:
    """Return the ids of accounts whose refresh token another one uses, or used before.

    A token serves once: of two holders the one that was refreshed, else the older one, keeps it.
    """
    holders = [
        (credential, token)
        for credential in credentials
        if credential.system_state is not SystemState.QUARANTINED
        and (token := secrets_of(credential.id).refresh_token)
    ]
    holders.sort(key=lambda one: (one[0].create_unix_s, one[0].id))
    spent = {used: credential.id for credential, _ in holders for used in credential.spent_digests}
    first: dict[str, str] = {}
    found = set()
    for credential, token in holders:
        user = spent.get(digest(token)) if spent else None
        owner = first.setdefault(token, credential.id)
        if owner != credential.id or (user is not None and user != credential.id):
            found.add(credential.id)
    return frozenset(found)
