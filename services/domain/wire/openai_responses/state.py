"""Opaque reasoning state: this family's own, and foreign state that a client keeps for us.

``encrypted_content`` is the one place where a client of this dialect keeps opaque state between
turns. State of another family travels there sealed, so that it is told apart when it comes back and
is never shown to a vendor that did not issue it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.model import ProviderState, Thinking
from services.domain.wire.reading import mapping, rows, text
from services.domain.wire.state.sealing import Sealed, is_sealed, seal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PART_GAP = "\n\n"
"""What stands between the parts of one summary when they are told as one text."""


def is_foreign(encrypted_content: str) -> bool:
    """Return whether the text is state of another family that we gave to the client."""
    return is_sealed(encrypted_content)


def encrypted_of(states: Sequence[ProviderState]) -> str | None:
    """Return ``encrypted_content`` for a client; None without state."""
    for state in states:
        is_own = state.family is WireFamily.OPENAI_RESPONSES
        return state.payload if is_own else seal(Sealed(state))
    return None


def state_of(encrypted_content: str, item_id: str) -> ProviderState | None:
    """Return the state of a reasoning item, sealed where it came so; None when there is none."""
    if not encrypted_content:
        return None
    return ProviderState(
        WireFamily.OPENAI_RESPONSES, "encrypted", encrypted_content, item_id=item_id
    )


def thinking_of(item: Mapping[str, object], raw: bytes = b"") -> Thinking:
    """Return a reasoning item as a block: its summary, else its open text, and its state."""
    words = _joined(item.get("summary")) or _joined(item.get("content"))
    state = state_of(text(item.get("encrypted_content")), text(item.get("id")))
    return Thinking(words, () if state is None else (state,), raw)


def _joined(parts: object) -> str:
    words = (text(mapping(part).get("text")) for part in rows(parts))
    return PART_GAP.join(line for line in words if line)
