"""What handover needs from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from services.handover.model import Call, Told


class Models(Protocol):
    """Asks models."""

    async def ask(self, call: Call) -> Told:
        """Return what came of one question, within its time limit.

        Never raises but on cancellation; then, and when it is late, the upstream request is
        aborted. Every attempt that was begun is told, with an estimate where dispatch is silent.
        """
        ...
