"""What small messages were read as is kept; large ones are read each time."""

from __future__ import annotations

import pytest

from services.domain.keeping import MOST_BYTES, kept


@pytest.mark.parametrize(("size", "reads"), [(MOST_BYTES, 1), (MOST_BYTES + 1, 2)])
def test_only_small_messages_are_kept(size: int, reads: int) -> None:
    seen: list[tuple[int, str]] = []

    @kept(4)
    def read(sealed: bytes, field: str) -> int:
        seen.append((len(sealed), field))
        return len(sealed)

    assert [read(bytes(size), "f") for _ in range(2)] == [size, size]
    assert len(seen) == reads
    read(bytes(size), "g")
    assert len(seen) == reads + 1


def test_the_oldest_make_room() -> None:
    seen: list[bytes] = []

    @kept(2)
    def read(sealed: bytes) -> bytes:
        seen.append(sealed)
        return sealed

    for sealed in (b"a", b"b", b"c", b"a"):
        read(sealed)
    assert seen == [b"a", b"b", b"c", b"a"]
