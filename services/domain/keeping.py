"""Keeps what messages were read as, for the next ones that say the same."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

MOST_BYTES = 64 * 1024
"""Messages above it are read anew: with hundreds of them kept, a few callers fill the memory."""

R = TypeVar("R")
More = TypeVarTuple("More")


def kept(most: int) -> Callable[[Callable[[bytes, *More], R]], Callable[[bytes, *More], R]]:
    """Return what lets a reader of serialised messages keep its last ``most`` values."""

    def keeping(read: Callable[[bytes, *More], R]) -> Callable[[bytes, *More], R]:
        look_up = functools.lru_cache(maxsize=most)(read)

        def look(sealed: bytes, *more: *More) -> R:
            return look_up(sealed, *more) if len(sealed) <= MOST_BYTES else read(sealed, *more)

        return look

    return keeping
