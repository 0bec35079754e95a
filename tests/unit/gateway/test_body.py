"""Bodies on their way out of their encoding."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import AsyncIterator

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from gateway.body import MOST_MEMBERS, decoded_body, read_body
from services.domain.wire.model import WireError

LIMIT = 1_000_000


@pytest.mark.spec("XLT-25")
@given(st.lists(st.binary(max_size=40), min_size=1, max_size=5), st.integers(1, 60))
async def test_every_member_of_a_gzip_body_is_read_wherever_it_is_cut(
    members: list[bytes], step_bytes: int
) -> None:
    packed = b"".join(gzip.compress(member) for member in members)

    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(packed), step_bytes):
            yield packed[at : at + step_bytes]

    read = await read_body(chunks(), "gzip", None, LIMIT)
    assert read == b"".join(members).removeprefix(b"\xef\xbb\xbf")


@pytest.mark.spec("XLT-25")
def test_a_gzip_body_has_a_bounded_number_of_members() -> None:
    member = gzip.compress(b"x")
    assert len(decoded_body(member * MOST_MEMBERS, "gzip", LIMIT)) == MOST_MEMBERS
    with pytest.raises(WireError, match="at most 4096 members"):
        decoded_body(member * (MOST_MEMBERS + 1), "gzip", LIMIT)


@pytest.mark.spec("XLT-25")
@pytest.mark.parametrize("rest", [b"\0", b"more", b"\0" * 100_000])
@pytest.mark.parametrize(
    ("encoding", "packed"),
    [("deflate", zlib.compress(b"x")), ("zstd", zstandard.ZstdCompressor().compress(b"x"))],
)
def test_what_follows_the_end_of_another_encoding_is_refused(
    encoding: str, packed: bytes, rest: bytes
) -> None:
    assert decoded_body(packed, encoding, LIMIT) == b"x"
    with pytest.raises(WireError):
        decoded_body(packed + rest, encoding, LIMIT)


@pytest.mark.spec("XLT-25")
async def test_what_follows_the_end_of_a_body_is_not_collected() -> None:
    pieces = iter((zlib.compress(b"x"), b"more", b"even more"))

    async def chunks() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    with pytest.raises(WireError, match="something follows it"):
        await read_body(chunks(), "deflate", None, LIMIT)
    assert list(pieces) == [b"even more"]
