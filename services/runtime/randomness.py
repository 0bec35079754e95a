"""Bytes that nobody can guess, for the ids of actions, answers and grants.

They are the operating system's, taken many at a time: asked for one by one, they cost an action as
much as its journal does. None is given twice, to no thread and to no forked child.
"""

from __future__ import annotations

import os
from collections import deque

MOST_BYTES = 12
"""What one caller can have; more than enough to be unique for ever."""
PIECES = 256

_pieces: deque[bytes] = deque()
os.register_at_fork(after_in_child=_pieces.clear)


def random_bytes(size: int = MOST_BYTES) -> bytes:
    """Return ``size`` bytes, at most :data:`MOST_BYTES`."""
    while True:
        try:
            return _pieces.popleft()[:size]
        except IndexError:
            block = os.urandom(MOST_BYTES * PIECES)
            _pieces.extend(block[at : at + MOST_BYTES] for at in range(0, len(block), MOST_BYTES))
