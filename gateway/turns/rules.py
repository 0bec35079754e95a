"""What each kind of action may do with a session. Pure, one row per kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.domain.vocab import TurnType

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class TurnRule:
    """How one kind of action is treated."""

    is_scored: bool
    reads_pin: bool
    """Whether an automatic pin may serve it; a forced one always may."""
    writes_pin: bool
    is_compacted: bool
    """Whether its history may be shortened before it is routed."""
    has_marker: bool
    """Whether the routing marker, where it is on, precedes its answer."""


_BACKGROUND = TurnRule(
    is_scored=False, reads_pin=False, writes_pin=False, is_compacted=False, has_marker=False
)
_ASIDE = TurnRule(
    is_scored=True, reads_pin=False, writes_pin=False, is_compacted=False, has_marker=False
)
_CONVERSATION = TurnRule(
    is_scored=True, reads_pin=True, writes_pin=True, is_compacted=True, has_marker=True
)

TURN_RULES: Mapping[TurnType, TurnRule] = {
    TurnType.PROBE: _BACKGROUND,
    TurnType.TITLE_GEN: _BACKGROUND,
    TurnType.COMPACTION: _BACKGROUND,
    TurnType.RECAP: _ASIDE,
    TurnType.CLASSIFIER: _ASIDE,
    TurnType.SUB_AGENT_DISPATCH: _CONVERSATION,
    TurnType.TOOL_RESULT: _CONVERSATION,
    TurnType.MAIN_LOOP: _CONVERSATION,
}
"""A probe or title precedes the first real action by milliseconds: a pin of theirs would leak."""
