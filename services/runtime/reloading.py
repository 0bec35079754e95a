"""Follows the files of the catalog, so that a change of them needs no restart.

A new catalog is read and checked as a whole beside the requests, everybody says whether it can be
used, and only then all take it over between two steps of the loop. One that cannot be used changes
nothing: one line and a count say so.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import TYPE_CHECKING, TypeAlias

from services.runtime import metrics
from services.runtime.launch import StartError
from services.runtime.log import get_logger
from services.runtime.sources import ConfigError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence
    from pathlib import Path

    from services.domain.catalog import Catalog

EVERY_S = 2.0
"""Time between two looks at the files."""

TakeOver: TypeAlias = "Callable[[], None]"
Adopt: TypeAlias = "Callable[[Catalog], TakeOver]"
"""Checks a catalog and returns what takes it over; raises ConfigError or StartError instead."""

_Marks: TypeAlias = "tuple[tuple[int, int, int] | None, ...]"

_log = get_logger("catalog")


class Current:
    """The catalog in force, one reference that is replaced as a whole."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    @property
    def version(self) -> str:
        """The version of the catalog in force."""
        return self.catalog.version

    def adopt(self, catalog: Catalog) -> TakeOver:
        """Return what puts ``catalog`` in force; any will do."""

        def take_over() -> None:
            self.catalog = catalog

        return take_over


class CatalogWatch:
    """Looks at the catalog's files from time to time, and at once on SIGHUP.

    ``load`` reads all of them; it runs in a thread.
    """

    def __init__(
        self,
        load: Callable[[], Catalog],
        files: Sequence[Path],
        catalog: Catalog,
        adopters: Iterable[Adopt],
        *,
        every_s: float = EVERY_S,
    ) -> None:
        self._load = load
        self._files = tuple(files)
        self._version = catalog.version
        self._adopters = tuple(adopters)
        self._every_s = every_s
        self._marks = _marks_of(self._files)
        self._is_asked = asyncio.Event()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Look for the length of a block."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, self._is_asked.set)
        task = loop.create_task(self._run())
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGHUP)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def look(self) -> bool:
        """Take over what the files say where they changed; returns whether something was."""
        marks = await asyncio.to_thread(_marks_of, self._files)
        if marks == self._marks:
            return False
        # Kept before reading: a change while they are read is seen by the next look.
        self._marks = marks
        return await self.reload()

    async def reload(self) -> bool:
        """Read the files and take over what they say; returns whether something was taken over."""
        try:
            catalog = await asyncio.to_thread(self._load)
            if catalog.version == self._version:
                return False
            take_overs = [adopt(catalog) for adopt in self._adopters]
        except (ConfigError, StartError) as error:
            metrics.CATALOG_RELOADS.labels("refused").inc()
            _log.error("config_reload_failed", error=str(error), catalog_version=self._version)
            return False
        for take_over in take_overs:
            take_over()
        self._version = catalog.version
        metrics.CATALOG_RELOADS.labels("taken_over").inc()
        _log.info("catalog_reloaded", catalog_version=catalog.version, models=len(catalog.models))
        return True

    async def _run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(self._every_s):
                    await self._is_asked.wait()
            except TimeoutError:
                await self.look()
            else:
                self._is_asked.clear()
                await self.reload()


def _marks_of(files: Sequence[Path]) -> _Marks:
    """Return what changes when a file is written or replaced; None for one that is not there."""
    return tuple(map(_mark_of, files))


def _mark_of(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
