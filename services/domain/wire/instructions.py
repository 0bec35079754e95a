"""Instructions among the turns of a conversation, found by their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from services.domain.wire.model import SystemBlock


def by_turns_before(blocks: Iterable[SystemBlock]) -> Mapping[int, Sequence[SystemBlock]]:
    """Return the blocks by the number of turns before them, each list in order."""
    found: dict[int, list[SystemBlock]] = {}
    for block in blocks:
        found.setdefault(block.after_turn, []).append(block)
    return found


def by_message(blocks: Iterable[SystemBlock]) -> Iterable[Sequence[SystemBlock]]:
    """Return the blocks of each message of the client's list, in order."""
    found: dict[int, list[SystemBlock]] = {}
    for block in blocks:
        found.setdefault(block.origin_index, []).append(block)
    return found.values()
