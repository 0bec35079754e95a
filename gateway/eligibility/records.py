"""Eligibility records of actions that ask the same: frozen once, reused while nothing changed.

A record is a pure function of its question but for the instant of freezing, and most actions of an
installation differ in nothing that it reads. Sizes of prompts count only by which windows they fit,
alone and with room for the answer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from typing import TYPE_CHECKING

from gateway.eligibility.freezing import freeze
from gateway.eligibility.windows import LONG_CONTEXT_TOKENS, room_in
from services.domain.copying import replace

if TYPE_CHECKING:
    from collections.abc import Hashable

    from gateway.eligibility.model import Policy, Question
    from gateway.model import EligibilityRecord
    from services.domain.catalog import Catalog

MOST_KEPT = 256


class Records:
    """Freezes records under one policy and one catalog."""

    def __init__(self, policy: Policy, catalog: Catalog) -> None:
        self._policy = policy
        self._catalog = catalog
        self._windows = sorted(
            {
                binding.context_window_tokens
                for model in catalog.models.values()
                for binding in model.bindings
            }
            | {LONG_CONTEXT_TOKENS}
        )
        self._kept: OrderedDict[Hashable, EligibilityRecord] = OrderedDict()

    def freeze(self, question: Question) -> EligibilityRecord:
        """Return the record of ``question``, equal to a fresh one."""
        key = self._key(question)
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return replace(kept, create_unix_s=question.now_unix_s)
        record = freeze(question, self._policy, self._catalog)
        self._kept[key] = record
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return record

    def _key(self, question: Question) -> Hashable:
        features = question.features
        tokens, wanted = features.overflow_tokens, features.max_output_tokens
        signed, fitting = features.signature_tokens, self._fitting(tokens, wanted)
        return (
            question.installation_id,
            question.snapshot.version if question.snapshot is not None else None,
            question.presented,
            question.suppressed_plans,
            question.is_credential_brought,
            question.family,
            question.forced_model,
            features.requested_model if self._policy.is_name_binding else "",
            question.is_long_context_asked,
            features.requirements,
            fitting,
            self._fitting(tokens - signed, wanted) if signed else fitting,
        )

    def _fitting(self, tokens: int, wanted_tokens: int) -> tuple[int, int]:
        """Return which windows a prompt fits into, alone and with room for its answer."""
        windows = self._windows
        return (
            bisect_left(windows, tokens),
            bisect_left(windows, tokens, key=lambda window: room_in(window, wanted_tokens)),
        )
