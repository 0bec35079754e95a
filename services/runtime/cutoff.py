"""Ends what a task waits for, as ``asyncio.timeout`` does, in a fraction of its time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType


class Cutoff:
    """A block of the running task that :meth:`cut` ends from outside, with a TimeoutError.

    Who cancels the task itself meanwhile is heard all the same.
    """

    __slots__ = ("_before", "_is_cut", "_task")

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("only a task can be cut off")
        self._task = task
        self._before = task.cancelling()
        self._is_cut = False
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _: TracebackType | None,
    ) -> None:
        if not self._is_cut:
            return
        is_ours_alone = self._task.uncancel() <= self._before
        if is_ours_alone and kind is not None and issubclass(kind, asyncio.CancelledError):
            raise TimeoutError from error

    def cut(self) -> None:
        """End the block where it waits; safe to call twice."""
        if not self._is_cut:
            self._is_cut = self._task.cancel()


class Within(Cutoff):
    """A block of the running task that ends after so many seconds, with a TimeoutError."""

    __slots__ = ("_seconds", "_timer")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> Self:
        super().__enter__()
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self.cut)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        super().__exit__(kind, error, trace)
