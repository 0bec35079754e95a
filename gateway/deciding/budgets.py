"""What is known of a client's own compaction: at which size it will shorten its history. Pure.

Only versions that were looked at count, and only at their defaults: thresholds that a person set
cannot be seen from here, and the window of whoever serves says nothing of them. Every request is
judged by itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.eligibility.windows import LONG_CONTEXT_TOKENS, window_of
from gateway.model.compaction import NO_BUDGET, BudgetEvidence, ClientBudget
from gateway.turns.marks import CLAUDE_CODE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.model import Action
    from services.domain.catalog import Catalog, Model

LONG_TAG = "[1m]"
LONG_BETA = "context-1m-2025-08-07"


@dataclass(frozen=True, slots=True)
class Verified:
    """Versions of a program whose compaction was looked at; sizes in tokens."""

    first: tuple[int, ...]
    last: tuple[int, ...]
    window_tokens: int
    output_tokens: int
    """What it keeps free for the answer."""
    buffer_tokens: int
    """What it keeps free besides."""

    def threshold(self, window_tokens: int) -> int:
        """Return the size at which it compacts."""
        return window_tokens - self.output_tokens - self.buffer_tokens


_VERIFIED: Mapping[str, tuple[re.Pattern[str], tuple[Verified, ...]]] = {
    CLAUDE_CODE: (
        re.compile(r"claude-cli/(\d+)\.(\d+)\.(\d+)(?![\w.+-])"),
        (Verified((2, 1, 257), (2, 1, 257), 200_000, 20_000, 13_000),),
    ),
}
"""How each program names its version, and the versions that are known."""


def client_budget(action: Action, catalog: Catalog) -> ClientBudget:
    """Return what is known of the budget of an action's client."""
    headers = dict(action.caller.relayed_headers)
    known = _verified(action.caller.client_app, headers.get("user-agent", ""))
    model = _vendors_model(catalog, action.request.model)
    if known is None or model is None:
        return NO_BUDGET
    is_able = any(
        window_of(row, model.facts, is_long_asked=True) >= LONG_CONTEXT_TOKENS
        for row in model.bindings
    )
    is_tagged = action.request.model.rstrip().endswith(LONG_TAG)
    betas = {beta.strip() for beta in headers.get("anthropic-beta", "").split(",")}
    if is_able and LONG_BETA in betas and not is_tagged:
        return ClientBudget(BudgetEvidence.AMBIGUOUS_LONG_CONTEXT)
    window = LONG_CONTEXT_TOKENS if is_tagged and is_able else known.window_tokens
    return ClientBudget(BudgetEvidence.HARNESS_DEFAULT, known.threshold(window), may_defer=True)


def _verified(program: str, agent: str) -> Verified | None:
    named = _VERIFIED.get(program)
    found = named[0].match(agent) if named is not None else None
    if named is None or found is None:
        return None
    version = tuple(int(part) for part in found.groups())
    return next((each for each in named[1] if each.first <= version <= each.last), None)


def _vendors_model(catalog: Catalog, name: str) -> Model | None:
    """Return the vendor's model that a client means, its provider's name before it or not."""
    model = catalog.resolve(name) or catalog.resolve(name.rpartition("/")[2])
    is_vendors = model is not None and model.id.startswith("claude-")
    return model if is_vendors else None
