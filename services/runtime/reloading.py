"""Follows the files of the configuration, so that most changes of them need no restart.

A new edition is read and checked as a whole beside the requests, everybody says whether it can be
used, and only then all take it over between two steps of the loop. One that cannot be used changes
nothing: one line and a count say so. What a running process cannot change keeps its value, and a
line names the keys that wait for a restart.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

from services.runtime import metrics
from services.runtime.background import ended, in_background
from services.runtime.lasting import changed_keys
from services.runtime.launch import StartError
from services.runtime.log import get_logger
from services.runtime.settings import CommonSettings
from services.runtime.sources import ConfigError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from services.domain.catalog import Catalog
    from services.runtime.config import Document

C_co = TypeVar("C_co", bound=CommonSettings, covariant=True)
C = TypeVar("C", bound=CommonSettings)

EVERY_S = 2.0
"""Time between two looks at the files."""
SETTLED_S = 1.0
"""Age from which a file counts as written to its end."""


@dataclass(frozen=True, slots=True)
class Edition(Generic[C_co]):
    """What can change while a process runs: settings, and the catalog that they lead to."""

    settings: C_co
    catalog: Catalog


TakeOver: TypeAlias = "Callable[[], None]"
Adopt: TypeAlias = "Callable[[Edition[CommonSettings]], TakeOver]"
"""Checks an edition and returns what takes it over; raises ConfigError or StartError instead."""

_Marks: TypeAlias = "tuple[tuple[int, int, int] | None, ...]"

_log = get_logger("config")


@dataclass(frozen=True, slots=True)
class Loaded(Generic[C_co]):
    """An edition as it was read."""

    edition: Edition[C_co]
    document: Document
    """Names the sources of complaints."""
    files: tuple[Path, ...]
    """The files that it was read from."""
    waiting: tuple[str, ...] = ()
    """Keys that were changed and count after a restart only."""


class Watch(Protocol):
    """Follows files for as long as a process serves."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Look for the length of a block."""
        ...


class Current:
    """The catalog in force, one reference that is replaced as a whole."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    @property
    def version(self) -> str:
        """The version of the catalog in force."""
        return self.catalog.version

    def adopt(self, edition: Edition[CommonSettings]) -> TakeOver:
        """Return what puts a catalog in force; any will do."""

        def take_over() -> None:
            self.catalog = edition.catalog

        return take_over


class ConfigWatch(Generic[C]):
    """Looks at the configuration's files from time to time, and at once on SIGHUP.

    ``load`` reads all of them; it runs in a thread.
    """

    def __init__(
        self,
        load: Callable[[], Loaded[C]],
        first: Loaded[C],
        adopters: Iterable[Callable[[Edition[C]], TakeOver]],
        *,
        every_s: float = EVERY_S,
        settled_s: float = SETTLED_S,
    ) -> None:
        self._load = load
        self._now = first
        self._adopters = tuple(adopters)
        self._every_s = every_s
        self._settled_s = settled_s
        self._marks = _marks_of(first.files)
        self._is_asked = asyncio.Event()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Look for the length of a block."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, self._is_asked.set)
        task = in_background(self._run(), "config-watch")
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGHUP)
            await ended(task)

    async def look(self) -> bool:
        """Take over what the files say where they changed; returns whether something was."""
        marks = await asyncio.to_thread(_marks_of, self._now.files)
        if marks == self._marks or _is_being_written(marks, self._settled_s):
            return False
        # Kept before reading: a change while they are read is seen by the next look.
        self._marks = marks
        return await self.reload()

    async def reload(self) -> bool:
        """Read the files and take over what they say; returns whether something was taken over."""
        before = self._now
        try:
            loaded = await asyncio.to_thread(self._load)
            with loaded.document.naming_sources():
                take_overs = self._adopted(before.edition, loaded.edition)
        except (ConfigError, StartError) as error:
            metrics.CONFIG_RELOADS.labels("refused").inc()
            version = before.edition.catalog.version
            _log.error("config_reload_failed", error=str(error), catalog_version=version)
            return False
        if loaded.waiting:
            _log.warning("config_restart_needed", keys=list(loaded.waiting))
        for take_over in take_overs:
            take_over()
        self._now = loaded
        if loaded.files != before.files:
            self._marks = await asyncio.to_thread(_marks_of, loaded.files)
        if take_overs:
            metrics.CONFIG_RELOADS.labels("taken_over").inc()
            _tell(before.edition, loaded.edition)
        return bool(take_overs)

    def _adopted(self, before: Edition[C], after: Edition[C]) -> list[TakeOver]:
        """Return what takes an edition over; nothing where it says nothing new."""
        is_same = before.settings == after.settings
        if is_same and before.catalog.version == after.catalog.version:
            return []
        return [adopt(after) for adopt in self._adopters]

    async def _run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(self._every_s):
                    await self._is_asked.wait()
            except TimeoutError:
                await self.look()
            else:
                self._is_asked.clear()
                self._marks = await asyncio.to_thread(_marks_of, self._now.files)
                await self.reload()


def _tell(before: Edition[CommonSettings], after: Edition[CommonSettings]) -> None:
    """Log what was taken over: keys and versions, no values."""
    keys = changed_keys(before.settings, after.settings)
    if keys:
        _log.info("config_reloaded", keys=keys)
    catalog = after.catalog
    if catalog.version != before.catalog.version:
        models = len(catalog.models)
        _log.info("catalog_reloaded", catalog_version=catalog.version, models=models)


def _marks_of(files: Sequence[Path]) -> _Marks:
    """Return what changes when a file is written or replaced; None for one that is not there."""
    return tuple(map(_mark_of, files))


def _mark_of(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _is_being_written(marks: _Marks, settled_s: float) -> bool:
    """Return whether a file was touched just now: more of it may follow."""
    now_ns = time.time_ns()
    ages_s = ((now_ns - mark[0]) / 1e9 for mark in marks if mark is not None)
    return any(0.0 <= age_s < settled_s for age_s in ages_s)
