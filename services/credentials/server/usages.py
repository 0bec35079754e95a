"""What was last observed of accounts' quota windows, in the memory of one replica."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.policy.plans import coarse
from services.credentials.server.bounded import Bounded

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.credentials.model import Usage

MAX_ACCOUNTS = 16_384


class Usages:
    """Remembers the newest usage of each account; ``on_change`` is called when it tells anew."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._known: Bounded[str, Usage] = Bounded(MAX_ACCOUNTS)

    def of(self, credential_id: str) -> Usage:
        """Return what was last observed; empty: nothing."""
        return self._known.get(credential_id) or ()

    def note(self, credential_id: str, usage: Usage) -> None:
        """Note what a response said."""
        if not usage:
            return
        before = self.of(credential_id)
        self._known.put(credential_id, usage)
        if coarse(before) != coarse(usage):
            self._on_change()
