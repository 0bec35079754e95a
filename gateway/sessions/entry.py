"""One session in memory: what is stored, what is not yet, and both together."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.domain.copying import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.sessions.model import Session

    Transition = Callable[[Session], Session]

MAX_PENDING = 256
"""Transitions kept for a store that is down; the oldest are let go."""


@dataclass(slots=True)
class Entry:
    """A session and the changes that the store does not have yet; mutable, owned by its memory."""

    stored: Session
    session: Session
    pending: deque[tuple[int, Transition]] = field(
        default_factory=lambda: deque(maxlen=MAX_PENDING)
    )
    change_count: int = 0
    is_waiting: bool = False
    """Whether it is on its way to the store."""
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    def apply(self, transition: Transition) -> None:
        """Take a change."""
        self.session = transition(self.session)
        self.change_count += 1
        self.pending.append((self.change_count, transition))

    def rebase(self, stored: Session) -> None:
        """Take another stored version and apply to it what is pending."""
        self.stored = stored
        self.session = stored
        for _, transition in self.pending:
            self.session = transition(self.session)

    def mark_stored(self, stored: Session, change_count: int) -> None:
        """Take the version that holds the first ``change_count`` changes and nothing else."""
        while self.pending and self.pending[0][0] <= change_count:
            self.pending.popleft()
        # One that was read before its writer heard of it got the changes that it holds once more.
        is_read_already = self.stored.version >= stored.version
        if is_read_already or not self.pending:
            self.rebase(stored)
        else:
            self.stored = stored

    def unstored(self) -> Session:
        """Return what is to be stored, over the version that is."""
        version = self.stored.version
        if self.session.version == version:
            return self.session
        return replace(self.session, version=version)

    async def stored_within(self, seconds: float) -> None:
        """Return when everything is stored or the time is over."""
        if self.is_waiting:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self.idle.wait()
