"""Compares this replica's clock with the store's: deadlines that replicas share need one time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.errors import RouterError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from services.credentials.ports import Store
    from services.runtime.clock import Clock

LOOK_S = 60.0
LARGEST_OFFSET_S = 30.0

_log = get_logger("credentials")


class ClockWatch:
    """Says whether the clock is right; a wrong one is told, and stops nothing."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.is_right = True

    async def run(self) -> None:
        """Look now and then until cancelled."""
        while True:
            await self.look()
            await self._clock.sleep(LOOK_S)

    async def look(self) -> None:
        """Compare once; a store that does not answer says nothing."""
        asked_s = self._clock.now_unix_s()
        try:
            theirs_s = await self._store.now_unix_s()
        except RouterError:
            return
        # The store read its clock some time between the question and now.
        ahead_s = asked_s - theirs_s
        behind_s = theirs_s - self._clock.now_unix_s()
        offset_s = max(ahead_s, behind_s)
        is_right = offset_s <= LARGEST_OFFSET_S
        if is_right != self.is_right:
            log = _log.info if is_right else _log.error
            log("clock_differs_from_the_store", is_right=is_right, offset_s=round(offset_s))
        self.is_right = is_right
