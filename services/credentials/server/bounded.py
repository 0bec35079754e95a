"""A dictionary that forgets what was not used for longest, and what is too old."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounded(Generic[K, V]):
    """Holds at most ``limit`` entries, each for ``ttl_s`` since it was last put."""

    def __init__(self, limit: int, ttl_s: float = float("inf")) -> None:
        self._limit = limit
        self._ttl_s = ttl_s
        self._entries: OrderedDict[K, tuple[float, V]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K, now_s: float = 0.0) -> V | None:
        """Return what was put under a key; None: nothing, or it is too old."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        put_s, value = entry
        if now_s - put_s >= self._ttl_s:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return value

    def put(self, key: K, value: V, now_s: float = 0.0) -> None:
        """Put a value under a key; the entry that was not used for longest may go."""
        self._entries[key] = (now_s, value)
        self._entries.move_to_end(key)
        if len(self._entries) > self._limit:
            self._entries.popitem(last=False)

    def replace(self, key: K, value: V) -> None:
        """Change the value of a key that is there; its age stays."""
        entry = self._entries.get(key)
        if entry is not None:
            self._entries[key] = (entry[0], value)

    def drop(self, key: K) -> None:
        """Forget a key."""
        self._entries.pop(key, None)

    def live(self, now_s: float) -> list[tuple[K, V]]:
        """Return the entries that are not too old, oldest use first."""
        return [
            (key, value)
            for key, (put_s, value) in self._entries.items()
            if now_s - put_s < self._ttl_s
        ]
