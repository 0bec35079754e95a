"""Transient failures, in the memory of one replica: others come first for a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.policy.evidence.classes import Transient, transient_of
from services.credentials.policy.matching import canonical_model
from services.credentials.policy.selection import NO_SETBACKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.credentials.model import Report
    from services.runtime.clock import Clock

MAX_MODELS = 4_096


class Setbacks:
    """Says, by model, which credentials failed a moment ago and until when that counts."""

    def __init__(self, length_s: float, clock: Clock) -> None:
        self._length_s = length_s
        self._clock = clock
        self._until: dict[str, dict[str, float]] = {}

    def of(self, model_id: str) -> Mapping[str, float]:
        """Return until when credentials are set back for a canonical model."""
        found = self._until.get(model_id)
        if not found:
            return NO_SETBACKS
        now_s = self._clock.monotonic_s()
        for credential_id in [one for one, until in found.items() if until <= now_s]:
            del found[credential_id]
        if not found:
            del self._until[model_id]
        return found

    def observe(self, credential_id: str, report: Report) -> None:
        """Note a failure of the provider's, or that a credential serves again."""
        said = transient_of(report) if self._length_s else Transient.NOTHING
        model_id = canonical_model(report.model_id)
        if said is Transient.FAILED:
            if model_id not in self._until and len(self._until) >= MAX_MODELS:
                self._until.clear()
            until = self._clock.monotonic_s() + self._length_s
            self._until.setdefault(model_id, {})[credential_id] = until
        elif (said is Transient.SERVED or report.is_challenge_page) and model_id in self._until:
            self._until[model_id].pop(credential_id, None)
