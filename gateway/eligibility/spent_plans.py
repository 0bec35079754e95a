"""Plans that callers bring and that were seen to have nothing left. Pure.

Such a token is not sent while another key may pay: it would only fail once more. Where there is no
other it is sent all the same, and the plan's own answer says more than that nobody can serve.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gateway.model import EligibilityAnswer, PresentedIdentity, ProviderState
    from gateway.sessions.model import Issued

_PAYING_KINDS = frozenset({CredentialKind.API_KEY, CredentialKind.GATEWAY})


def has_paying_key(states: Iterable[ProviderState], provider: str) -> bool:
    """Return whether a key that is not the caller's own may pay at a provider."""
    return any(
        state.provider == provider
        and not _PAYING_KINDS.isdisjoint(state.kinds)
        and any(owner != "caller" for owner in state.owners)
        for state in states
    )


def without_spent_plans(known: EligibilityAnswer, issuer: Issued | None) -> EligibilityAnswer:
    """Return what is known of a caller, less the plans that are not to be asked now.

    ``issuer`` of the answer that the action goes on from: where that may be the caller's account,
    nobody else has the conversation.
    """
    snapshot = known.snapshot
    if snapshot is None or not any(one.is_exhausted for one in known.identities):
        return known

    def is_spent(one: PresentedIdentity) -> bool:
        holds_talk = issuer is not None and issuer.provider == one.provider
        is_needed = holds_talk and issuer is not None and not issuer.credential_id
        has_other = has_paying_key(snapshot.providers, one.provider)
        return one.is_exhausted and has_other and not is_needed

    return replace(
        known,
        presented=tuple(pair for pair in known.presented if not is_spent(pair[1])),
        suppressed_plans=tuple(sorted({one.kind for one in known.identities if is_spent(one)})),
    )
