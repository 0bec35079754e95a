"""What plain clients of every dialect need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.reading import text, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Json = dict[str, object]


def frames_of(sent: bytes) -> list[tuple[str, str]]:
    """Return event name and data of each frame; the last frame must be complete."""
    assert sent.endswith(b"\n\n")
    frames: list[tuple[str, str]] = []
    for raw in sent.decode().split("\n\n")[:-1]:
        name, _, data = raw.rpartition("\n")
        frames.append((name.removeprefix("event: "), data.removeprefix("data: ")))
    return frames


def count(counts: Mapping[str, object], key: str) -> int:
    """Return a count that must be there."""
    found = whole(counts.get(key))
    assert found is not None, key
    return found


def joined(parts: Iterable[object]) -> str:
    """Return texts as one; what is no text counts as none."""
    return "".join(text(part) for part in parts)
