"""The ledger's journal: lines in files of this machine, there before an upstream is asked.

A line is one ``write`` to an append-only file. That costs microseconds, so it is done in the loop,
and it outlives the death of the process, kill -9 included. The file is synced to its disk about
once a second in a thread: a machine that loses power may lose the last second.

Each process has a folder of its own below the journal's, held by a file lock that dies with it. A
start claims the folders of processes that are gone and settles what they left. Files are deleted,
oldest first, once all that was opened in them is settled and all rows settled in them are stored.
Rows that no table can hold go to a file beside the folders, for people to look at.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import uuid
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from services.runtime.launch import StartError

if TYPE_CHECKING:
    from collections.abc import Iterator

SEGMENT_BYTES = 1 << 20
LOCK = "lock"
REFUSED = "refused.jsonl"


class JournalError(StartError):
    """The journal's folder cannot be used; the message is one line for the operator."""


@dataclass(slots=True, eq=False)
class Segment:
    """One file, and what keeps it from being deleted."""

    path: Path
    descriptor: int
    size: int = 0
    open_actions: int = 0
    unstored_rows: int = 0

    @property
    def is_done(self) -> bool:
        """Whether nobody needs the file any more."""
        return not self.open_actions and not self.unstored_rows


class Claimed:
    """The folder of a process that is gone; ours until it is removed or let go."""

    def __init__(self, folder: Path, lock: int) -> None:
        self._folder = folder
        self._lock = lock
        self.unstored_rows = 0

    def lines(self) -> Iterator[bytes]:
        """Yield all lines, in the order in which they were written."""
        for path in sorted(self._folder.glob("*.jsonl")):
            with path.open("rb") as file:
                yield from file

    def remove(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self.release()

    def release(self) -> None:
        """Let the folder go as it is, for another start."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


class Journal:
    """The journal of this process."""

    def __init__(self, folder: Path, *, max_bytes: int, segment_bytes: int = SEGMENT_BYTES) -> None:
        self._root = folder
        self._own = folder / uuid.uuid4().hex
        self._max_bytes = max_bytes
        self._segment_bytes = segment_bytes
        self._segments: deque[Segment] = deque()
        self._lock = -1
        self._count = 0
        self._is_dirty = False

    @property
    def is_full(self) -> bool:
        """Whether no further action may be opened."""
        return self.size_bytes >= self._max_bytes

    @property
    def size_bytes(self) -> int:
        """Size of all files."""
        return sum(segment.size for segment in self._segments)

    def start(self) -> tuple[Claimed, ...]:
        """Make the folder of this process and claim those of processes that are gone.

        Raises:
            JournalError: the folder cannot be made or written.
        """
        try:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._root_locked():
                claimed = tuple(self._abandoned())
                self._own.mkdir(mode=0o700)
                self._lock = _locked(self._own / LOCK)
            self._rotate()
        except OSError as error:
            raise JournalError(
                f"the ledger's journal {self._root} cannot be used: {error.strerror}; check its"
                " rights or set [gateway] ledger_journal"
            ) from error
        return claimed

    def open(self, line: bytes) -> Segment:
        """Write the line that opens an action; the segment is kept until it is settled.

        Raises:
            OSError: it cannot be written.
        """
        segment = self.append(line)
        segment.open_actions += 1
        return segment

    def append(self, line: bytes) -> Segment:
        """Write a line, or several, and return where.

        Raises:
            OSError: it cannot be written, or not whole.
        """
        if self._segments[-1].size >= self._segment_bytes:
            self._rotate()
        segment = self._segments[-1]
        written = os.write(segment.descriptor, line)
        segment.size += written
        self._is_dirty = True
        if written != len(line):
            segment.size = self._segment_bytes  # what follows belongs on a line of its own
            raise OSError(f"only {written} of {len(line)} bytes could be written")
        return segment

    def set_aside(self, line: bytes) -> None:
        """Write a line to the file of what no table can hold, and bring it to the disk.

        Raises:
            OSError: it cannot be written, or not whole.
        """
        descriptor = os.open(self._root / REFUSED, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            written = os.write(descriptor, line)
            if written != len(line):
                raise OSError(f"only {written} of {len(line)} bytes could be written")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def sweep(self) -> None:
        """Delete the oldest files that nobody needs."""
        while len(self._segments) > 1 and self._segments[0].is_done:
            self._drop(self._segments.popleft())

    async def sync(self) -> None:
        """Bring what was written to the disk."""
        if not self._is_dirty or not self._segments:
            return
        self._is_dirty = False
        newest = list(self._segments)[-2:]  # the last but one may have been full a moment ago
        copies = [os.dup(segment.descriptor) for segment in newest]
        try:
            for copy in copies:
                await asyncio.to_thread(os.fdatasync, copy)
        finally:
            for copy in copies:
                os.close(copy)

    def close(self) -> None:
        """Let the folder go; it is deleted when nobody needs it."""
        is_done = all(segment.is_done for segment in self._segments)
        for segment in self._segments:
            os.close(segment.descriptor)
        self._segments.clear()
        if self._lock < 0:
            return
        if is_done:
            shutil.rmtree(self._own, ignore_errors=True)
        os.close(self._lock)
        self._lock = -1

    def _rotate(self) -> None:
        self._count += 1
        path = self._own / f"{self._count:08d}.jsonl"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._segments.append(Segment(path, descriptor))

    def _drop(self, segment: Segment) -> None:
        os.close(segment.descriptor)
        segment.path.unlink(missing_ok=True)

    def _abandoned(self) -> Iterator[Claimed]:
        for folder in sorted(self._root.iterdir()):
            if folder.is_dir():
                with contextlib.suppress(BlockingIOError):
                    yield Claimed(folder, _locked(folder / LOCK))

    @contextlib.contextmanager
    def _root_locked(self) -> Iterator[None]:
        """Let one process at a time make or claim folders: a new one is not locked yet."""
        descriptor = os.open(self._root / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _locked(path: Path) -> int:
    """Return the descriptor of a lock file that is held now.

    Raises:
        BlockingIOError: a living process holds it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    return descriptor
