"""Work that nobody waits for: a fault that ends it is told at once, not when the process stops."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Coroutine

_log = get_logger("runtime")


def in_background(work: Coroutine[object, object, None], name: str) -> asyncio.Task[None]:
    """Return the task of ``work``, which runs from now on; its caller ends it by :func:`ended`."""
    task = asyncio.get_running_loop().create_task(work, name=name)
    task.add_done_callback(_tell_of_fault)
    return task


async def ended(task: asyncio.Task[None] | None) -> None:
    """Cancel a task and return once it is over; its fault, if it had one, was told before."""
    if task is not None:
        task.cancel()
        await asyncio.wait((task,))


def _tell_of_fault(task: asyncio.Task[None]) -> None:
    fault = None if task.cancelled() else task.exception()
    if fault is not None:
        _log.error("background_ended", task=task.get_name(), exc_info=fault)
