"""Packed answers are unpacked as they arrive, however they are cut."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.dispatch.adapters.unpacking import MAX_PIECE_BYTES, Unpacking

MEMBERS = st.lists(st.binary(max_size=40), min_size=1, max_size=5)
STEP_BYTES = st.integers(min_value=1, max_value=60)


def unpacked(encoding: str, packed: bytes, step_bytes: int) -> bytes:
    unpacking = Unpacking(encoding)
    cuts = range(0, len(packed), step_bytes)
    return b"".join(
        piece for at in cuts for piece in unpacking.pieces(packed[at : at + step_bytes])
    )


@given(MEMBERS, STEP_BYTES)
def test_every_member_is_read_wherever_it_is_cut(members: list[bytes], step_bytes: int) -> None:
    packed = b"".join(gzip.compress(member) for member in members)
    assert unpacked("gzip", packed, step_bytes) == b"".join(members)
    assert unpacked("gzip", packed + b"\0" * 50, step_bytes) == b"".join(members)


@given(st.binary(min_size=1, max_size=40), STEP_BYTES)
def test_deflate_has_one_end(told: bytes, step_bytes: int) -> None:
    assert unpacked("deflate", zlib.compress(told) * 2, step_bytes) == told


def test_a_member_that_breaks_is_told() -> None:
    first, second = gzip.compress(b"all"), bytearray(gzip.compress(b"x" * 2 * MAX_PIECE_BYTES))
    second[-1] ^= 1
    with pytest.raises(zlib.error):
        unpacked("gzip", first + bytes(second), len(first))
