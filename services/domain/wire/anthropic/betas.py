"""Names of beta features that a Messages target is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.catalog import ModelFacts
from services.domain.wire.scanner import scan

if TYPE_CHECKING:
    from collections.abc import Iterable

LONG_CONTEXT = "context-1m-2025-08-07"
CONTEXT_MANAGEMENT = "context-management-2025-06-27"

_OF_ADAPTIVE = ("interleaved-thinking", "adaptive-thinking")


def betas_for(
    told: Iterable[str], facts: ModelFacts, body: bytes, *, is_long_context_needed: bool = False
) -> tuple[str, ...]:
    """Return the betas to ask for, each once: what the client told, less what is not for the model.

    Of a model whose facts are not stated nothing is left out.
    """
    kept = [name for name in told if name and _is_for(name, facts)]
    is_long_told = any(name.startswith("context-1m") for name in kept)
    if is_long_context_needed and facts.extended_context and not is_long_told:
        kept.append(LONG_CONTEXT)
    if _has_context_management(body) and not any(n.startswith("context-management") for n in kept):
        kept.append(CONTEXT_MANAGEMENT)
    return tuple(dict.fromkeys(kept))


def _is_for(name: str, facts: ModelFacts) -> bool:
    if name.startswith("context-1m"):
        return facts.extended_context is not False
    if facts == ModelFacts() or "thinking" not in name:
        return True
    if any(word in name for word in _OF_ADAPTIVE):
        return facts.adaptive_thinking
    return facts.reasoning != "none"


def _has_context_management(body: bytes) -> bool:
    if b'"context_management"' not in body:
        return False
    member = scan(body, {}).member("context_management")
    return member is not None and member.value is not None
