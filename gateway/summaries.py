"""Summaries in the place of histories: written on a switch, used again until they do not fit.

A summary is paid for once. Clients send their whole history every time, so that a kept one is put
in its place on each later action of the thread, before anything is decided. Whatever goes wrong,
the full history goes on byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gateway import metrics
from gateway.deciding.planning import binding_at
from gateway.estimates import input_tokens_of
from gateway.model.decision import CredentialScope, SummaryQuestion
from gateway.model.record import AttemptKind
from gateway.restoring import with_restored
from services.domain.wire.codecs import address_of, codec_for, read_request
from services.domain.wire.features import features_of
from services.domain.wire.model import WireError

if TYPE_CHECKING:
    from gateway.deciding.pinned import Memory
    from gateway.deciding.ports import Handover
    from gateway.ground import Ground
    from gateway.ledger.ports import Ledger
    from gateway.model import Action, Decision
    from services.domain.catalog import Catalog

_NO_ANSWER = "no_answer"


@dataclass(frozen=True, slots=True)
class Abridged:
    """An action after a summary was asked for."""

    action: Action
    stored: bytes | None = None
    """What to keep from now on; None: what is kept stays."""


class Summaries:
    """Asks handover; without one every history goes on as it is."""

    def __init__(self, handover: Handover | None, ledger: Ledger, catalog: Catalog) -> None:
        self._handover = handover
        self._ledger = ledger
        self._catalog = catalog

    async def reused(self, ground: Ground, memory: Memory, left_s: float) -> Abridged:
        """Return the action with its session's kept summary; one that does not fit is dropped."""
        action, session = ground.action, memory.session
        pin = session.pin.choice if session.pin is not None else None
        model = self._catalog.models.get(pin.model_id) if pin is not None else None
        if self._handover is None or not session.summary or pin is None or model is None:
            return Abridged(action)
        binding = binding_at(model, pin.provider)
        question = SummaryQuestion(
            binding, binding, CredentialScope.DEPLOYMENT, stored=session.summary
        )
        answer = await self._handover.summarize(action, ground.record, question, left_s)
        metrics.SUMMARIES.labels(answer.outcome if answer is not None else _NO_ANSWER).inc()
        if answer is None:
            return Abridged(action)
        changed = rewritten(action, answer.body)
        return Abridged(action, b"") if changed is None else Abridged(changed)

    async def written(self, action: Action, decision: Decision, left_s: float) -> Abridged:
        """Return the action with the summary that its decision asks for, each call accounted."""
        question = decision.summary
        if self._handover is None or question is None:
            return Abridged(action)
        writer = question.summarizers[0]
        kind = AttemptKind.TRIM_SUMMARY if question.is_of_trim else AttemptKind.SWITCH_SUMMARY
        account = self._ledger.open(action, writer, None, kind)
        try:
            answer = await self._handover.summarize(action, decision.record, question, left_s)
            if answer is not None:
                account.settle(answer.attempts)
        finally:
            account.close()
        metrics.SUMMARIES.labels(answer.outcome if answer is not None else _NO_ANSWER).inc()
        changed = rewritten(action, answer.body) if answer is not None else None
        if answer is None or changed is None:
            return Abridged(action)
        return Abridged(changed, answer.stored or None)


def rewritten(action: Action, body: bytes) -> Action | None:
    """Return the action with another body, everything that is read from it anew; None: no body."""
    if not body:
        return None
    try:
        request = read_request(codec_for(action.surface), body, address_of(action.request))
    except WireError:
        return None
    features = features_of(request, len(body))
    changed = replace(
        action,
        body=body,
        request=request,
        features=features,
        input_tokens=input_tokens_of(request, features),
        is_rewritten=True,
    )
    return with_restored(changed, action.restored)
