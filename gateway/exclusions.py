"""The models that operators do not want to be picked by themselves, as the admin API stored them.

Every gateway asks the store each minute. While that is away the last list counts; before there was
one, none.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from gateway.policy import has_pinned_exclusions
from gateway.settings import AutomaticExclusion
from services.domain.errors import RouterError
from services.runtime.background import ended, in_background
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gateway.eligibility import Policy
    from gateway.settings import RoutingSettings
    from services.domain.catalog import Catalog
    from services.runtime.clock import Clock
    from services.runtime.reloading import Edition
    from services.runtime.settings import CommonSettings

    OnChange = Callable[[Edition[CommonSettings], RoutingSettings], None]

REFRESH_S = 60.0
"""Time between two questions to the store, and so until all gateways know a new list."""

_log = get_logger("gateway")


class ExclusionStore(Protocol):
    """Keeps the list."""

    async def automatic_exclusions(self) -> Sequence[tuple[str, str]]:
        """Return models with the reasons against them, in order.

        Raises:
            RouterError: the store does not answer.
        """
        ...

    async def put_automatic_exclusions(self, rows: Sequence[tuple[str, str]]) -> None:
        """Put another list in the place of the stored one.

        Raises:
            RouterError: the store does not answer; nothing has changed.
        """
        ...


@dataclass(frozen=True, slots=True)
class Resting:
    """What is in force, against which the list is seen."""

    edition: Edition[CommonSettings]
    routing: RoutingSettings
    policy: Policy


class Exclusions:
    """The stored list, and what it is seen against; ``on_change`` is called when it is another."""

    def __init__(self, store: ExclusionStore, clock: Clock, resting: Resting) -> None:
        self._store = store
        self._clock = clock
        self._task: asyncio.Task[None] | None = None
        self._is_known = True
        self._resting = resting
        self.on_change: OnChange = _nothing
        self.stored: tuple[AutomaticExclusion, ...] = ()

    @property
    def is_pinned(self) -> bool:
        """Whether the configuration states the list, so that the stored one does not count."""
        return has_pinned_exclusions(self._resting.routing)

    @property
    def effective(self) -> tuple[AutomaticExclusion, ...]:
        """The list that counts."""
        return self._resting.routing.automatic_exclusions if self.is_pinned else self.stored

    @property
    def catalog(self) -> Catalog:
        """The catalog in force."""
        return self._resting.edition.catalog

    @property
    def config_version(self) -> str:
        """The version of the rules in force, this list included."""
        return self._resting.policy.config_version

    def rest_on(self, resting: Resting) -> None:
        """Be seen against what is in force from now on."""
        self._resting = resting

    def start(self) -> None:
        """Begin to ask the store from time to time."""
        self._task = in_background(self._run(), "automatic-exclusions")

    async def aclose(self) -> None:
        """End that."""
        await ended(self._task)

    async def put(self, wanted: Sequence[AutomaticExclusion]) -> None:
        """Store a list and use it at once.

        Raises:
            RouterError: the store does not answer; nothing has changed.
        """
        await self._store.put_automatic_exclusions([(each.model, each.reason) for each in wanted])
        self._use(tuple(wanted))

    async def refresh(self) -> None:
        """Use what is stored; the last list stays where the store does not answer."""
        try:
            await self.load()
            self._is_known = True
        except RouterError as error:
            if self._is_known:
                _log.warning("automatic_exclusions_unknown", reason=error.reason.value)
            self._is_known = False

    async def load(self) -> None:
        """Use what is stored.

        Raises:
            RouterError: the store does not answer.
        """
        rows = await self._store.automatic_exclusions()
        self._use(tuple(AutomaticExclusion(model=model, reason=reason) for model, reason in rows))

    def _use(self, found: tuple[AutomaticExclusion, ...]) -> None:
        if found == self.stored:
            return
        self.stored = found
        self.on_change(self._resting.edition, self._resting.routing)

    async def _run(self) -> None:
        while True:
            await self._clock.sleep(REFRESH_S)
            await self.refresh()


def _nothing(_: Edition[CommonSettings], __: RoutingSettings) -> None:
    """Leave it at that."""
