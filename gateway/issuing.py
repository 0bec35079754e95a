"""Answers that a provider keeps: who issued them, so that a client can go on from one by its id.

Kept with the client's session where it names one; else each answer has a row of its own, found by
its id, since a request that goes on from an answer repeats nothing of its conversation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.session_key import derive_answer_key
from gateway.sessions.answers import issuer_of, keep_answer
from gateway.sessions.model import Address, Issued
from services.domain.vocab import WireFamily
from services.domain.wire.openai_responses.kept import is_stored, previous_answer
from services.domain.wire.reading import mapping, peek, text

if TYPE_CHECKING:
    from gateway.model import Action, Grant, Head
    from gateway.sessions.memory import Sessions
    from services.runtime.clock import Clock

ANSWERS_ROLE = "answers"


class Issuers:
    """Holds no state of any action."""

    def __init__(self, sessions: Sessions, clock: Clock) -> None:
        self._sessions = sessions
        self._clock = clock

    async def issuer(self, action: Action) -> Issued | None:
        """Return who issued the answer that an action goes on from; None: none, or not known."""
        answer_id = previous_answer(action.request)
        if not answer_id:
            return None
        recall = await self._sessions.recall(_address(action, answer_id))
        return issuer_of(recall.session, answer_id)

    def issuance(self, action: Action, grant: Grant | None) -> Issuance | None:
        """Return what takes note of the action's answer; None: no provider is asked to keep it."""
        if not is_stored(action.request):
            return None
        return Issuance(self._sessions, self._clock, action, grant)


class Issuance:
    """Takes note of one answer; belongs to one action."""

    def __init__(
        self, sessions: Sessions, clock: Clock, action: Action, grant: Grant | None
    ) -> None:
        self._sessions = sessions
        self._clock = clock
        self._action = action
        self._grant = grant
        self._is_noted = False

    def issued(self, head: Head, answer_id: str) -> None:
        """Remember who gave an answer; what is told twice, or was translated, counts for nothing.

        The credential is known as long as dispatch did not change it on its way.
        """
        if self._is_noted or not answer_id or head.wire_family is not WireFamily.OPENAI_RESPONSES:
            return
        self._is_noted = True
        grant, now_unix_s = self._grant, self._clock.now_unix_s()
        is_granted = grant is not None and grant.fingerprint == head.fingerprint
        issued = Issued(
            answer_id=answer_id,
            model_id=head.binding.model_id,
            provider=head.binding.provider,
            credential_id=grant.credential_id if grant is not None and is_granted else "",
        )
        self._sessions.change(
            _address(self._action, answer_id),
            lambda session: keep_answer(session, issued, now_unix_s),
        )


def answer_id_of(body: bytes) -> str:
    """Return the id of a whole answer of the client's own dialect; empty: it has none."""
    return text(mapping(peek(body)).get("id"))


def _address(action: Action, answer_id: str) -> Address:
    caller = action.caller
    if caller.session_key:
        return Address(caller.conversation_key, ANSWERS_ROLE, caller.installation_id)
    key = derive_answer_key(caller.key_id, answer_id)
    return Address(key, ANSWERS_ROLE, caller.installation_id)
